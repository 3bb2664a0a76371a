//! Inbox, commands, audit, quarantine.

use std::{borrow::Cow, collections::HashSet};

use protocol::{AuditEntry, CommandId};
use sqlx::{PgConnection, PgPool};

use super::{read_failed, sessions, write_failed};
use crate::{
    AuditFilter, CommandRow, InboxRow, PodKey, StoreError,
    chore::Chore,
    claims::ClaimChange,
    columns::{self, micros},
    engine::WriteError,
    words::without_nul,
};

pub(super) async fn inbox(pool: &PgPool, pod: PodKey) -> Result<Vec<InboxRow>, StoreError> {
    let rows = sqlx::query_as("select command_id, segments, by_whom, at from inbox where pod = $1 order by id")
        .bind(pod.0)
        .fetch_all(pool)
        .await;
    rows.map_err(read_failed("read an inbox"))?.into_iter().map(columns::inbox).collect()
}

pub(super) async fn inbox_put_in_txn(
    connection: &mut PgConnection,
    lines: &[(PodKey, &InboxRow)],
) -> Result<(), WriteError> {
    sqlx::query(
        "insert into inbox (pod, command_id, segments, by_whom, at)
         select pod, command_id, segments, by_whom, at
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[])
              with ordinality as line (pod, command_id, segments, by_whom, at, place)
         order by place on conflict do nothing",
    )
    .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, row)| row.command_id.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, row)| columns::inbox_body(row)).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, row)| without_nul(&row.by)).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, row)| micros(row.at)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("put an input into an inbox"))
}

pub(super) async fn inbox_take_in_txn(
    connection: &mut PgConnection,
    lines: &[(PodKey, &CommandId)],
) -> Result<(), WriteError> {
    sqlx::query(
        "delete from inbox using unnest($1::bigint[], $2::text[]) as line (pod, command_id)
         where inbox.pod = line.pod and inbox.command_id = line.command_id",
    )
    .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("take an input from an inbox"))
}

pub(super) async fn command_find(pool: &PgPool, id: &CommandId) -> Result<Option<CommandRow>, StoreError> {
    let row = sqlx::query_as("select id, fingerprint, answer, at from commands where id = $1")
        .bind(id.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a command"))?.map(columns::command).transpose()
}

pub(super) async fn commands_open(pool: &PgPool) -> Result<Vec<CommandRow>, StoreError> {
    let rows =
        sqlx::query_as("select id, fingerprint, answer, at from commands where answer = ''").fetch_all(pool).await;
    rows.map_err(read_failed("look for open commands"))?.into_iter().map(columns::command).collect()
}

/// Ids that were not there and now are.
pub(super) async fn commands_insert_in_txn(
    connection: &mut PgConnection,
    rows: &[&CommandRow],
) -> Result<HashSet<CommandId>, WriteError> {
    let ids: Vec<String> = sqlx::query_scalar(
        "insert into commands (id, fingerprint, answer, at)
         select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[])
         on conflict do nothing returning id",
    )
    .bind(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>())
    .bind(rows.iter().map(|row| row.fingerprint.as_slice()).collect::<Vec<_>>())
    .bind(rows.iter().map(|row| row.answer.as_str()).collect::<Vec<_>>())
    .bind(rows.iter().map(|row| micros(row.at)).collect::<Vec<_>>())
    .fetch_all(connection)
    .await
    .map_err(write_failed("claim a command id"))?;
    ids.iter().map(|id| CommandId::parse(id).map_err(|error| WriteError::Refused(error.to_string()))).collect()
}

pub(super) async fn commands_find_in_txn(
    connection: &mut PgConnection,
    ids: &[&CommandId],
) -> Result<Vec<CommandRow>, WriteError> {
    let rows = sqlx::query_as("select id, fingerprint, answer, at from commands where id = any($1)")
        .bind(ids.iter().map(|id| id.as_str()).collect::<Vec<_>>())
        .fetch_all(connection)
        .await
        .map_err(write_failed("look up a command"))?;
    rows.into_iter().map(|row| columns::command(row).map_err(|error| WriteError::Refused(error.to_string()))).collect()
}

/// A target has an index of its own, and a query that may be without one would not use it.
pub(super) async fn audit_page(
    pool: &PgPool,
    filter: &AuditFilter,
    before: i64,
    limit: u32,
) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
    let query = match &filter.target {
        None => sqlx::query_as(
            "select id, at, by_whom, client, action, target, result, code, about from audit
             where id < $1 and ($2::text is null or action = $2) and ($3::text is null or result = $3)
             order by id desc limit $4",
        ),
        Some(_) => sqlx::query_as(
            "select id, at, by_whom, client, action, target, result, code, about from audit
             where id < $1 and ($2::text is null or action = $2) and ($3::text is null or result = $3)
                 and target = $5
             order by id desc limit $4",
        ),
    };
    let query = query.bind(before).bind(filter.action.as_deref()).bind(filter.result.as_deref()).bind(i64::from(limit));
    let query = match &filter.target {
        None => query,
        Some(target) => query.bind(without_nul(target)),
    };
    let rows = query.fetch_all(pool).await;
    rows.map_err(read_failed("read the audit"))?.into_iter().map(columns::audit).collect()
}

pub(super) async fn audit_append_in_txn(
    connection: &mut PgConnection,
    entries: &[&AuditEntry],
) -> Result<(), WriteError> {
    let column = |text: fn(&AuditEntry) -> &String| -> Vec<Cow<'_, str>> {
        entries.iter().map(|entry| without_nul(text(entry))).collect()
    };
    let optional = |text: fn(&AuditEntry) -> &Option<String>| -> Vec<Option<Cow<'_, str>>> {
        entries.iter().map(|entry| text(entry).as_deref().map(without_nul)).collect()
    };
    sqlx::query(
        "insert into audit (at, by_whom, client, action, target, result, code, about)
         select at, by_whom, client, action, target, result, code, about
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
              with ordinality as line (at, by_whom, client, action, target, result, code, about, place)
         order by place",
    )
    .bind(entries.iter().map(|entry| micros(entry.at)).collect::<Vec<_>>())
    .bind(column(|entry| &entry.by))
    .bind(column(|entry| &entry.client))
    .bind(column(|entry| &entry.action))
    .bind(optional(|entry| &entry.target))
    .bind(column(|entry| &entry.result))
    .bind(optional(|entry| &entry.code))
    .bind(entries.iter().map(|entry| columns::about(entry)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("write the audit"))
}

pub(super) async fn chore_in_txn(connection: &mut PgConnection, chore: &Chore) -> Result<(), WriteError> {
    let query = match chore {
        // It writes nothing.
        Chore::Rejoin => return Ok(()),
        // The lease was read under a number of this transaction, so its commit is written all the same.
        Chore::Probe => return Ok(()),
        Chore::Session(change) => return sessions::change_in_txn(connection, change).await,
        Chore::Claim(ClaimChange::Settle(row)) => sqlx::query(
            "insert into commands (id, fingerprint, answer, at) values ($1, $2, $3, $4)
             on conflict (id) do update set answer = excluded.answer
             where commands.fingerprint = excluded.fingerprint and commands.answer = ''",
        )
        .bind(row.id.as_str())
        .bind(&row.fingerprint[..])
        .bind(without_nul(&row.answer))
        .bind(micros(row.at)),
        Chore::Claim(ClaimChange::Free { id, fingerprint }) => {
            sqlx::query("delete from commands where id = $1 and fingerprint = $2 and answer = ''")
                .bind(id.as_str())
                .bind(&fingerprint[..])
        }
        Chore::Quarantine { pod, seq, found_at, reason } => sqlx::query(
            "insert into quarantine (pod, seq, body, found_at, reason)
             select pod, seq, body, $1, $2 from journal where pod = $3 and seq = $4 on conflict do nothing",
        )
        .bind(micros(*found_at))
        .bind(*reason)
        .bind(pod.0)
        .bind(seq.0),
    };
    query.execute(connection).await.map(drop).map_err(write_failed("write a small thing beside the journal"))
}
