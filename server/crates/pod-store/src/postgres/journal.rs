//! Journals: all Pods in one table, keyed by Pod and seq.

use jiff::Timestamp;
use protocol::Seq;
use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    Fold, NewRecord, PodKey, Portion, StoreError,
    checksum::{RawRecord, checksum},
    columns,
    engine::WriteError,
};

pub(super) async fn after(
    pool: &PgPool,
    pod: PodKey,
    after: Seq,
    max_records: u32,
    max_bytes: usize,
) -> Result<Vec<RawRecord>, StoreError> {
    // Cut by the server: rows that were sent and not read would have to be drained before the next query.
    let rows = sqlx::query_as(
        "select seq, class::bigint, sum, body from (
             select seq, class, sum, body, row_number() over page as place, sum(octet_length(body)) over page as bytes
             from (select seq, class, sum, body from journal where pod = $1 and seq > $2 order by seq limit $3) found
             window page as (order by seq)
         ) counted where place = 1 or bytes <= $4 order by seq",
    )
    .bind(pod.0)
    .bind(after.0)
    .bind(i64::from(max_records))
    .bind(i64::try_from(max_bytes).unwrap_or(i64::MAX))
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a journal"))?.into_iter().map(record).collect())
}

pub(super) async fn before(
    pool: &PgPool,
    pod: PodKey,
    before: Seq,
    portion: Portion,
) -> Result<Vec<(Seq, Option<RawRecord>)>, StoreError> {
    // Cut by the server, as in `after`.
    let rows: Vec<LargeColumns> = sqlx::query_as(
        "select seq, class::bigint, sum, case when own <= $5 then body end from (
             select seq, class, sum, body, own, row_number() over page as place, sum(case when own <= $5 then own else $6 end) over page as bytes
             from (select seq, class, sum, body, octet_length(body)::bigint as own from journal where pod = $1 and seq < $2
                   order by seq desc limit $3) found
             window page as (order by seq desc)
         ) counted where place = 1 or bytes <= $4 order by seq",
    )
    .bind(pod.0)
    .bind(before.0)
    .bind(i64::from(portion.records))
    .bind(i64::try_from(portion.bytes).unwrap_or(i64::MAX))
    .bind(i64::try_from(portion.each).unwrap_or(i64::MAX))
    .bind(i64::try_from(portion.larger).unwrap_or(i64::MAX))
    .fetch_all(pool)
    .await
    .map_err(read_failed("read a journal"))?;
    Ok(rows.into_iter().map(found).collect())
}

pub(super) async fn turns(pool: &PgPool, pod: PodKey, from: Seq) -> Result<Vec<RawRecord>, StoreError> {
    let rows = sqlx::query_as(
        "select seq, class::bigint, sum, body from journal
         where class = 1 and pod = $1 and seq >= $2 order by seq",
    )
    .bind(pod.0)
    .bind(from.0)
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a conversation"))?.into_iter().map(record).collect())
}

pub(super) async fn turns_back(
    pool: &PgPool,
    pod: PodKey,
    before: Seq,
    max_records: u32,
    max_bytes: usize,
) -> Result<Vec<RawRecord>, StoreError> {
    // Cut by the server, as in `after`.
    let rows = sqlx::query_as(
        "select seq, class::bigint, sum, body from (
             select seq, class, sum, body, row_number() over page as place, sum(octet_length(body)) over page as bytes
             from (select seq, class, sum, body from journal where class = 1 and pod = $1 and seq < $2 order by seq desc limit $3) found
             window page as (order by seq desc)
         ) counted where place = 1 or bytes <= $4 order by seq desc",
    )
    .bind(pod.0)
    .bind(before.0)
    .bind(i64::from(max_records))
    .bind(i64::try_from(max_bytes).unwrap_or(i64::MAX))
    .fetch_all(pool)
    .await;
    Ok(rows.map_err(read_failed("read a conversation"))?.into_iter().map(record).collect())
}

pub(super) async fn questions(pool: &PgPool, pod: PodKey) -> Result<Vec<RawRecord>, StoreError> {
    let rows =
        sqlx::query_as("select seq, class::bigint, sum, body from journal where class = 3 and pod = $1 order by seq")
            .bind(pod.0)
            .fetch_all(pool)
            .await;
    Ok(rows.map_err(read_failed("list questions"))?.into_iter().map(record).collect())
}

pub(super) async fn head(pool: &PgPool, pod: PodKey) -> Result<Option<Seq>, StoreError> {
    let head: Option<i64> = sqlx::query_scalar(
        "select greatest(checkpoint_seq, (select max(seq) from journal where pod = pods.key))
         from pods where key = $1",
    )
    .bind(pod.0)
    .fetch_optional(pool)
    .await
    .map_err(read_failed("read a journal's head"))?;
    Ok(head.map(Seq))
}

pub(super) async fn quarantined_count(pool: &PgPool) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar("select count(*) from quarantine").fetch_one(pool).await;
    count.map_err(read_failed("count what is set aside"))
}

pub(super) async fn quarantined_at(pool: &PgPool, pod: PodKey, seq: Seq) -> Result<Option<Timestamp>, StoreError> {
    let found_at: Option<i64> = sqlx::query_scalar("select found_at from quarantine where pod = $1 and seq = $2")
        .bind(pod.0)
        .bind(seq.0)
        .fetch_optional(pool)
        .await
        .map_err(read_failed("read the quarantine"))?;
    found_at.map(columns::time).transpose()
}

pub(super) async fn heads_in_txn(
    connection: &mut PgConnection,
    pods: &[PodKey],
) -> Result<Vec<(PodKey, Seq)>, WriteError> {
    let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
    let rows: Vec<(i64, i64)> = sqlx::query_as(
        "select key, greatest(checkpoint_seq, (select max(seq) from journal where pod = pods.key))
         from pods where key = any($1)",
    )
    .bind(keys)
    .fetch_all(connection)
    .await
    .map_err(write_failed("read journal heads"))?;
    Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
}

/// All rows in one statement, as one array for each column.
pub(super) async fn append_in_txn(
    connection: &mut PgConnection,
    lines: &[(PodKey, &NewRecord)],
) -> Result<(), WriteError> {
    let bodies: Result<Vec<&str>, _> = lines.iter().map(|(_, record)| std::str::from_utf8(&record.body)).collect();
    let bodies =
        bodies.map_err(|error| WriteError::Refused(format!("cannot append a record that is no text: {error}")))?;
    sqlx::query(
        "insert into journal (pod, seq, class, body, sum)
         select * from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bigint[])",
    )
    .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, record)| record.seq.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, record)| columns::class_number(record.class)).collect::<Vec<_>>())
    .bind(bodies)
    .bind(lines.iter().map(|(pod, record)| sum_of(*pod, record)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("append to a journal"))
}

pub(super) async fn fold_in_txn(connection: &mut PgConnection, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError> {
    sqlx::query(
        "delete from journal using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as fold (pod, first, last)
         where journal.pod = fold.pod and journal.seq between fold.first and fold.last and journal.class = 0",
    )
    .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, fold)| fold.from.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, fold)| fold.to.0).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("fold chunks"))
}

fn sum_of(pod: PodKey, record: &NewRecord) -> i64 {
    checksum(pod, record.seq, columns::class_number(record.class), &record.body).into()
}

fn record((seq, class, sum, body): (i64, i64, Option<i64>, String)) -> RawRecord {
    columns::record((seq, class, sum, body.into_bytes()))
}

/// `seq, class, sum, body`.
type LargeColumns = (i64, i64, Option<i64>, Option<String>);

fn found((seq, class, sum, body): LargeColumns) -> (Seq, Option<RawRecord>) {
    columns::found((seq, class, sum, body.map(String::into_bytes)))
}
