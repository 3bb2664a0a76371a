//! Pods that know each other, and those of which one asked: one row for both.

use jiff::Timestamp;
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{pods::pod_row, read_failed, write_failed};
use crate::{
    PairRow, PeerLinkRow, PodKey, PodRow, RequestRow, StoreError,
    columns::{micros, pod_columns, pod_tables, time},
    engine::WriteError,
    peer_columns::{self, RequestSide, requests_where},
    peer_plan::{LinkedLine, Pair, PeerLines, RequestLine},
};

pub(super) async fn links(pool: &PgPool, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", pair.by_whom, pair.since from (
             select high as other, by_whom, since from peers where low = $1
             union all select low, by_whom, since from peers where high = $1
         ) pair cross join ",
        pod_tables!(),
        " where pods.key = pair.other order by pair.since, pods.key"
    ))
    .bind(pod.0)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list a Pod's peers"))?.iter().map(link_row).collect()
}

fn link_row(row: &PgRow) -> Result<PeerLinkRow, StoreError> {
    Ok(PeerLinkRow {
        pod: pod_row(row)?,
        by: row.try_get("by_whom").map_err(read_failed("read a link"))?,
        since: time(row.try_get("since").map_err(read_failed("read a link"))?)?,
    })
}

pub(super) async fn link(pool: &PgPool, pair: Pair) -> Result<Option<PairRow>, StoreError> {
    let row = sqlx::query_as("select by_whom, since, pace_level, pace_at from peers where low = $1 and high = $2")
        .bind(pair.low.0)
        .bind(pair.high.0)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a link"))?.map(peer_columns::pair).transpose()
}

pub(super) async fn requests(pool: &PgPool, pod: PodKey) -> Result<Vec<RequestRow>, StoreError> {
    let rows =
        sqlx::query(requests_where!("(request.low = $1 or request.high = $1)")).bind(pod.0).fetch_all(pool).await;
    request_rows(rows)
}

pub(super) async fn request(pool: &PgPool, id: &str) -> Result<Option<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.id = $1")).bind(id).fetch_all(pool).await;
    Ok(request_rows(rows)?.pop())
}

pub(super) async fn request_of(pool: &PgPool, pair: Pair) -> Result<Option<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.low = $1 and request.high = $2"))
        .bind(pair.low.0)
        .bind(pair.high.0)
        .fetch_all(pool)
        .await;
    Ok(request_rows(rows)?.pop())
}

pub(super) async fn requests_expired(pool: &PgPool, now: Timestamp) -> Result<Vec<RequestRow>, StoreError> {
    let rows = sqlx::query(requests_where!("request.expires_at <= $1")).bind(micros(now)).fetch_all(pool).await;
    request_rows(rows)
}

fn request_rows(rows: Result<Vec<PgRow>, sqlx::Error>) -> Result<Vec<RequestRow>, StoreError> {
    let rows = rows.map_err(read_failed("look up requests"))?;
    let sides: Result<_, StoreError> = rows.iter().map(|row| request_side(row, pod_row(row)?)).collect();
    peer_columns::requests(sides?)
}

fn request_side(row: &PgRow, pod: PodRow) -> Result<RequestSide, StoreError> {
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

pub(super) async fn change_in_txn(connection: &mut PgConnection, lines: &PeerLines<'_>) -> Result<(), WriteError> {
    match lines {
        PeerLines::Link(lines) => link_in_txn(connection, lines).await,
        PeerLines::Unlink(pairs) => unlink_in_txn(connection, pairs).await,
        PeerLines::Pace(paces) => sqlx::query(
            "update peers set pace_level = line.level, pace_at = line.at
             from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) as line (low, high, level, at)
             where peers.low = line.low and peers.high = line.high",
        )
        .bind(paces.keys().map(|pair| pair.low.0).collect::<Vec<_>>())
        .bind(paces.keys().map(|pair| pair.high.0).collect::<Vec<_>>())
        .bind(paces.values().map(|(level, _)| i64::from(*level)).collect::<Vec<_>>())
        .bind(paces.values().map(|(_, at)| micros(*at)).collect::<Vec<_>>())
        .execute(connection)
        .await
        .map(drop)
        .map_err(write_failed("note a pair's pace")),
        PeerLines::Request(lines) => request_in_txn(connection, lines).await,
        PeerLines::RequestDone(ids) => sqlx::query("delete from peer_requests where id = any($1)")
            .bind(ids)
            .execute(connection)
            .await
            .map(drop)
            .map_err(write_failed("settle a request")),
    }
}

/// A Pod that the same batch deletes knows nobody.
async fn link_in_txn(connection: &mut PgConnection, lines: &[LinkedLine<'_>]) -> Result<(), WriteError> {
    let lows: Vec<i64> = lines.iter().map(|line| line.pair.low.0).collect();
    let highs: Vec<i64> = lines.iter().map(|line| line.pair.high.0).collect();
    sqlx::query(
        "insert into peers (low, high, by_whom, since, pace_level, pace_at)
         select line.low, line.high, line.by_whom, line.at, 0, line.at
         from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
              with ordinality as line (low, high, by_whom, at, place)
         join pods low on low.key = line.low join pods high on high.key = line.high
         order by line.place on conflict do nothing",
    )
    .bind(&lows)
    .bind(&highs)
    .bind(lines.iter().map(|line| line.by.as_ref()).collect::<Vec<&str>>())
    .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>())
    .execute(&mut *connection)
    .await
    .map_err(write_failed("link two Pods"))?;
    sqlx::query(
        "delete from peer_requests using unnest($1::bigint[], $2::bigint[]) as line (low, high)
         where peer_requests.low = line.low and peer_requests.high = line.high",
    )
    .bind(lows)
    .bind(highs)
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("settle a request"))
}

async fn unlink_in_txn(connection: &mut PgConnection, pairs: &[Pair]) -> Result<(), WriteError> {
    sqlx::query(
        "delete from peers using unnest($1::bigint[], $2::bigint[]) as line (low, high)
         where peers.low = line.low and peers.high = line.high",
    )
    .bind(pairs.iter().map(|pair| pair.low.0).collect::<Vec<_>>())
    .bind(pairs.iter().map(|pair| pair.high.0).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("unlink two Pods"))
}

async fn request_in_txn(connection: &mut PgConnection, lines: &[RequestLine<'_>]) -> Result<(), WriteError> {
    let done = sqlx::query(
        "insert into peer_requests (id, low, high, asker, note, by_whom, at, expires_at)
         select line.id, line.low, line.high, line.asker, line.note, line.by_whom, line.at, line.expires_at
         from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
                     $8::bigint[])
              as line (id, low, high, asker, note, by_whom, at, expires_at)
         join pods low on low.key = line.low join pods high on high.key = line.high
         where not exists (select 1 from peers where peers.low = line.low and peers.high = line.high)",
    )
    .bind(lines.iter().map(|line| line.id).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.pair.low.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.pair.high.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.asker.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.note.as_deref()).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.by.as_ref()).collect::<Vec<&str>>())
    .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| micros(line.expires_at)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map_err(write_failed("put a request"))?;
    // One is missing: its Pods know each other already.
    if done.rows_affected() < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}
