//! Inbox, commands, audit, sessions, quarantine.

use std::collections::HashSet;

use jiff::Timestamp;
use protocol::{AuditEntry, CommandId};
use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    CommandRow, InboxRow, PodKey, StoreError,
    chore::Chore,
    columns::{self, micros},
    engine::WriteError,
    words::without_nul,
};

pub(super) async fn inbox(pool: &SqlitePool, pod: PodKey) -> Result<Vec<InboxRow>, StoreError> {
    let rows = sqlx::query_as("select command_id, segments, by_whom, at from inbox where pod = ? order by id")
        .bind(pod.0)
        .fetch_all(pool)
        .await;
    rows.map_err(read_failed("read an inbox"))?.into_iter().map(columns::inbox).collect()
}

pub(super) async fn inbox_put_in_txn(
    connection: &mut SqliteConnection,
    lines: &[(PodKey, &InboxRow)],
) -> Result<(), WriteError> {
    let rows: Vec<_> = lines
        .iter()
        .map(|(pod, row)| {
            json!([pod.0, row.command_id, json!(row.segments).to_string(), without_nul(&row.by), micros(row.at)])
        })
        .collect();
    sqlx::query(
        "insert into inbox (pod, command_id, segments, by_whom, at)
         select value->>0, value->>1, value->>2, value->>3, value->>4 from json_each(?) where true
         on conflict do nothing",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("put an input into an inbox"))
}

pub(super) async fn inbox_take_in_txn(
    connection: &mut SqliteConnection,
    lines: &[(PodKey, &CommandId)],
) -> Result<(), WriteError> {
    let rows: Vec<_> = lines.iter().map(|(pod, id)| json!([pod.0, id])).collect();
    sqlx::query("delete from inbox where (pod, command_id) in (select value->>0, value->>1 from json_each(?))")
        .bind(json!(rows).to_string())
        .execute(connection)
        .await
        .map(drop)
        .map_err(write_failed("take an input from an inbox"))
}

pub(super) async fn command_find(pool: &SqlitePool, id: &CommandId) -> Result<Option<CommandRow>, StoreError> {
    let row = sqlx::query_as("select id, fingerprint, answer, at from commands where id = ?")
        .bind(id.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a command"))?.map(columns::command).transpose()
}

/// Ids that were not there and now are.
pub(super) async fn commands_insert_in_txn(
    connection: &mut SqliteConnection,
    rows: &[&CommandRow],
) -> Result<HashSet<CommandId>, WriteError> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: Vec<_> =
        rows.iter().map(|row| json!([row.id, hex(&row.fingerprint), row.answer, micros(row.at)])).collect();
    let ids: Vec<String> = sqlx::query_scalar(
        "insert into commands (id, fingerprint, answer, at)
         select value->>0, unhex(value->>1), value->>2, value->>3 from json_each(?) where true
         on conflict do nothing returning id",
    )
    .bind(json!(lines).to_string())
    .fetch_all(connection)
    .await
    .map_err(write_failed("claim a command id"))?;
    ids.iter().map(|id| CommandId::parse(id).map_err(|error| WriteError::Failed(error.to_string()))).collect()
}

pub(super) async fn commands_find_in_txn(
    connection: &mut SqliteConnection,
    ids: &[&CommandId],
) -> Result<Vec<CommandRow>, WriteError> {
    let rows =
        sqlx::query_as("select id, fingerprint, answer, at from commands where id in (select value from json_each(?))")
            .bind(json!(ids).to_string())
            .fetch_all(connection)
            .await
            .map_err(write_failed("look up a command"))?;
    rows.into_iter().map(|row| columns::command(row).map_err(|error| WriteError::Failed(error.to_string()))).collect()
}

pub(super) async fn audit_page(
    pool: &SqlitePool,
    before: i64,
    limit: u32,
) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
    let rows = sqlx::query_as(
        "select id, at, by_whom, client, action, target, result, code from audit where id < ? order by id desc limit ?",
    )
    .bind(before)
    .bind(limit)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("read the audit"))?.into_iter().map(columns::audit).collect()
}

pub(super) async fn audit_append_in_txn(
    connection: &mut SqliteConnection,
    entries: &[&AuditEntry],
) -> Result<(), WriteError> {
    let row = |entry: &&AuditEntry| {
        let AuditEntry { at, by, client, action, target, result, code } = entry;
        let [by, client, action, result] = [by, client, action, result].map(|text| without_nul(text));
        let [target, code] = [target, code].map(|text| text.as_deref().map(without_nul));
        json!([micros(*at), by, client, action, target, result, code])
    };
    let rows: Vec<_> = entries.iter().map(row).collect();
    sqlx::query(
        "insert into audit (at, by_whom, client, action, target, result, code)
         select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6 from json_each(?)",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("write the audit"))
}

pub(super) async fn session_find(pool: &SqlitePool, hash: &[u8; 32], now: Timestamp) -> Result<bool, StoreError> {
    sqlx::query_scalar("select exists (select 1 from sessions where hash = ? and expires_at > ?)")
        .bind(hash.as_slice())
        .bind(micros(now))
        .fetch_one(pool)
        .await
        .map_err(read_failed("look up a session"))
}

pub(super) async fn chore_in_txn(connection: &mut SqliteConnection, chore: &Chore) -> Result<(), WriteError> {
    let query = match chore {
        Chore::SessionPut { hash, expires_at } => {
            sqlx::query("insert or replace into sessions (hash, expires_at) values (?, ?)")
                .bind(hash.to_vec())
                .bind(micros(*expires_at))
        }
        Chore::SessionDelete { hash } => sqlx::query("delete from sessions where hash = ?").bind(hash.to_vec()),
        Chore::SessionsPurge { now } => sqlx::query("delete from sessions where expires_at <= ?").bind(micros(*now)),
        Chore::Quarantine { pod, seq, found_at } => sqlx::query(
            "insert or ignore into quarantine (pod, seq, body, found_at)
             select pod, seq, cast(body as blob), ? from journal where pod = ? and seq = ?",
        )
        .bind(micros(*found_at))
        .bind(pod.0)
        .bind(seq.0),
    };
    query.execute(connection).await.map(drop).map_err(write_failed("change sessions or the quarantine"))
}
