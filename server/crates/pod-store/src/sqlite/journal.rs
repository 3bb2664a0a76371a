//! Journals: all Pods in one table, clustered by Pod and seq.

use std::fmt::Write;

use jiff::Timestamp;
use protocol::Seq;
use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    Fold, NewRecord, PodKey, Portion, StoreError,
    checksum::{RawRecord, checksum},
    columns,
    engine::WriteError,
};

pub(super) async fn after(
    pool: &SqlitePool,
    pod: PodKey,
    after: Seq,
    max_records: u32,
    max_bytes: usize,
) -> Result<Vec<RawRecord>, StoreError> {
    // Lengths first: a body that does not fit is never read, nor its pages.
    let rows = sqlx::query_as(
        "select counted.seq, class, cast(journal.sum as integer), journal.body from (
             select seq, row_number() over page as place, sum(bytes) over page as bytes
             from (select seq, octet_length(body) as bytes from journal where pod = ?1 and seq > ?2 order by seq limit ?3)
             window page as (order by seq)
         ) counted join journal on journal.pod = ?1 and journal.seq = counted.seq
         where counted.place = 1 or counted.bytes <= ?4 order by counted.seq",
    )
    .bind(pod.0)
    .bind(after.0)
    .bind(max_records)
    .bind(bytes(max_bytes))
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a journal"))?.into_iter().map(columns::record).collect())
}

pub(super) async fn before(
    pool: &SqlitePool,
    pod: PodKey,
    before: Seq,
    portion: Portion,
) -> Result<Vec<(Seq, Option<RawRecord>)>, StoreError> {
    // Lengths first, as in `after`.
    let rows = sqlx::query_as(
        "select counted.seq, class, cast(journal.sum as integer), case when counted.own <= ?5 then journal.body end from (
             select seq, own, row_number() over page as place, sum(case when own <= ?5 then own else ?6 end) over page as bytes
             from (select seq, octet_length(body) as own from journal where pod = ?1 and seq < ?2 order by seq desc limit ?3)
             window page as (order by seq desc)
         ) counted join journal on journal.pod = ?1 and journal.seq = counted.seq
         where counted.place = 1 or counted.bytes <= ?4 order by counted.seq",
    )
    .bind(pod.0)
    .bind(before.0)
    .bind(portion.records)
    .bind(bytes(portion.bytes))
    .bind(bytes(portion.each))
    .bind(bytes(portion.larger))
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a journal"))?.into_iter().map(columns::found).collect())
}

pub(super) async fn turns(pool: &SqlitePool, pod: PodKey, from: Seq) -> Result<Vec<RawRecord>, StoreError> {
    let rows = sqlx::query_as(
        "select seq, class, cast(sum as integer), body from journal indexed by journal_turns
         where class = 1 and pod = ? and seq >= ? order by seq",
    )
    .bind(pod.0)
    .bind(from.0)
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a conversation"))?.into_iter().map(columns::record).collect())
}

pub(super) async fn turns_back(
    pool: &SqlitePool,
    pod: PodKey,
    before: Seq,
    max_records: u32,
    max_bytes: usize,
) -> Result<Vec<RawRecord>, StoreError> {
    // Lengths first, as in `after`.
    let rows = sqlx::query_as(
        "select counted.seq, class, cast(journal.sum as integer), journal.body from (
             select seq, row_number() over page as place, sum(bytes) over page as bytes
             from (select seq, octet_length(body) as bytes from journal indexed by journal_turns
                   where class = 1 and pod = ?1 and seq < ?2 order by seq desc limit ?3)
             window page as (order by seq desc)
         ) counted join journal on journal.pod = ?1 and journal.seq = counted.seq
         where counted.place = 1 or counted.bytes <= ?4 order by counted.seq desc",
    )
    .bind(pod.0)
    .bind(before.0)
    .bind(max_records)
    .bind(bytes(max_bytes))
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a conversation"))?.into_iter().map(columns::record).collect())
}

pub(super) async fn questions(pool: &SqlitePool, pod: PodKey) -> Result<Vec<RawRecord>, StoreError> {
    let rows = sqlx::query_as(
        "select seq, class, cast(sum as integer), body from journal indexed by journal_questions
         where class = 3 and pod = ? order by seq",
    )
    .bind(pod.0)
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("list questions"))?.into_iter().map(columns::record).collect())
}

pub(super) async fn head(pool: &SqlitePool, pod: PodKey) -> Result<Option<Seq>, StoreError> {
    let head: Option<i64> = sqlx::query_scalar(
        "select max(checkpoint_seq, coalesce((select max(seq) from journal where pod = pods.key), 0))
         from pods where key = ?",
    )
    .bind(pod.0)
    .fetch_optional(pool)
    .await
    .map_err(read_failed("read a journal's head"))?;
    Ok(head.map(Seq))
}

pub(super) async fn quarantined_count(pool: &SqlitePool) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar("select count(*) from quarantine").fetch_one(pool).await;
    count.map_err(read_failed("count what is set aside"))
}

pub(super) async fn quarantined_at(pool: &SqlitePool, pod: PodKey, seq: Seq) -> Result<Option<Timestamp>, StoreError> {
    let found_at: Option<i64> = sqlx::query_scalar("select found_at from quarantine where pod = ? and seq = ?")
        .bind(pod.0)
        .bind(seq.0)
        .fetch_optional(pool)
        .await
        .map_err(read_failed("read the quarantine"))?;
    found_at.map(columns::time).transpose()
}

pub(super) async fn heads_in_txn(
    connection: &mut SqliteConnection,
    pods: &[PodKey],
) -> Result<Vec<(PodKey, Seq)>, WriteError> {
    let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
    let rows: Vec<(i64, i64)> = sqlx::query_as(
        "select key, max(checkpoint_seq, coalesce((select max(seq) from journal where pod = pods.key), 0))
         from pods where key in (select value from json_each(?))",
    )
    .bind(json!(keys).to_string())
    .fetch_all(connection)
    .await
    .map_err(write_failed("read journal heads"))?;
    Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
}

pub(super) async fn append_in_txn(
    connection: &mut SqliteConnection,
    lines: &[(PodKey, &NewRecord)],
) -> Result<(), WriteError> {
    sqlx::query(
        "insert into journal (pod, seq, class, sum, body)
         select value->>0, value->>1, value->>2, value->>3, value->4 from json_each(?)",
    )
    .bind(rows_of(lines)?)
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("append to a journal"))
}

/// The same as a transaction of its own. False, and nothing is written, where this is not the newest host any more.
pub(super) async fn append_alone(
    connection: &mut SqliteConnection,
    host_epoch: i64,
    lines: &[(PodKey, &NewRecord)],
) -> Result<bool, WriteError> {
    let done = sqlx::query(
        "insert into journal (pod, seq, class, sum, body)
         select value->>0, value->>1, value->>2, value->>3, value->4 from json_each(?)
         where (select host_epoch from meta) = ?",
    )
    .bind(rows_of(lines)?)
    .bind(host_epoch)
    .execute(connection)
    .await
    .map_err(write_failed("append to a journal"))?;
    Ok(done.rows_affected() > 0)
}

/// All rows as one JSON value. Bodies are JSON already and go in as they are, neither quoted nor parsed by us.
fn rows_of(lines: &[(PodKey, &NewRecord)]) -> Result<String, WriteError> {
    let bytes: usize = lines.iter().map(|(_, record)| record.body.len() + 60).sum();
    let mut rows = String::with_capacity(bytes + 2);
    for (pod, record) in lines {
        let body = std::str::from_utf8(&record.body)
            .map_err(|error| WriteError::Refused(format!("cannot append a record that is no text: {error}")))?;
        rows.push(if rows.is_empty() { '[' } else { ',' });
        let class = columns::class_number(record.class);
        let sum = checksum(*pod, record.seq, class, &record.body);
        write!(rows, "[{},{},{class},{sum},{body}]", pod.0, record.seq).expect("writing to a String does not fail");
    }
    rows.push(']');
    Ok(rows)
}

pub(super) async fn fold_in_txn(
    connection: &mut SqliteConnection,
    lines: &[(PodKey, &Fold)],
) -> Result<(), WriteError> {
    let ranges: Vec<_> = lines.iter().map(|(pod, fold)| json!([pod.0, fold.from, fold.to])).collect();
    sqlx::query(
        "delete from journal where (pod, seq) in (
             select chunk.pod, chunk.seq from json_each(?) fold cross join journal chunk
             where chunk.pod = fold.value->>0 and chunk.seq between fold.value->>1 and fold.value->>2
             and chunk.class = 0)",
    )
    .bind(json!(ranges).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("fold chunks"))
}

fn bytes(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
