//! The blocks as signals: a record draws the block that it changed, and no other.

mod reach;

use std::collections::{HashMap, HashSet};

use leptos::prelude::*;
use protocol::{Event, Record, Seq};
use transcript::{Block, BlockId, BlockKind, Change, PodStatus, Transcript};

pub(crate) use self::reach::Leaving;
use super::sent::sent_message;

/// One block on the screen. The signal goes with the row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: BlockId,
    pub(crate) block: ArcRwSignal<Block>,
}

impl Row {
    fn new(block: &Block) -> Self {
        Self { id: block.id.clone(), block: ArcRwSignal::new(block.clone()) }
    }

    fn update(&self, block: &Block) {
        if self.block.with_untracked(|shown| shown != block) {
            self.block.set(block.clone());
        }
    }
}

/// A Pod's transcript and what it shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rows {
    transcript: StoredValue<Transcript>,
    pub(crate) rows: RwSignal<Vec<Row>>,
    /// What the newest status record says, and the seq that we have come to.
    pub(crate) status: RwSignal<(Seq, Option<PodStatus>)>,
    /// There are older records on the server.
    pub(crate) has_more: RwSignal<bool>,
    /// The first records are pieces of a block that began before them.
    pub(crate) is_cut: StoredValue<bool>,
    /// The oldest record here; a page before it is asked for with this.
    pub(crate) first: RwSignal<Seq>,
    /// Ids of the questions that wait for a person, oldest first.
    pub(crate) questions: RwSignal<Vec<String>>,
    /// Messages whose receipts are on the card of the call that sent them.
    pub(crate) carried: RwSignal<HashSet<String>>,
    /// Each rewind: the last seq that it kept, and its own.
    pub(crate) rewinds: RwSignal<Vec<(Seq, Seq)>>,
}

impl Rows {
    pub(crate) fn new(records: &[Record], has_more: bool) -> Self {
        let transcript = Transcript::from_records(records);
        Self {
            rows: RwSignal::new(transcript.blocks().iter().map(Row::new).collect()),
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

    /// Takes what came. Gives how many blocks are new.
    pub(crate) fn apply(self, records: &[Record]) -> usize {
        let before = self.rows.with_untracked(Vec::len);
        self.transcript.update_value(|transcript| {
            let change = records.iter().fold(Change::None, |change, record| change.and(transcript.apply(record)));
            self.draw(transcript, change);
        });
        self.rows.with_untracked(Vec::len).saturating_sub(before)
    }

    /// Puts an older page before what is there.
    pub(crate) fn prepend(self, older: &[Record], has_more: bool) {
        self.transcript.update_value(|transcript| {
            let change = transcript.prepend(older);
            self.draw(transcript, change);
        });
        self.has_more.set(has_more);
        self.is_cut.set_value(begins_in_a_block(older));
    }

    /// Begins anew, from a snapshot. Blocks that are the same stay as they are on the screen.
    pub(crate) fn reset(self, records: &[Record], has_more: bool) {
        self.transcript.update_value(|transcript| {
            *transcript = Transcript::from_records(records);
            self.draw(transcript, Change::Several { from: 0 });
        });
        self.has_more.set(has_more);
        self.is_cut.set_value(begins_in_a_block(records));
    }

    /// The card of this message's receipts.
    pub(crate) fn message(self, message_id: &str) -> Option<ArcRwSignal<Block>> {
        let is_it = |row: &&Row| {
            row.block.with_untracked(
                |block| matches!(&block.kind, BlockKind::Message { message_id: id, .. } if id == message_id),
            )
        };
        self.rows.with(|rows| rows.iter().rev().find(is_it).map(|row| row.block.clone()))
    }

    /// Takes note of the messages that these blocks have sent.
    fn carry(self, changed: &[Block]) {
        let known = |id: &&str| self.carried.with_untracked(|carried| carried.contains(*id));
        let fresh: Vec<String> = carried(changed).filter(|id| !known(id)).map(str::to_owned).collect();
        if !fresh.is_empty() {
            self.carried.update(|carried| carried.extend(fresh));
        }
    }

    fn draw(self, transcript: &Transcript, change: Change) {
        let blocks = transcript.blocks();
        match change {
            Change::None => (),
            Change::Changed { index } => self.rows.with_untracked(|rows| rows[index].update(&blocks[index])),
            Change::Added { index } => self.rows.update(|rows| rows.insert(index, Row::new(&blocks[index]))),
            Change::Several { from } => self.rows.update(|rows| redraw(rows, blocks, from)),
        }
        self.carry(&blocks[change.first().min(blocks.len())..]);
        self.status.set((transcript.head(), transcript.state().cloned()));
        if self.first.get_untracked() != transcript.first_seq() {
            self.first.set(transcript.first_seq());
        }
        set_if_other(self.questions, open_questions(transcript));
        set_if_other(self.rewinds, transcript.rewinds().to_vec());
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

/// Blocks from `from` on may be anything; those that are there already keep their signal.
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn record(seq: i64, event: serde_json::Value) -> Record {
        let json = serde_json::json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "run_id": "r1", "event": event });
        serde_json::from_value(json).unwrap()
    }

    fn chunk(seq: i64, block: &str, text: &str) -> Record {
        record(seq, serde_json::json!({ "kind": "text_chunk", "block": block, "text": text }))
    }

    pub(crate) fn finished(seq: i64, block: &str, text: &str) -> Record {
        record(
            seq,
            serde_json::json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": false }),
        )
    }

    fn shown(rows: Rows) -> Vec<Block> {
        rows.rows.with_untracked(|rows| rows.iter().map(|row| row.block.get_untracked()).collect())
    }

    #[test]
    fn rows_show_the_transcript_whatever_way_the_records_came() {
        let owner = Owner::new();
        owner.set();
        let records = [finished(1, "a", "one"), chunk(2, "b", "tw"), chunk(3, "b", "o"), finished(4, "b", "two")];
        let whole = Transcript::from_records(&records);
        for cut in 0..=records.len() {
            let rows = Rows::new(&records[..cut], false);
            rows.apply(&records[cut..]);
            assert_eq!(shown(rows), whole.blocks(), "cut at {cut}");
            let rows = Rows::new(&records[cut..], true);
            rows.prepend(&records[..cut], false);
            assert_eq!(shown(rows), whole.blocks(), "prepended {cut}");
        }
    }

    #[test]
    fn a_chunk_draws_its_own_block_and_leaves_the_list_alone() {
        let owner = Owner::new();
        owner.set();
        let rows = Rows::new(&[finished(1, "a", "one"), chunk(2, "b", "t")], false);
        let before: Vec<Row> = rows.rows.get_untracked();
        assert_eq!(rows.apply(&[chunk(3, "b", "w"), chunk(4, "b", "o")]), 0);
        let after = rows.rows.get_untracked();
        assert!(before.iter().zip(&after).all(|(before, after)| before.id == after.id));
        assert_eq!(rows.apply(&[chunk(5, "c", "x")]), 1);
    }

    #[test]
    fn the_receipts_of_a_sent_message_are_on_the_card_of_its_call() {
        let owner = Owner::new();
        owner.set();
        let call = serde_json::json!({
            "kind": "tool_called", "block": "t", "call_id": "c", "name": "SendToPeerPod", "by": "model",
            "arguments": { "name": "bob", "message": "hello" },
        });
        let receipt = |state: &str| {
            let peer = serde_json::json!({ "runtime_id": "local", "worker_id": "bob", "name": "bob" });
            serde_json::json!({ "kind": "message_receipt", "message_id": "message-1", "peer": peer, "state": state })
        };
        let done = serde_json::json!({
            "kind": "tool_finished", "block": "t", "call_id": "c", "by": "model", "is_error": false, "duration_ms": 1,
            "summary": "delivered to bob (message-1)",
        });
        let rows = Rows::new(&[record(1, call), record(2, receipt("stored"))], false);
        assert!(rows.carried.with_untracked(HashSet::is_empty));
        rows.apply(&[record(3, done)]);
        assert!(rows.carried.with_untracked(|carried| carried.contains("message-1")));
        rows.apply(&[record(4, receipt("read"))]);
        let state = rows.message("message-1").unwrap().with_untracked(|block| match &block.kind {
            BlockKind::Message { receipt, .. } => receipt.state,
            _ => unreachable!(),
        });
        assert_eq!(state, protocol::ReceiptState::Read);
    }

    #[test]
    fn a_snapshot_takes_the_place_of_everything() {
        let owner = Owner::new();
        owner.set();
        let rows = Rows::new(&[finished(1, "a", "one")], false);
        let fresh = [finished(8, "h", "eight"), finished(9, "i", "nine")];
        rows.reset(&fresh, true);
        assert_eq!(shown(rows), Transcript::from_records(&fresh).blocks());
        assert_eq!((rows.first.get_untracked(), rows.has_more.get_untracked()), (Seq(8), true));
    }
}
