//! Journals: all Pods in one table, keyed by Pod and seq.

use jiff::Timestamp;
use protocol::Seq;

use super::Shared;
use crate::{
    FoundRecord, PodKey, Portion, StoreError, StoredRecord,
    checksum::{Damage, RawRecord},
    chore::Chore,
    columns,
    statement::Text,
};

/// A page of a journal that begins at `$2` and has at most `$3` records and `$4` bytes, but at least one record. SQLite
/// reads lengths first, so a body that does not fit is never read, nor are its pages. PostgreSQL limits the page in
/// SQL, because rows that were sent and not read would have to be drained before the next query.
macro_rules! page {
    ($sqlite_index:literal, $condition:literal, $order:literal) => {
        Text {
            sqlite: concat!(
                "select counted.seq, class, cast(journal.sum as integer), journal.body from (
                     select seq, row_number() over page as place, sum(bytes) over page as bytes
                     from (select seq, octet_length(body) as bytes from journal ",
                $sqlite_index,
                " where ",
                $condition,
                " order by ",
                $order,
                " limit $3)
                     window page as (order by ",
                $order,
                ")
                 ) counted join journal on journal.pod = $1 and journal.seq = counted.seq
                 where counted.place = 1 or counted.bytes <= $4 order by counted.",
                $order
            ),
            postgres: concat!(
                "select seq, class::bigint, sum, body from (
                     select seq, class, sum, body, row_number() over page as place,
                            sum(octet_length(body)) over page as bytes
                     from (select seq, class, sum, body from journal where ",
                $condition,
                " order by ",
                $order,
                " limit $3) found
                     window page as (order by ",
                $order,
                ")
                 ) counted where place = 1 or bytes <= $4 order by ",
                $order
            ),
        }
    };
}

const BEFORE: Text = Text {
    sqlite: "select counted.seq, class, cast(journal.sum as integer), case when counted.own <= $5 then journal.body end from (
             select seq, own, row_number() over page as place, sum(case when own <= $5 then own else $6 end) over page as bytes
             from (select seq, octet_length(body) as own from journal where pod = $1 and seq < $2 order by seq desc limit $3)
             window page as (order by seq desc)
         ) counted join journal on journal.pod = $1 and journal.seq = counted.seq
         where counted.place = 1 or counted.bytes <= $4 order by counted.seq",
    postgres: "select seq, class::bigint, sum, case when own <= $5 then body end from (
             select seq, class, sum, body, own, row_number() over page as place,
                    sum(case when own <= $5 then own else $6 end) over page as bytes
             from (select seq, class, sum, body, octet_length(body)::bigint as own from journal where pod = $1 and seq < $2
                   order by seq desc limit $3) found
             window page as (order by seq desc)
         ) counted where place = 1 or bytes <= $4 order by seq",
};

/// The journals of a store.
#[derive(Debug, Clone, Copy)]
pub struct Journals<'s>(pub(super) &'s Shared);

impl Journals<'_> {
    /// Records after a position, ascending: at most `max_records` and `max_bytes`, but at least one if there is any.
    pub async fn after(
        self,
        pod: PodKey,
        after: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let page = self.0.reader.select(page!("", "pod = $1 and seq > $2", "seq"));
        let page = page.bind(pod.0).bind(after.0).bind(i64::from(max_records)).bind(bytes(max_bytes));
        Ok(self.mended(pod, page.all("read a journal", columns::record).await?).await)
    }

    /// The newest records before a position, or of the whole journal; ascending.
    pub async fn before(
        self,
        pod: PodKey,
        before: Option<Seq>,
        portion: Portion,
    ) -> Result<Vec<FoundRecord>, StoreError> {
        let page = self.0.reader.select(BEFORE).bind(pod.0).bind(before.map_or(i64::MAX, |before| before.0));
        let page = page.bind(i64::from(portion.records)).bind(bytes(portion.bytes));
        let page = page.bind(bytes(portion.each)).bind(bytes(portion.larger));
        let mut found = Vec::new();
        for (seq, record) in page.all("read a journal", columns::found).await? {
            // A large record is checked when it is read.
            let body = match record {
                Some(record) => Some(self.mended_one(pod, record).await.body),
                None => None,
            };
            found.push(FoundRecord { seq, body });
        }
        Ok(found)
    }

    /// One record in full.
    pub async fn record(self, pod: PodKey, seq: Seq) -> Result<Option<StoredRecord>, StoreError> {
        let found = self.after(pod, Seq(seq.0 - 1), 1, 0).await?;
        Ok(found.into_iter().next().filter(|record| record.seq == seq))
    }

    /// Everything that can reach the model from a position on, ascending.
    pub async fn turns(self, pod: PodKey, from: Seq) -> Result<Vec<StoredRecord>, StoreError> {
        let text = Text {
            sqlite: "select seq, class, cast(sum as integer), body from journal indexed by journal_turns
                     where class = 1 and pod = $1 and seq >= $2 order by seq",
            postgres: "select seq, class::bigint, sum, body from journal
                       where class = 1 and pod = $1 and seq >= $2 order by seq",
        };
        let turns = self.0.reader.select(text).bind(pod.0).bind(from.0);
        Ok(self.mended(pod, turns.all("read a conversation", columns::record).await?).await)
    }

    /// The same before a position, newest first: at most `max_records` and `max_bytes`, but at least one if there is
    /// any.
    pub async fn turns_back(
        self,
        pod: PodKey,
        before: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        if let Some(faults) = &self.0.faults {
            faults.before_turns(before).await;
        }
        let text = page!("indexed by journal_turns", "class = 1 and pod = $1 and seq < $2", "seq desc");
        let page = self.0.reader.select(text).bind(pod.0).bind(before.0);
        let page = page.bind(i64::from(max_records)).bind(bytes(max_bytes));
        Ok(self.mended(pod, page.all("read a conversation", columns::record).await?).await)
    }

    /// All approvals and peer requests with their answers, ascending.
    pub async fn questions(self, pod: PodKey) -> Result<Vec<StoredRecord>, StoreError> {
        let text = Text {
            sqlite: "select seq, class, cast(sum as integer), body from journal indexed by journal_questions
                     where class = 3 and pod = $1 order by seq",
            postgres: "select seq, class::bigint, sum, body from journal where class = 3 and pod = $1 order by seq",
        };
        let questions = self.0.reader.select(text).bind(pod.0);
        Ok(self.mended(pod, questions.all("list questions", columns::record).await?).await)
    }

    /// The position of the newest record; 0 for an empty journal.
    pub async fn head(self, pod: PodKey) -> Result<Seq, StoreError> {
        let text =
            "select checkpoint_seq, (select max(seq) from journal where pod = pods.key) from pods where key = $1";
        // The newest records may have been chunks that were folded away.
        let head = |(covered, newest): (i64, Option<i64>)| Ok(Seq(newest.unwrap_or_default().max(covered)));
        let head = self.0.reader.select(text).bind(pod.0).one("read a journal's head", head).await?;
        head.ok_or(StoreError::PodGone)
    }

    /// Replaces each damaged record by a readable one, so that one bad row affects nothing else.
    pub(super) async fn mended(self, pod: PodKey, found: Vec<RawRecord>) -> Vec<StoredRecord> {
        let mut records = Vec::with_capacity(found.len());
        for record in found {
            records.push(self.mended_one(pod, record).await);
        }
        records
    }

    async fn mended_one(self, pod: PodKey, record: RawRecord) -> StoredRecord {
        match record.damage(pod) {
            None => record.into(),
            Some(damage) => {
                let found_at = self.set_aside(pod, record.seq, damage).await;
                record.stand_in(damage, found_at)
            }
        }
    }

    /// Copies a damaged row, which itself stays as it is. Returns the time at which it was first found.
    pub(super) async fn set_aside(self, pod: PodKey, seq: Seq, damage: Damage) -> Timestamp {
        let found_at = Timestamp::now();
        match self.set_aside_at(pod, seq).await {
            Ok(Some(at)) => at,
            Err(_) => found_at,
            Ok(None) => {
                let reason = damage.reason();
                self.0.health.tell_damaged(pod, seq, reason);
                // A store that can no longer be written can still be read.
                match self.0.chore(Chore::Quarantine { pod, seq, found_at, reason }).await {
                    Ok(()) => self.0.count_damaged().await,
                    Err(error) => {
                        tracing::warn!(pod = pod.0, seq = seq.0, %error, "the damaged record could not be copied");
                    }
                }
                found_at
            }
        }
    }

    /// When the record was set aside; `None` if it is not.
    async fn set_aside_at(self, pod: PodKey, seq: Seq) -> Result<Option<Timestamp>, StoreError> {
        let text = "select found_at from quarantine where pod = $1 and seq = $2";
        let found_at = self.0.reader.select(text).bind(pod.0).bind(seq.0);
        found_at.one("read the quarantine", |(at,): (i64,)| columns::time(at)).await
    }
}

fn bytes(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
