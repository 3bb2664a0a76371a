//! Truncated records: marking the blocks that contain them, and completing them.

use protocol::{Cut, Record, Seq};

use crate::{Block, BlockKind, Change, CutRecord, Transcript};

impl Transcript {
    /// Marks the record that was just applied as truncated.
    pub(crate) fn mark_cut(&mut self, seq: Seq, Cut { bytes }: Cut) {
        let newest = self.blocks().iter().rposition(|block| block.last_seq == seq);
        let key = newest.map(|index| self.rows.key_at(index));
        if let Some(block) = key.and_then(|key| self.rows.edit(key)) {
            block.cut.push(CutRecord { seq, bytes });
        }
    }

    /// Replaces a truncated record by the whole one. Any other record changes nothing.
    pub fn complete(&mut self, record: &Record) -> Change {
        let is_it = |block: &Block| block.cut.iter().any(|cut| cut.seq == record.seq);
        let Some(index) = self.blocks().iter().position(is_it) else { return Change::None };
        let whole = Self::from_records([record]);
        let key = self.rows.key_at(index);
        if let (Some(block), Some(whole)) = (self.rows.edit(key), whole.blocks().first()) {
            block.cut.retain(|cut| cut.seq != record.seq);
            complete_kind(&mut block.kind, whole.kind.clone());
        }
        self.rows.take_change()
    }
}

/// Puts in the whole record's texts; what other records added to the block stays.
fn complete_kind(kind: &mut BlockKind, whole: BlockKind) {
    use BlockKind as B;
    match (kind, whole) {
        (B::Person { segments, .. }, B::Person { segments: all, .. }) => *segments = all,
        (B::Assistant { text, .. }, B::Assistant { text: all, .. })
        | (B::Reasoning { text, .. }, B::Reasoning { text: all, .. })
        | (B::Peer { text, .. }, B::Peer { text: all, .. }) => *text = all,
        (B::Tool { arguments, result, .. }, B::Tool { arguments: given, result: gave, .. }) => {
            *arguments = given.or(arguments.take());
            *result = gave.or(result.take());
        }
        (B::RunEnd { detail, .. }, B::RunEnd { detail: all, .. }) => *detail = all,
        (B::Approval { arguments, reason, .. }, B::Approval { arguments: all, reason: why, .. }) => {
            *arguments = all;
            *reason = why.or(reason.take());
        }
        (
            kind @ (B::ChildEvent { .. }
            | B::CommandEnded { .. }
            | B::Compacted { .. }
            | B::Alert { .. }
            | B::Relation { .. }
            | B::Unknown { .. }),
            whole,
        ) => *kind = whole,
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn record(seq: i64, event: Value) -> Record {
        let record = json!({ "seq": seq, "at": "2026-11-23T00:00:00Z", "run_id": "run-1", "event": event });
        serde_json::from_value(record).unwrap()
    }

    fn cut(whole: &Record) -> Record {
        let body = serde_json::to_vec(whole).unwrap();
        serde_json::from_slice(&protocol::cut_record(&body, protocol::CUT_BYTES_MAX).expect("it is too large")).unwrap()
    }

    fn long(word: &str) -> String {
        word.repeat(100_000)
    }

    /// A conversation in which everything is too long.
    fn records() -> Vec<Record> {
        let call = json!({ "call_id": "c", "block": "t", "by": "model" });
        let with = |more: Value| {
            let mut event = call.clone();
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        let usage = json!({ "input": 0, "cached": 0, "output": 0 });
        let kinds = [
            json!({ "kind": "run_started", "trigger": "input", "command_id": "k" }),
            json!({ "kind": "user_message", "segments": [{ "type": "paste", "text": long("a ") }], "command_id": "k",
                "by": "operator" }),
            json!({ "kind": "reasoning_finished", "block": "r", "text": long("b "), "interrupted": false }),
            with(json!({ "kind": "tool_called", "name": "Write", "arguments": { "content": long("c ") } })),
            with(json!({ "kind": "tool_finished", "summary": "wrote", "content": long("d "), "diff": long("+e\n"),
                "is_error": false, "duration_ms": 1 })),
            json!({ "kind": "message_finished", "block": "m", "text": long("f "), "interrupted": true }),
            json!({ "kind": "approval_asked", "id": "q", "tool": "Write", "arguments": { "content": long("g ") } }),
            json!({ "kind": "alert", "level": "note", "source": "x", "text": long("h ") }),
            json!({ "kind": "from_the_future", "said": long("i ") }),
            json!({ "kind": "run_finished", "outcome": "error", "detail": long("j "), "usage": usage }),
        ];
        (1..).zip(kinds).map(|(seq, event)| record(seq, event)).collect()
    }

    fn shown(records: &[Record]) -> Vec<Record> {
        let is_large = |record: &Record| serde_json::to_vec(record).unwrap().len() > protocol::CUT_BYTES_MAX;
        records.iter().map(|record| if is_large(record) { cut(record) } else { record.clone() }).collect()
    }

    #[test]
    fn a_block_says_which_of_its_records_are_cut_and_is_whole_when_it_has_them() {
        let whole = records();
        let mut transcript = Transcript::from_records(&shown(&whole));
        let cuts = |transcript: &Transcript| {
            transcript.blocks().iter().flat_map(|block| block.cut.clone()).map(|cut| cut.seq.0).collect::<Vec<_>>()
        };
        assert_eq!(cuts(&transcript), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let tool = transcript.blocks().iter().find(|block| block.id.as_str() == "t").unwrap();
        assert!(tool.cut_bytes().unwrap() > 400_000, "its call and its result");
        for record in &whole[1..] {
            assert_ne!(transcript.complete(record), Change::None, "{}", record.event.kind());
            assert_eq!(transcript.complete(record), Change::None);
        }
        assert_eq!(transcript, Transcript::from_records(&whole));
        assert_eq!(cuts(&transcript), [0; 0]);
    }

    #[test]
    fn parts_that_are_joined_know_what_is_cut_in_both() {
        let whole = records();
        let shown = shown(&whole);
        for at in 1..shown.len() {
            let mut transcript = Transcript::from_records(&shown[at..]);
            transcript.prepend(&shown[..at]);
            for record in &whole {
                transcript.complete(record);
            }
            assert_eq!(transcript, Transcript::from_records(&whole), "cut before {at}");
        }
    }
}
