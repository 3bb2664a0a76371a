//! Inbox, mail, commands, audit.

use std::{borrow::Cow, collections::HashSet};

use async_trait::async_trait;
use protocol::{AuditEntry, CommandId};

use super::{PostgresPen, write_failed};
use crate::{
    CommandRow, InboxRow, MailPut, PodKey,
    columns::{self, micros},
    engine::LedgerPen,
    txn::WriteError,
    words::without_nul,
};

#[async_trait]
impl LedgerPen for PostgresPen {
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError> {
        let query = sqlx::query(
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
        .bind(lines.iter().map(|(_, row)| micros(row.at)).collect::<Vec<_>>());
        self.run("put an input into an inbox", query).await.map(drop)
    }

    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "delete from inbox using unnest($1::bigint[], $2::text[]) as line (pod, command_id)
             where inbox.pod = line.pod and inbox.command_id = line.command_id",
        )
        .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>());
        self.run("take an input from an inbox", query).await.map(drop)
    }

    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "insert into mail (pod, key, body, at, is_taken)
             select line.pod, line.key, line.body, line.at, false
             from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
                  with ordinality as line (pod, key, body, at, place)
             join pods on pods.key = line.pod
             order by line.place on conflict do nothing",
        )
        .bind(lines.iter().map(|mail| mail.to.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|mail| mail.key.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|mail| mail.body.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|mail| micros(mail.at)).collect::<Vec<_>>());
        self.run("put mail into a mailbox", query).await.map(drop)
    }

    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError> {
        // Distinct, because one statement may update a row only once.
        let query = sqlx::query(
            "insert into mail (pod, key, body, at, is_taken)
             select distinct pod, key, '', 0, true from unnest($1::bigint[], $2::text[]) as line (pod, key)
             on conflict (pod, key) do update set body = '', is_taken = true",
        )
        .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>());
        self.run("take mail from a mailbox", query).await.map(drop)
    }

    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError> {
        let ids: Vec<String> = sqlx::query_scalar(
            "insert into commands (id, fingerprint, answer, at)
             select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[])
             on conflict do nothing returning id",
        )
        .bind(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.fingerprint.as_slice()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.answer.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| micros(row.at)).collect::<Vec<_>>())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("claim a command id"))?;
        ids.iter().map(|id| CommandId::parse(id).map_err(|error| WriteError::Refused(error.to_string()))).collect()
    }

    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError> {
        let rows = sqlx::query_as("select id, fingerprint, answer, at from commands where id = any($1)")
            .bind(ids.iter().map(|id| id.as_str()).collect::<Vec<_>>())
            .fetch_all(self.txn()?)
            .await
            .map_err(write_failed("look up a command"))?;
        rows.into_iter()
            .map(|row| columns::command(row).map_err(|error| WriteError::Refused(error.to_string())))
            .collect()
    }

    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError> {
        let column = |text: fn(&AuditEntry) -> &String| -> Vec<Cow<'_, str>> {
            entries.iter().map(|entry| without_nul(text(entry))).collect()
        };
        let optional = |text: fn(&AuditEntry) -> &Option<String>| -> Vec<Option<Cow<'_, str>>> {
            entries.iter().map(|entry| text(entry).as_deref().map(without_nul)).collect()
        };
        let query = sqlx::query(
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
        .bind(entries.iter().map(|entry| columns::about(entry)).collect::<Vec<_>>());
        self.run("write the audit", query).await.map(drop)
    }
}
