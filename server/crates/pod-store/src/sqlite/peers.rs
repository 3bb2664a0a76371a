//! Pods that know each other, and those of which one asked: one row for both.

use jiff::Timestamp;
use serde_json::json;
use sqlx::{Row, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::{pods::pod_row, read_failed, write_failed};
use crate::{
    PairRow, PeerLinkRow, PodKey, PodRow, RequestRow, StoreError,
    columns::{micros, pod_columns, pod_tables, time},
    engine::WriteError,
    peer_columns::{self, RequestSide, requests_where},
    peer_plan::{LinkedLine, Pair, PeerLines, RequestLine},
};

pub(super) async fn links(pool: &SqlitePool, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", pair.by_whom, pair.since from (
             select high as other, by_whom, since from peers where low = ?1
             union all select low, by_whom, since from peers where high = ?1
         ) pair cross join ",
        pod_tables!(),
        " where pods.key = pair.other order by pair.since, pods.key"
    ))
    .bind(pod.0)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list a Pod's peers"))?.iter().map(link_row).collect()
}

fn link_row(row: &SqliteRow) -> Result<PeerLinkRow, StoreError> {
    Ok(PeerLinkRow {
        pod: pod_row(row)?,
        by: row.try_get("by_whom").map_err(read_failed("read a link"))?,
        since: time(row.try_get("since").map_err(read_failed("read a link"))?)?,
    })
}

pub(super) async fn link(pool: &SqlitePool, pair: Pair) -> Result<Option<PairRow>, StoreError> {
    let row = sqlx::query_as("select by_whom, since, pace_level, pace_at from peers where low = ? and high = ?")
        .bind(pair.low.0)
        .bind(pair.high.0)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a link"))?.map(peer_columns::pair).transpose()
}

pub(super) async fn requests(pool: &SqlitePool, pod: PodKey) -> Result<Vec<RequestRow>, StoreError> {
    let rows =
        sqlx::query(requests_where!("(request.low = ?1 or request.high = ?1)")).bind(pod.0).fetch_all(pool).await;
    request_rows(rows)
}

pub(super) async fn request(pool: &SqlitePool, id: &str) -> Result<Option<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.id = ?")).bind(id).fetch_all(pool).await;
    Ok(request_rows(rows)?.pop())
}

pub(super) async fn request_of(pool: &SqlitePool, pair: Pair) -> Result<Option<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.low = ? and request.high = ?"))
        .bind(pair.low.0)
        .bind(pair.high.0)
        .fetch_all(pool)
        .await;
    Ok(request_rows(rows)?.pop())
}

pub(super) async fn requests_expired(pool: &SqlitePool, now: Timestamp) -> Result<Vec<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.expires_at <= ?")).bind(micros(now)).fetch_all(pool).await;
    request_rows(rows)
}

fn request_rows(rows: Result<Vec<SqliteRow>, sqlx::Error>) -> Result<Vec<RequestRow>, StoreError> {
    let rows = rows.map_err(read_failed("look up requests"))?;
    let sides: Result<_, StoreError> = rows.iter().map(|row| request_side(row, pod_row(row)?)).collect();
    peer_columns::requests(sides?)
}

fn request_side(row: &SqliteRow, pod: PodRow) -> Result<RequestSide, StoreError> {
    let read = || -> Result<_, sqlx::Error> {
        Ok(RequestSide {
            pod,
            id: row.try_get("id")?,
            note: row.try_get("note")?,
            by: row.try_get("by_whom")?,
            at: row.try_get("at")?,
            expires_at: row.try_get("expires_at")?,
        })
    };
    read().map_err(read_failed("read a request"))
}

pub(super) async fn change_in_txn(connection: &mut SqliteConnection, lines: &PeerLines<'_>) -> Result<(), WriteError> {
    match lines {
        PeerLines::Link(lines) => link_in_txn(connection, lines).await,
        PeerLines::Unlink(pairs) => unlink_in_txn(connection, pairs).await,
        PeerLines::Pace(paces) => {
            let rows = paces.iter().map(|(pair, (level, at))| json!([pair.low.0, pair.high.0, level, micros(*at)]));
            let sql = "update peers set pace_level = line.value->>2, pace_at = line.value->>3
                       from json_each(?) line where peers.low = line.value->>0 and peers.high = line.value->>1";
            run(connection, sql, rows.collect(), "note a pair's pace").await.map(drop)
        }
        PeerLines::Request(lines) => request_in_txn(connection, lines).await,
        PeerLines::RequestDone(ids) => {
            let sql = "delete from peer_requests where id in (select value from json_each(?))";
            run(connection, sql, ids.iter().map(|id| json!(id)).collect(), "settle a request").await.map(drop)
        }
    }
}

/// A Pod that the same batch deletes knows nobody.
async fn link_in_txn(connection: &mut SqliteConnection, lines: &[LinkedLine<'_>]) -> Result<(), WriteError> {
    let rows = lines.iter().map(|line| json!([line.pair.low.0, line.pair.high.0, line.by, micros(line.at)])).collect();
    let sql = "insert into peers (low, high, by_whom, since, pace_level, pace_at)
               select line.value->>0, line.value->>1, line.value->>2, line.value->>3, 0, line.value->>3
               from json_each(?) line cross join pods low cross join pods high
               where low.key = line.value->>0 and high.key = line.value->>1
               on conflict do nothing";
    run(connection, sql, rows, "link two Pods").await?;
    let sql = "delete from peer_requests where (low, high) in (select value->>0, value->>1 from json_each(?))";
    run(connection, sql, pair_rows(lines.iter().map(|line| &line.pair)), "settle a request").await.map(drop)
}

async fn unlink_in_txn(connection: &mut SqliteConnection, pairs: &[Pair]) -> Result<(), WriteError> {
    let sql = "delete from peers where (low, high) in (select value->>0, value->>1 from json_each(?))";
    run(connection, sql, pair_rows(pairs.iter()), "unlink two Pods").await.map(drop)
}

async fn request_in_txn(connection: &mut SqliteConnection, lines: &[RequestLine<'_>]) -> Result<(), WriteError> {
    let row = |line: &RequestLine<'_>| {
        let (low, high, asker) = (line.pair.low.0, line.pair.high.0, line.asker.0);
        json!([line.id, low, high, asker, line.note, line.by, micros(line.at), micros(line.expires_at)])
    };
    let sql = "insert into peer_requests (id, low, high, asker, note, by_whom, at, expires_at)
               select line.value->>0, low.key, high.key, line.value->>3,
                      line.value->>4, line.value->>5, line.value->>6, line.value->>7
               from json_each(?) line cross join pods low cross join pods high
               where low.key = line.value->>1 and high.key = line.value->>2
                 and not exists (select 1 from peers where peers.low = low.key and peers.high = high.key)";
    let inserted = run(connection, sql, lines.iter().map(row).collect(), "put a request").await?;
    // One is missing: its Pods know each other already.
    if inserted < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}

fn pair_rows<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Vec<serde_json::Value> {
    pairs.map(|pair| json!([pair.low.0, pair.high.0])).collect()
}

/// Gives the number of rows that changed.
async fn run(
    connection: &mut SqliteConnection,
    sql: &'static str,
    rows: Vec<serde_json::Value>,
    operation: &'static str,
) -> Result<u64, WriteError> {
    let done = sqlx::query(sql).bind(json!(rows).to_string()).execute(connection).await;
    done.map(|done| done.rows_affected()).map_err(write_failed(operation))
}
