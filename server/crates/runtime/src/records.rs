//! Pages of a journal.

use bytes::Bytes;
use pod_store::{PodKey, StoreError};
use protocol::{Event, Record, Seq, TurnEvent};

use crate::host::Inner;

/// The newest records of a journal.
#[derive(Debug)]
pub(crate) struct Newest {
    pub(crate) records: Vec<Bytes>,
    pub(crate) head: Seq,
    pub(crate) has_more: bool,
}

/// How far back an open block is looked for, in records, before its head is left to the next page.
const OPEN_BLOCK_RECORDS_MAX: u32 = 200_000;

impl Inner {
    /// The newest `limit` records, and before them what an unfinished block at their head has already said: who
    /// comes in mid-stream sees all of it. With a `limit` of 0 that block is all there is.
    pub(crate) async fn newest_records(&self, key: PodKey, limit: u32) -> Result<Newest, StoreError> {
        let mut rows = self.store.records_before(key, None, limit.max(1)).await?;
        if limit == 0 && rows.last().is_some_and(|row| !is_chunk(&row.body)) {
            let head = rows.last().map_or(Seq(0), |row| row.seq);
            return Ok(Newest { records: Vec::new(), head, has_more: true });
        }
        let mut searched = limit;
        while rows.first().is_some_and(|row| row.seq > Seq(1) && is_chunk(&row.body))
            && searched < OPEN_BLOCK_RECORDS_MAX
        {
            let step = searched.clamp(1_000, 20_000);
            let before = rows.first().map(|row| row.seq);
            let mut older = self.store.records_before(key, before, step).await?;
            if older.is_empty() {
                break;
            }
            // Keep from the last record that is no chunk: the block that goes on begins right after it.
            let start = older.iter().rposition(|row| !is_chunk(&row.body));
            if let Some(start) = start {
                older.drain(..=start);
            }
            searched += step;
            older.append(&mut rows);
            rows = older;
            if start.is_some() {
                break;
            }
        }
        let head = rows.last().map_or(Seq(0), |row| row.seq);
        let has_more = rows.first().is_some_and(|row| row.seq > Seq(1));
        Ok(Newest { records: rows.into_iter().map(|row| row.body).collect(), head, has_more })
    }
}

fn is_chunk(body: &[u8]) -> bool {
    matches!(
        serde_json::from_slice::<Record>(body),
        Ok(Record { event: Event::Turn(event), .. }) if TurnEvent::is_chunk(&event)
    )
}
