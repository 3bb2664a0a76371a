//! Lookups in a transcript: the entry of an element, what a rewind would drop, what was returned.

use leptos::prelude::*;
use protocol::{Segment, Seq, ToolBy};
use transcript::{Block, BlockId, BlockKind, PersonState};

use super::Rows;

/// What a rewind would drop from the model's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Leaving {
    pub(crate) turns: usize,
    pub(crate) blocks: usize,
    /// The newest record of the journal when this was counted.
    pub(crate) head: Seq,
}

impl Rows {
    /// Counts what comes after `to` and is still in the model's context; `None` once the page has been left.
    pub(crate) fn leaving(self, to: Seq) -> Option<Leaving> {
        self.transcript.try_with_value(|transcript| {
            let is_read = |block: &&Block| block.seq > to && is_for_model(block, transcript.rewinds());
            let blocks: Vec<&Block> = transcript.blocks().iter().filter(is_read).collect();
            // Blocks of one run are adjacent.
            let mut turns: Vec<_> = blocks.iter().map(|block| &block.run_id).collect();
            turns.dedup();
            Leaving { turns: turns.len(), blocks: blocks.len(), head: transcript.head() }
        })
    }

    /// Your first message after `to`, as one text.
    pub(crate) fn message_after(self, to: Seq) -> Option<String> {
        let said = |block: &Block| match &block.kind {
            BlockKind::Person { segments, .. } if block.seq > to => Some(Segment::join(segments)),
            _ => None,
        };
        self.transcript.try_with_value(|transcript| transcript.blocks().iter().find_map(said)).flatten()
    }

    /// The block that shows this record. Blocks can overlap: prefers one that the record began or ended, then the
    /// shortest.
    pub(crate) fn block_at(self, seq: Seq) -> Option<BlockId> {
        self.transcript.with_value(|transcript| {
            let has_it = |block: &&Block| block.seq <= seq && seq <= block.last_seq && !block.is_empty();
            let distance = |block: &&Block| {
                let is_inside = block.seq != seq && block.last_seq != seq;
                (is_inside, block.last_seq.0 - block.seq.0)
            };
            transcript.blocks().iter().filter(has_it).min_by_key(distance).map(|block| block.id.clone())
        })
    }

    /// The entry whose element has this id. A `seq-N` inside a block stands for that block.
    pub(crate) fn index_of(self, dom_id: &str) -> Option<usize> {
        self.window.index_of(dom_id).or_else(|| self.index_of_seq(seq_of(dom_id)?))
    }

    fn index_of_seq(self, seq: Seq) -> Option<usize> {
        if seq < self.first.try_get_untracked()? {
            return None;
        }
        let id = self.block_at(seq)?;
        let first = self.flat.try_with_value(|rows| rows.iter().rposition(|row| row.id == id))??;
        self.window.entry_of(first)
    }

    /// Whether the element with this id is on an earlier page.
    pub(crate) fn is_older(self, dom_id: &str) -> bool {
        let first = self.first.try_get_untracked().unwrap_or_default();
        self.has_more.try_get_untracked() == Some(true) && seq_of(dom_id).is_none_or(|seq| seq < first)
    }

    /// The newest open approval.
    pub(crate) fn open_question(self) -> Option<usize> {
        let id = self.questions.try_with_untracked(|questions| questions.last().cloned())??;
        let is_it =
            |block: &Block| matches!(&block.kind, BlockKind::Approval { approval_id, .. } if *approval_id == id);
        let first = self.flat.try_with_value(|rows| rows.iter().rposition(|row| row.block.with_untracked(is_it)))??;
        self.window.entry_of(first)
    }

    /// The newest of your messages that is still in the model's context.
    pub(crate) fn newest_message(self) -> Option<Seq> {
        self.transcript.with_value(|transcript| {
            let is_message = |block: &&Block| {
                matches!(block.kind, BlockKind::Person { .. }) && is_for_model(block, transcript.rewinds())
            };
            transcript.blocks().iter().rev().find(is_message).map(|block| block.seq)
        })
    }

    /// The messages that people wrote to this Pod, oldest first, without the task that its parent gave it.
    pub(crate) fn said(self) -> Vec<Vec<Segment>> {
        let said = |block: &Block| match &block.kind {
            BlockKind::Person { segments, by, .. } if !by.starts_with("pod:") && by != "hook" => Some(segments.clone()),
            _ => None,
        };
        self.transcript
            .try_with_value(|transcript| transcript.blocks().iter().filter_map(said).collect())
            .unwrap_or_default()
    }

    /// The newest message that was returned to its sender.
    pub(crate) fn newest_returned(self) -> Option<Vec<Segment>> {
        self.transcript.with_value(|transcript| {
            transcript.blocks().iter().rev().find_map(|block| match &block.kind {
                BlockKind::Person { segments, state: PersonState::Returned, .. } => Some(segments.clone()),
                _ => None,
            })
        })
    }
}

fn seq_of(dom_id: &str) -> Option<Seq> {
    dom_id.strip_prefix("seq-")?.parse().ok().map(Seq)
}

/// Whether the model reads or wrote this block, and it is still in the context.
fn is_for_model(block: &Block, rewinds: &[(Seq, Seq)]) -> bool {
    let is_kind = match &block.kind {
        BlockKind::Person { .. }
        | BlockKind::Peer { .. }
        | BlockKind::ChildEvent { .. }
        | BlockKind::CommandEnded { by: ToolBy::Model, .. }
        | BlockKind::Assistant { .. }
        | BlockKind::Reasoning { .. } => !block.is_empty(),
        BlockKind::Tool { by, .. } => *by != Some(ToolBy::Operator),
        _ => false,
    };
    is_kind && !block.is_rewound(rewinds)
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{finished, record},
        *,
    };

    #[test]
    fn a_record_is_found_in_the_block_that_shows_it() {
        let owner = Owner::new();
        owner.set();
        let chunk =
            |seq, block: &str| record(seq, serde_json::json!({ "kind": "text_chunk", "block": block, "text": "t" }));
        let alert = serde_json::json!({ "kind": "alert", "level": "note", "source": "s", "text": "t" });
        let records = [
            chunk(1, "a"),
            chunk(2, "b"),
            chunk(3, "a"),
            record(4, alert),
            finished(5, "b", "two"),
            finished(6, "a", "one"),
        ];
        let rows = Rows::new(&records, false);
        let found = |seq| rows.block_at(Seq(seq)).map(|id| id.to_string());
        assert_eq!((found(4), found(5), found(6)), (Some("seq-4".into()), Some("b".into()), Some("a".into())));
        assert_eq!((found(3), found(7)), (Some("b".into()), None));
    }

    #[test]
    fn a_rewind_is_counted_by_what_the_model_reads() {
        let owner = Owner::new();
        owner.set();
        let person = |seq| {
            let said =
                serde_json::json!({ "kind": "user_message", "segments": [], "command_id": "c", "by": "operator" });
            record(seq, said)
        };
        let alert = serde_json::json!({ "kind": "alert", "level": "note", "source": "s", "text": "t" });
        let rows = Rows::new(&[person(1), finished(2, "a", "one"), record(3, alert), finished(4, "b", "two")], false);
        assert_eq!(rows.leaving(Seq(1)), Some(Leaving { turns: 1, blocks: 2, head: Seq(4) }));
        assert_eq!(rows.newest_message(), Some(Seq(1)));
        assert_eq!((rows.message_after(Seq(0)), rows.message_after(Seq(1))), (Some(String::new()), None));
        rows.apply(&[record(5, serde_json::json!({ "kind": "rewound", "to_seq": 2 })), finished(6, "c", "three")]);
        assert_eq!(rows.leaving(Seq(1)), Some(Leaving { turns: 1, blocks: 2, head: Seq(6) }));
        assert_eq!(rows.rewinds.get_untracked(), [(Seq(2), Seq(5))]);
    }
}
