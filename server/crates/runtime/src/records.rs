//! Pages of a journal, bounded by bytes as well as by records.

use bytes::Bytes;
use pod_store::{FoundRecord, PodKey, Portion, Store, StoreError};
use protocol::{CUT_BYTES_MAX, Event, PAGE_BYTES_MAX, ReasoningPolicy, Record, SHOWN_BYTES_MAX, Seq};

use crate::{RecordForm, encode, heavy};

/// A record as a viewer gets it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) seq: Seq,
    pub(crate) body: Bytes,
}

/// The newest records of a journal.
#[derive(Debug)]
pub(crate) struct Newest {
    pub(crate) records: Vec<Bytes>,
    pub(crate) head: Seq,
    pub(crate) has_more: bool,
}

/// How far back the beginning of an open block is searched before it is left to the next page, in records,
const OPEN_BLOCK_RECORDS_MAX: u32 = 200_000;
/// and in bytes.
const OPEN_BLOCK_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of it to read at once.
const OPEN_BLOCK_BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// The most text of one piece of an open block after its own pieces have been joined.
const PIECE_BYTES_MAX: usize = 32 * 1024;

/// A journal as viewers get it.
pub(crate) struct Rows<'a> {
    pub(crate) store: &'a Store,
    pub(crate) key: PodKey,
    pub(crate) policy: ReasoningPolicy,
}

impl Rows<'_> {
    /// The newest records before a position that fit into a page, ascending; at least one if there are any.
    pub(crate) async fn before(
        &self,
        before: Option<Seq>,
        (limit, form): (u32, RecordForm),
    ) -> Result<Vec<Row>, StoreError> {
        let each = if form == RecordForm::Whole { usize::MAX } else { SHOWN_BYTES_MAX };
        let portion = Portion { records: limit, bytes: PAGE_BYTES_MAX, each, larger: CUT_BYTES_MAX };
        self.rows(before, portion).await
    }

    /// Reads the rows. Large records are read one by one, and each is cut before the next is read.
    async fn rows(&self, before: Option<Seq>, portion: Portion) -> Result<Vec<Row>, StoreError> {
        let policy = self.policy;
        let found = self.store.journals().before(self.key, before, portion).await?;
        let mut rows = Vec::with_capacity(found.len());
        for FoundRecord { seq, body } in found {
            if let Some(body) = body {
                // A record in full may be as long as it likes.
                let body = heavy::work(body.len(), move || encode::visible(policy, body)).await;
                rows.push(Row { seq, body });
            } else if let Some(record) = self.store.journals().record(self.key, seq).await? {
                // If it is gone, it was a chunk of a block that has been finished since.
                let body = record.body;
                let cut = move || encode::shown(encode::visible(policy, body));
                rows.push(Row { seq, body: heavy::work(SHOWN_BYTES_MAX, cut).await });
            }
        }
        Ok(rows)
    }

    /// The newest `limit` records, preceded by everything that an unfinished block at their head has already said, so
    /// that a viewer that begins in mid-stream sees all of it. With a `limit` of 0, only that block. At most
    /// [`PAGE_BYTES_MAX`] in total.
    pub(crate) async fn newest(&self, limit: u32) -> Result<Newest, StoreError> {
        let mut rows = self.before(None, (limit.max(1), RecordForm::Shown)).await?;
        let head = rows.last().map_or(Seq(0), |row| row.seq);
        if limit == 0 && rows.last().is_some_and(|row| !is_chunk(row)) {
            return Ok(Newest { records: Vec::new(), head, has_more: true });
        }
        self.add_beginning(limit, &mut rows).await?;
        let bytes = sum(&rows);
        if bytes > PAGE_BYTES_MAX {
            rows = heavy::work(bytes, move || newest_that_fit(joined(rows))).await;
        }
        let has_more = rows.first().is_some_and(|row| row.seq > Seq(1));
        Ok(Newest { records: rows.into_iter().map(|row| row.body).collect(), head, has_more })
    }

    /// Prepends what an unfinished block has said before the first of these records.
    async fn add_beginning(&self, limit: u32, rows: &mut Vec<Row>) -> Result<(), StoreError> {
        let (mut searched, mut bytes) = (limit, 0);
        while rows.first().is_some_and(|row| row.seq > Seq(1) && is_chunk(row))
            && searched < OPEN_BLOCK_RECORDS_MAX
            && bytes < OPEN_BLOCK_BYTES_MAX
        {
            let step = searched.clamp(1_000, 20_000);
            let portion = Portion {
                records: step,
                bytes: OPEN_BLOCK_BYTES_AT_ONCE,
                each: SHOWN_BYTES_MAX,
                larger: CUT_BYTES_MAX,
            };
            let before = rows.first().map(|row| row.seq);
            let mut older = self.rows(before, portion).await?;
            if older.is_empty() {
                break;
            }
            // Keep what follows the last record that is no chunk: the open block begins right after it.
            let start = older.iter().rposition(|row| !is_chunk(row));
            if let Some(start) = start {
                older.drain(..=start);
            }
            searched += step;
            bytes += sum(&older);
            older.append(rows);
            *rows = older;
            if start.is_some() {
                break;
            }
        }
        Ok(())
    }
}

fn sum(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.body.len()).sum()
}

fn is_chunk(row: &Row) -> bool {
    matches!(
        serde_json::from_slice::<Record>(&row.body),
        Ok(Record { event: Event::Turn(event), .. }) if event.is_chunk()
    )
}

/// Joins consecutive chunks of a block into fewer. Each keeps the seq of its first chunk, because an older page ends
/// before it.
fn joined(rows: Vec<Row>) -> Vec<Row> {
    let mut joined = Vec::new();
    let mut piece: Option<Record> = None;
    for row in rows {
        let record = serde_json::from_slice::<Record>(&row.body).ok();
        let record = record.filter(|record| chunk_len(record).is_some());
        if let (Some(before), Some(next)) = (&mut piece, &record)
            && join(before, next)
        {
            continue;
        }
        joined.extend(piece.take().map(encoded));
        match record {
            Some(record) => piece = Some(record),
            None => joined.push(row),
        }
    }
    joined.extend(piece.map(encoded));
    joined
}

fn join(before: &mut Record, next: &Record) -> bool {
    let is_full = chunk_len(before).unwrap_or_default() + chunk_len(next).unwrap_or_default() > PIECE_BYTES_MAX;
    if is_full || before.run_id != next.run_id {
        return false;
    }
    match (&mut before.event, &next.event) {
        (Event::Turn(before), Event::Turn(next)) => before.join_chunk(next),
        _ => false,
    }
}

fn chunk_len(record: &Record) -> Option<usize> {
    match &record.event {
        Event::Turn(event) => event.chunk_len(),
        _ => None,
    }
}

fn encoded(record: Record) -> Row {
    let body = serde_json::to_vec(&record).expect("protocol types always encode");
    Row { seq: record.seq, body: body.into() }
}

/// Keeps the newest rows that fit into a page; at least one.
fn newest_that_fit(mut rows: Vec<Row>) -> Vec<Row> {
    let mut bytes = 0;
    let too_many = rows.iter().rposition(|row| {
        let is_first = bytes == 0;
        bytes += row.body.len();
        !is_first && bytes > PAGE_BYTES_MAX
    });
    if let Some(last) = too_many {
        rows.drain(..=last);
    }
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(seq: i64, event: serde_json::Value) -> Row {
        let record = json!({ "seq": seq, "at": "2026-11-23T00:00:00Z", "run_id": "run-1", "event": event });
        Row { seq: Seq(seq), body: serde_json::to_vec(&record).unwrap().into() }
    }

    fn chunk(seq: i64, block: &str, text: &str) -> Row {
        row(seq, json!({ "kind": "text_chunk", "block": block, "text": text }))
    }

    fn texts(rows: &[Row]) -> Vec<(i64, String)> {
        let text = |row: &Row| {
            let record: serde_json::Value = serde_json::from_slice(&row.body).unwrap();
            record["event"]["text"].as_str().unwrap().to_owned()
        };
        rows.iter().map(|row| (row.seq.0, text(row))).collect()
    }

    #[test]
    fn pieces_of_one_block_become_fewer_and_say_the_same() {
        let other = row(5, json!({ "kind": "alert", "level": "note", "source": "x", "text": "!" }));
        let rows =
            vec![chunk(1, "a", "one "), chunk(2, "a", "two "), chunk(3, "b", "x"), chunk(4, "a", "three"), other];
        let expected = [(1, "one two "), (3, "x"), (4, "three"), (5, "!")].map(|(seq, text)| (seq, text.to_owned()));
        assert_eq!(texts(&joined(rows)), expected);
        let long = "é".repeat(PIECE_BYTES_MAX / 4 + 1);
        let rows = (1..=4).map(|seq| chunk(seq, "a", &long)).collect();
        assert_eq!(joined(rows).len(), 4, "no piece grows beyond its bound");
    }

    #[test]
    fn the_newest_rows_fit_and_one_always_does() {
        let third = "x".repeat(PAGE_BYTES_MAX / 3);
        let rows: Vec<Row> = (1..=5).map(|seq| chunk(seq, "a", &third)).collect();
        let seqs = |rows: Vec<Row>| newest_that_fit(rows).iter().map(|row| row.seq.0).collect::<Vec<_>>();
        assert_eq!(seqs(rows), [4, 5]);
        assert_eq!(seqs(vec![chunk(1, "a", "x"), chunk(2, "a", &"x".repeat(PAGE_BYTES_MAX))]), [2]);
        assert!(seqs(Vec::new()).is_empty());
    }
}
