//! Inbox, commands, audit, quarantine.

use std::collections::HashSet;

use protocol::{AuditEntry, CommandId};
use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, sessions, write_failed};
use crate::{
    AuditFilter, CommandRow, InboxRow, PodKey, StoreError,
    chore::Chore,
    claims::ClaimChange,
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
            json!([pod.0, row.command_id, columns::inbox_body(row), without_nul(&row.by), micros(row.at)])
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

pub(super) async fn commands_open(pool: &SqlitePool) -> Result<Vec<CommandRow>, StoreError> {
    let rows =
        sqlx::query_as("select id, fingerprint, answer, at from commands where answer = ''").fetch_all(pool).await;
    rows.map_err(read_failed("look for open commands"))?.into_iter().map(columns::command).collect()
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
    ids.iter().map(|id| CommandId::parse(id).map_err(|error| WriteError::Refused(error.to_string()))).collect()
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
    rows.into_iter().map(|row| columns::command(row).map_err(|error| WriteError::Refused(error.to_string()))).collect()
}

/// A target has an index of its own, and a query that may be without one would not use it.
pub(super) async fn audit_page(
    pool: &SqlitePool,
    filter: &AuditFilter,
    before: i64,
    limit: u32,
) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
    let query = match &filter.target {
        None => sqlx::query_as(
            "select id, at, by_whom, client, action, target, result, code, about from audit
             where id < ?1 and (?2 is null or action = ?2) and (?3 is null or result = ?3)
             order by id desc limit ?4",
        ),
        Some(_) => sqlx::query_as(
            "select id, at, by_whom, client, action, target, result, code, about from audit
             where id < ?1 and (?2 is null or action = ?2) and (?3 is null or result = ?3)
                 and target = ?5
             order by id desc limit ?4",
        ),
    };
    let query = query.bind(before).bind(filter.action.as_deref()).bind(filter.result.as_deref()).bind(limit);
    let query = match &filter.target {
        None => query,
        Some(target) => query.bind(without_nul(target)),
    };
    let rows = query.fetch_all(pool).await;
    rows.map_err(read_failed("read the audit"))?.into_iter().map(columns::audit).collect()
}

pub(super) async fn audit_append_in_txn(
    connection: &mut SqliteConnection,
    entries: &[&AuditEntry],
) -> Result<(), WriteError> {
    let row = |entry: &&AuditEntry| {
        let AuditEntry { at, by, client, action, target, result, code, about: _ } = entry;
        let [by, client, action, result] = [by, client, action, result].map(|text| without_nul(text));
        let [target, code] = [target, code].map(|text| text.as_deref().map(without_nul));
        json!([micros(*at), by, client, action, target, result, code, columns::about(entry)])
    };
    let rows: Vec<_> = entries.iter().map(row).collect();
    sqlx::query(
        "insert into audit (at, by_whom, client, action, target, result, code, about)
         select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7
         from json_each(?)",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("write the audit"))
}

pub(super) async fn chore_in_txn(connection: &mut SqliteConnection, chore: &Chore) -> Result<(), WriteError> {
    let query = match chore {
        // It writes nothing.
        Chore::Rejoin => return Ok(()),
        Chore::Probe => sqlx::query("update meta set host_epoch = host_epoch"),
        Chore::Session(change) => return sessions::change_in_txn(connection, change).await,
        Chore::Claim(ClaimChange::Settle(row)) => sqlx::query(
            "insert into commands (id, fingerprint, answer, at) values (?1, ?2, ?3, ?4)
             on conflict (id) do update set answer = excluded.answer
             where commands.fingerprint = excluded.fingerprint and commands.answer = ''",
        )
        .bind(row.id.as_str())
        .bind(&row.fingerprint[..])
        .bind(without_nul(&row.answer))
        .bind(micros(row.at)),
        Chore::Claim(ClaimChange::Free { id, fingerprint }) => {
            sqlx::query("delete from commands where id = ? and fingerprint = ? and answer = ''")
                .bind(id.as_str())
                .bind(&fingerprint[..])
        }
        Chore::Quarantine { pod, seq, found_at, reason } => sqlx::query(
            "insert or ignore into quarantine (pod, seq, body, found_at, reason)
             select pod, seq, cast(body as blob), ?, ? from journal where pod = ? and seq = ?",
        )
        .bind(micros(*found_at))
        .bind(*reason)
        .bind(pod.0)
        .bind(seq.0),
    };
    query.execute(connection).await.map(drop).map_err(write_failed("write a small thing beside the journal"))
}
