//! Reads a transcript backwards in useful pages: never cut in the middle of a streaming block, and without the
//! hundreds of chunks that such a block consists of.

use std::borrow::Cow;

use backend::{Backend, RecordForm};
use protocol::{ApiError, CUT_BYTES_MAX, Event, PodRef, Record, Seq, cut_record};

use super::{TAIL_RECORDS, door::decode};

/// Records per read from the store.
const PAGE_RECORDS: u32 = 1_000;

/// The maximum number of reads for one page; a block with more chunks than that is shown from its middle on.
const READS_MAX: usize = 20;

/// The approximate size of a page's records, in bytes. Rendered as HTML and embedded again for the script, they take
/// about three times as much.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// Records, oldest first, and whether there are older ones.
pub(super) struct Past {
    pub(super) records: Vec<Record>,
    pub(super) has_more: bool,
}

/// A page being gathered: each record with the bytes that it adds to the page.
pub(super) struct Gathering {
    records: Vec<(Record, usize)>,
    has_more: bool,
}

impl Gathering {
    /// Decodes records, truncating what is too large for a page that contains it twice.
    pub(super) fn of(items: &[impl AsRef<[u8]>], has_more: bool) -> Result<Self, ApiError> {
        let cut = |item| cut_record(item, CUT_BYTES_MAX).map_or(Cow::Borrowed(item), Cow::Owned);
        let items: Vec<Cow<'_, [u8]>> = items.iter().map(|item| cut(item.as_ref())).collect();
        let records = decode(&items)?.into_iter().zip(&items).map(|(record, item)| {
            // Chunks of a block will be joined, so count only their text.
            let bytes = piece_len(&record).unwrap_or(item.len());
            (record, bytes)
        });
        Ok(Self { records: records.collect(), has_more })
    }

    /// Whether the page starts inside a block, or has few whole records though there is room for more.
    fn is_too_little(&self) -> bool {
        let begins_in_a_block = self.records.first().is_none_or(|(record, _)| is_chunk(record));
        let whole = self.records.iter().filter(|(record, _)| !is_chunk(record)).count();
        let bytes: usize = self.records.iter().map(|(_, bytes)| bytes).sum();
        bytes < PAGE_BYTES_MAX && (begins_in_a_block || whole < TAIL_RECORDS as usize / 2)
    }

    /// The newest records that fit into a page; at least one.
    fn fitting(mut self) -> Past {
        let mut bytes = 0;
        let too_many = self.records.iter().rposition(|(_, own)| {
            let is_first = bytes == 0;
            bytes += own;
            !is_first && bytes > PAGE_BYTES_MAX
        });
        if let Some(last) = too_many {
            self.records.drain(..=last);
            self.has_more = true;
        }
        let records = self.records.into_iter().map(|(record, _)| record).collect();
        Past { records: folded(records), has_more: self.has_more }
    }
}

/// The page of records before `before`.
pub(super) async fn page_before(backend: &Backend, pod: &PodRef, before: Seq) -> Result<Past, ApiError> {
    let page = backend.journals().page(pod, Some(&before.to_string()), TAIL_RECORDS, RecordForm::Shown).await?;
    complete(backend, pod, Gathering::of(&page.items, page.next.is_some())?).await
}

/// The single record before `before`, not truncated.
pub(super) async fn whole_before(backend: &Backend, pod: &PodRef, before: Seq) -> Result<Past, ApiError> {
    let page = backend.journals().page(pod, Some(&before.to_string()), 1, RecordForm::Whole).await?;
    Ok(Past { has_more: page.next.is_some(), records: decode(&page.items)? })
}

/// Adds older records until the page can be shown, and leaves out what does not fit.
pub(super) async fn complete(backend: &Backend, pod: &PodRef, mut past: Gathering) -> Result<Past, ApiError> {
    for _ in 0..READS_MAX {
        let Some(first) = past.records.first().map(|(record, _)| record.seq) else { break };
        if !past.has_more || !past.is_too_little() {
            break;
        }
        let older = backend.journals().page(pod, Some(&first.to_string()), PAGE_RECORDS, RecordForm::Shown).await?;
        let older = Gathering::of(&older.items, older.next.is_some())?;
        past.has_more = older.has_more;
        past.records.splice(0..0, older.records);
    }
    Ok(past.fitting())
}

fn piece_len(record: &Record) -> Option<usize> {
    match &record.event {
        Event::Turn(event) => event.chunk_len(),
        _ => None,
    }
}

fn is_chunk(record: &Record) -> bool {
    piece_len(record).is_some()
}

/// Joins consecutive chunks of one block. The result keeps the first chunk's seq: an older page ends before it, and
/// later records are newer.
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
    match (before, after) {
        (Event::Turn(before), Event::Turn(after)) => before.join_chunk(after),
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

    #[test]
    fn a_page_carries_what_it_has_room_for_and_cuts_what_is_large() {
        let answer = |seq: i64, bytes: usize| {
            record(
                seq,
                json!({ "kind": "message_finished", "block": format!("b{seq}"), "text": "x".repeat(bytes), "interrupted": false }),
            )
        };
        let gathered = |records: &[Record]| {
            let items: Vec<_> = records.iter().map(|record| serde_json::to_vec(record).unwrap()).collect();
            let past = Gathering::of(&items, false).unwrap().fitting();
            (past.records.iter().map(|record| record.seq.0).collect::<Vec<_>>(), past.has_more)
        };
        let quarter = PAGE_BYTES_MAX / 4;
        assert_eq!(gathered(&[answer(1, 9), answer(2, 9)]), (vec![1, 2], false));
        let four: Vec<_> = (1..=4).map(|seq| answer(seq, quarter)).collect();
        assert_eq!(gathered(&four), (vec![2, 3, 4], true));
        assert_eq!(gathered(&[answer(1, quarter), answer(2, PAGE_BYTES_MAX * 2)]), (vec![1, 2], false), "it is cut");
        // Small chunks count only by their text.
        let pieces: Vec<_> = (1..=5_000).map(|seq| chunk(seq, "text_chunk", "b", "word ")).collect();
        assert_eq!(gathered(&pieces), (vec![1], false));
    }
}
