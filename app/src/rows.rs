//! The blocks as signals: a record redraws the block that it changed, and no other.

mod drawn;
mod entries;
mod reach;
mod sent;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod window;

use std::collections::{HashMap, HashSet};

use leptos::prelude::*;
use protocol::{Event, Record, Seq};
use transcript::{Block, BlockId, BlockKind, Change, PodStatus, Transcript, group::changes_groups};

#[cfg(feature = "hydrate")]
pub(crate) use self::window::View;
use self::{drawn::Window, entries::regroup};
pub(crate) use self::{
    entries::{Entry, Reads, Row, Shape, dom_id, reads_dom_id},
    reach::Leaving,
    sent::sent_message,
};

/// A Pod's transcript as signals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rows {
    transcript: StoredValue<Transcript>,
    /// All blocks, in the transcript's order.
    flat: StoredValue<Vec<Row>>,
    /// The list's entries, in the same order.
    pub(crate) window: Window,
    /// The newest seq applied, and the newest status record.
    pub(crate) status: RwSignal<(Seq, Option<PodStatus>)>,
    /// Whether there are older records on the server.
    pub(crate) has_more: RwSignal<bool>,
    /// Whether the first records are the rest of a block that began before them.
    pub(crate) is_cut: StoredValue<bool>,
    /// The oldest record here; the page before it is requested with this.
    pub(crate) first: RwSignal<Seq>,
    /// Ids of the open approvals, oldest first.
    pub(crate) questions: RwSignal<Vec<String>>,
    /// Messages whose receipts are shown on the card of the call that sent them.
    pub(crate) carried: RwSignal<HashSet<String>>,
    /// Each rewind: the last seq that it kept, and its own seq.
    pub(crate) rewinds: RwSignal<Vec<(Seq, Seq)>>,
}

impl Rows {
    pub(crate) fn new(records: &[Record], has_more: bool) -> Self {
        let transcript = Transcript::from_records(records);
        let flat: Vec<Row> = transcript.blocks().iter().map(Row::new).collect();
        let mut entries = Vec::new();
        regroup(&mut entries, &flat, transcript.blocks(), 0);
        Self {
            flat: StoredValue::new(flat),
            window: Window::new(entries),
            status: RwSignal::new((transcript.head(), transcript.state().cloned())),
            first: RwSignal::new(transcript.first_seq()),
            questions: RwSignal::new(open_questions(&transcript)),
            carried: RwSignal::new(carried(transcript.blocks()).map(str::to_owned).collect()),
            rewinds: RwSignal::new(transcript.rewinds().to_vec()),
            transcript: StoredValue::new(transcript),
            has_more: RwSignal::new(has_more),
            is_cut: StoredValue::new(begins_in_a_block(records)),
        }
    }

    /// Applies records. Returns how many blocks are new.
    pub(crate) fn apply(self, records: &[Record]) -> usize {
        let before = self.len();
        self.transcript.update_value(|transcript| {
            let change = records.iter().fold(Change::None, |change, record| change.and(transcript.apply(record)));
            self.draw(transcript, change);
        });
        self.len().saturating_sub(before)
    }

    /// How many blocks the page holds.
    pub(crate) fn len(self) -> usize {
        self.flat.try_with_value(Vec::len).unwrap_or_default()
    }

    /// Prepends an older page.
    pub(crate) fn prepend(self, older: &[Record], has_more: bool) {
        self.transcript.update_value(|transcript| {
            let change = transcript.prepend(older);
            self.draw(transcript, change);
        });
        self.has_more.set(has_more);
        self.is_cut.set_value(begins_in_a_block(older));
    }

    /// Replaces a truncated record by the whole one.
    pub(crate) fn complete(self, record: &Record) {
        self.transcript.try_update_value(|transcript| {
            let change = transcript.complete(record);
            self.draw(transcript, change);
        });
    }

    /// Starts over from a snapshot. Blocks that are the same keep their elements.
    pub(crate) fn reset(self, records: &[Record], has_more: bool) {
        self.transcript.update_value(|transcript| {
            *transcript = Transcript::from_records(records);
            self.draw(transcript, Change::Several { from: 0 });
        });
        self.has_more.set(has_more);
        self.is_cut.set_value(begins_in_a_block(records));
    }

    /// The card with this message's receipts.
    pub(crate) fn message(self, message_id: &str) -> Option<ArcRwSignal<Block>> {
        let is_it = |row: &&Row| {
            row.block.with_untracked(
                |block| matches!(&block.kind, BlockKind::Message { message_id: id, .. } if id == message_id),
            )
        };
        self.window.entries.track();
        self.flat.with_value(|rows| rows.iter().rev().find(is_it).map(|row| row.block.clone()))
    }

    /// What `read` returns for the newest blocks, at most `most` of them, oldest first. Reactive: recomputed when
    /// blocks are added or removed.
    pub(crate) fn newest<T>(self, most: usize, read: impl Fn(&Block) -> Option<T>) -> Vec<T> {
        self.window.entries.track();
        let mut found: Vec<T> = self.flat.with_value(|rows| {
            rows.iter().rev().filter_map(|row| row.block.with_untracked(&read)).take(most).collect()
        });
        found.reverse();
        found
    }

    /// Records which messages these blocks have sent.
    fn carry(self, changed: &[Block]) {
        let known = |id: &&str| self.carried.with_untracked(|carried| carried.contains(*id));
        let fresh: Vec<String> = carried(changed).filter(|id| !known(id)).map(str::to_owned).collect();
        if !fresh.is_empty() {
            self.carried.update(|carried| carried.extend(fresh));
        }
    }

    fn draw(self, transcript: &Transcript, change: Change) {
        let blocks = transcript.blocks();
        if let Some(from) = self.follow(blocks, change) {
            let Window { entries, .. } = self.window;
            let (before, ends) = (entries.with_untracked(Vec::len), self.window.drawn_ends());
            let regrouped =
                self.flat.with_value(|rows| entries.try_update(|entries| regroup(entries, rows, blocks, from)));
            self.window.follow(regrouped.unwrap_or_default(), before, ends);
        }
        self.carry(&blocks[change.first().min(blocks.len())..]);
        self.status.set((transcript.head(), transcript.state().cloned()));
        if self.first.get_untracked() != transcript.first_seq() {
            self.first.set(transcript.first_seq());
        }
        set_if_other(self.questions, open_questions(transcript));
        set_if_other(self.rewinds, transcript.rewinds().to_vec());
    }

    /// Updates the rows. Returns the index of the first block from which the list may have changed.
    fn follow(self, blocks: &[Block], change: Change) -> Option<usize> {
        let index = match change {
            Change::None => return None,
            Change::Added { index } | Change::Changed { index } | Change::Several { from: index } => index,
        };
        let is_same = self.flat.try_update_value(|rows| match change {
            Change::Changed { .. } => {
                let is_same = !rows[index].block.with_untracked(|shown| changes_groups(shown, &blocks[index]));
                rows[index].update(&blocks[index]);
                is_same
            }
            Change::Added { .. } => {
                rows.insert(index, Row::new(&blocks[index]));
                false
            }
            _ => {
                redraw(rows, blocks, index);
                false
            }
        });
        if is_same == Some(true) {
            self.window.estimate_again(index);
            return None;
        }
        Some(index)
    }
}

fn carried(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| sent_message(&block.kind))
}

fn open_questions(transcript: &Transcript) -> Vec<String> {
    let id = |block: &Block| match &block.kind {
        BlockKind::Approval { approval_id, .. } => Some(approval_id.clone()),
        _ => None,
    };
    transcript.open_questions().filter_map(id).collect()
}

fn set_if_other<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|known| *known != value) {
        signal.set(value);
    }
}

fn begins_in_a_block(records: &[Record]) -> bool {
    records.first().is_some_and(|record| matches!(&record.event, Event::Turn(event) if event.is_chunk()))
}

/// Rebuilds the blocks from `from` on; those that existed before keep their signal.
fn redraw(rows: &mut Vec<Row>, blocks: &[Block], from: usize) {
    let mut known: HashMap<BlockId, Row> = rows.drain(from..).map(|row| (row.id.clone(), row)).collect();
    rows.extend(blocks[from..].iter().map(|block| match known.remove(&block.id) {
        Some(row) => {
            row.update(block);
            row
        }
        None => Row::new(block),
    }));
}
