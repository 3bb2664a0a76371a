//! Browser logins.

use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    SessionRow, StoreError,
    columns::{self, micros},
    engine::WriteError,
    sessions::{SESSIONS_LISTED_MAX, SessionChange},
    words::without_nul,
};

pub(super) async fn find(pool: &SqlitePool, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError> {
    let row = sqlx::query_as(
        "select hash, client, created_at, seen_at, expires_at from sessions where hash = ? and expires_at > ?",
    )
    .bind(hash.as_slice())
    .bind(micros(now))
    .fetch_optional(pool)
    .await;
    row.map_err(read_failed("look up a session"))?.map(columns::session).transpose()
}

pub(super) async fn list(pool: &SqlitePool, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
    let rows = sqlx::query_as(
        "select hash, client, created_at, seen_at, expires_at from sessions where expires_at > ?
         order by seen_at desc, hash limit ?",
    )
    .bind(micros(now))
    .bind(SESSIONS_LISTED_MAX)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list the sessions"))?.into_iter().map(columns::session).collect()
}

pub(super) async fn change_in_txn(connection: &mut SqliteConnection, change: &SessionChange) -> Result<(), WriteError> {
    let query = match change {
        SessionChange::Put(SessionRow { hash, client, created_at, seen_at, expires_at }) => sqlx::query(
            "insert or replace into sessions (hash, client, created_at, seen_at, expires_at) values (?, ?, ?, ?, ?)",
        )
        .bind(hash.to_vec())
        .bind(without_nul(client).into_owned())
        .bind(micros(*created_at))
        .bind(micros(*seen_at))
        .bind(micros(*expires_at)),
        SessionChange::Seen { hash, at } => sqlx::query("update sessions set seen_at = max(seen_at, ?) where hash = ?")
            .bind(micros(*at))
            .bind(hash.to_vec()),
        SessionChange::Delete { hash } => sqlx::query("delete from sessions where hash = ?").bind(hash.to_vec()),
        SessionChange::DeleteOthers { kept } => {
            sqlx::query("delete from sessions where hash <> ?").bind(kept.map(Vec::from).unwrap_or_default())
        }
        SessionChange::Purge { now } => sqlx::query("delete from sessions where expires_at <= ?").bind(micros(*now)),
    };
    query.execute(connection).await.map(drop).map_err(write_failed("change the sessions"))
}
