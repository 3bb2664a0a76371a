//! Reads a transcript backwards in pages that a reader can use: never cut in the middle of a block that still streams,
//! and without the hundreds of little pieces that such a block consists of.

use backend::Backend;
use protocol::{ApiError, Event, PodRef, Record, Seq, TurnEvent};

use super::{TAIL_RECORDS, door::decode};

/// Records of one read from the store.
const PAGE_RECORDS: u32 = 1_000;

/// So many reads at most for one page: a block of more pieces is shown from its middle on.
const READS_MAX: usize = 20;

/// Records, oldest first, and whether there are older ones.
pub(super) struct Past {
    pub(super) records: Vec<Record>,
    pub(super) has_more: bool,
}

impl Past {
    /// So far nothing that could be shown by itself, or not much of it.
    fn is_too_little(&self) -> bool {
        let begins_in_a_block = self.records.first().is_none_or(is_chunk);
        let whole = self.records.iter().filter(|record| !is_chunk(record)).count();
        begins_in_a_block || whole < TAIL_RECORDS as usize / 2
    }
}

/// The records before `before`.
pub(super) async fn page_before(backend: &Backend, pod: &PodRef, before: Seq) -> Result<Past, ApiError> {
    let page = backend.transcript(pod, Some(&before.to_string()), TAIL_RECORDS).await?;
    let past = Past { has_more: page.next.is_some(), records: decode(&page.items)? };
    complete(backend, pod, past).await
}

/// Adds older records until the page is one that can be shown.
pub(super) async fn complete(backend: &Backend, pod: &PodRef, mut past: Past) -> Result<Past, ApiError> {
    for _ in 0..READS_MAX {
        let Some(first) = past.records.first().map(|record| record.seq) else { break };
        if !past.has_more || !past.is_too_little() {
            break;
        }
        let older = backend.transcript(pod, Some(&first.to_string()), PAGE_RECORDS).await?;
        past.has_more = older.next.is_some();
        past.records.splice(0..0, decode(&older.items)?);
    }
    past.records = folded(past.records);
    Ok(past)
}

fn is_chunk(record: &Record) -> bool {
    matches!(&record.event, Event::Turn(event) if event.is_chunk())
}

/// Consecutive pieces of one block as one piece. It keeps the first one's seq: an older page ends before it, and what
/// comes later is newer than it.
fn folded(records: Vec<Record>) -> Vec<Record> {
    let mut folded: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        let joins = folded.last_mut().is_some_and(|last| join(&mut last.event, &record.event));
        if !joins {
            folded.push(record);
        }
    }
    folded
}

fn join(before: &mut Event, after: &Event) -> bool {
    let (Event::Turn(before), Event::Turn(after)) = (before, after) else { return false };
    match (before, after) {
        (TurnEvent::TextChunk { block, text }, TurnEvent::TextChunk { block: same, text: more })
        | (TurnEvent::ReasoningChunk { block, text }, TurnEvent::ReasoningChunk { block: same, text: more })
        | (TurnEvent::ToolArgsChunk { block, text, .. }, TurnEvent::ToolArgsChunk { block: same, text: more, .. })
        | (TurnEvent::ToolOutputChunk { block, text }, TurnEvent::ToolOutputChunk { block: same, text: more })
            if block == same =>
        {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use transcript::Transcript;

    use super::*;

    fn record(seq: i64, event: serde_json::Value) -> Record {
        serde_json::from_value(json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "run_id": "r", "event": event }))
            .unwrap()
    }

    fn chunk(seq: i64, kind: &str, block: &str, text: &str) -> Record {
        record(seq, json!({ "kind": kind, "block": block, "text": text }))
    }

    #[test]
    fn folded_pieces_make_the_same_blocks() {
        let records = vec![
            chunk(1, "reasoning_chunk", "a", "let "),
            chunk(2, "reasoning_chunk", "a", "me "),
            chunk(3, "text_chunk", "b", "one "),
            chunk(4, "text_chunk", "b", "two "),
            chunk(5, "text_chunk", "c", "other"),
            chunk(6, "text_chunk", "b", "three"),
            record(7, json!({ "kind": "message_finished", "block": "c", "text": "other", "interrupted": false })),
        ];
        let folded = folded(records.clone());
        assert_eq!(folded.iter().map(|record| record.seq.0).collect::<Vec<_>>(), [1, 3, 5, 6, 7]);
        let kinds = |records: &[Record]| {
            let blocks = Transcript::from_records(records).blocks().to_vec();
            blocks.into_iter().map(|block| (block.id, block.kind)).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&folded), kinds(&records));
    }
}
