//! Browser logins.

use jiff::Timestamp;
use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    SessionRow, StoreError,
    columns::{self, micros},
    engine::WriteError,
    sessions::{SESSIONS_LISTED_MAX, SessionChange},
    words::without_nul,
};

pub(super) async fn find(pool: &PgPool, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError> {
    let row = sqlx::query_as(
        "select hash, client, created_at, seen_at, expires_at from sessions where hash = $1 and expires_at > $2",
    )
    .bind(hash.as_slice())
    .bind(micros(now))
    .fetch_optional(pool)
    .await;
    row.map_err(read_failed("look up a session"))?.map(columns::session).transpose()
}

pub(super) async fn list(pool: &PgPool, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
    let rows = sqlx::query_as(
        "select hash, client, created_at, seen_at, expires_at from sessions where expires_at > $1
         order by seen_at desc, hash limit $2",
    )
    .bind(micros(now))
    .bind(i64::from(SESSIONS_LISTED_MAX))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list the sessions"))?.into_iter().map(columns::session).collect()
}

pub(super) async fn change_in_txn(connection: &mut PgConnection, change: &SessionChange) -> Result<(), WriteError> {
    let query = match change {
        SessionChange::Put(SessionRow { hash, client, created_at, seen_at, expires_at }) => sqlx::query(
            "insert into sessions (hash, client, created_at, seen_at, expires_at) values ($1, $2, $3, $4, $5)
             on conflict (hash) do update set client = excluded.client, created_at = excluded.created_at,
                 seen_at = excluded.seen_at, expires_at = excluded.expires_at",
        )
        .bind(hash.as_slice())
        .bind(without_nul(client))
        .bind(micros(*created_at))
        .bind(micros(*seen_at))
        .bind(micros(*expires_at)),
        SessionChange::Seen { hash, at } => {
            sqlx::query("update sessions set seen_at = greatest(seen_at, $1) where hash = $2")
                .bind(micros(*at))
                .bind(hash.as_slice())
        }
        SessionChange::Delete { hash } => sqlx::query("delete from sessions where hash = $1").bind(hash.as_slice()),
        SessionChange::DeleteOthers { kept } => {
            sqlx::query("delete from sessions where hash <> $1").bind(kept.map(Vec::from).unwrap_or_default())
        }
        SessionChange::Purge { now } => sqlx::query("delete from sessions where expires_at <= $1").bind(micros(*now)),
    };
    query.execute(connection).await.map(drop).map_err(write_failed("change the sessions"))
}
