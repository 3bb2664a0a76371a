//! Inbox, mail, commands, audit.

use std::collections::HashSet;

use async_trait::async_trait;
use protocol::{AuditEntry, CommandId};
use serde_json::json;

use super::{SqlitePen, write_failed};
use crate::{
    CommandRow, InboxRow, MailPut, PodKey,
    columns::{self, micros},
    engine::LedgerPen,
    txn::WriteError,
    words::without_nul,
};

#[async_trait]
impl LedgerPen for SqlitePen {
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError> {
        let row = |(pod, row): &(PodKey, &InboxRow)| {
            json!([pod.0, row.command_id, columns::inbox_body(row), without_nul(&row.by), micros(row.at)])
        };
        let sql = "insert into inbox (pod, command_id, segments, by_whom, at)
                   select value->>0, value->>1, value->>2, value->>3, value->>4 from json_each(?) where true
                   on conflict do nothing";
        self.write("put an input into an inbox", sql, lines.iter().map(row)).await.map(drop)
    }

    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError> {
        let rows = lines.iter().map(|(pod, id)| json!([pod.0, id]));
        let sql = "delete from inbox where (pod, command_id) in (select value->>0, value->>1 from json_each(?))";
        self.write("take an input from an inbox", sql, rows).await.map(drop)
    }

    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError> {
        let rows = lines.iter().map(|mail| json!([mail.to.0, mail.key, mail.body, micros(mail.at)]));
        let sql = "insert into mail (pod, key, body, at, is_taken)
                   select line.value->>0, line.value->>1, line.value->>2, line.value->>3, 0
                   from json_each(?) line cross join pods where pods.key = line.value->>0
                   on conflict do nothing";
        self.write("put mail into a mailbox", sql, rows).await.map(drop)
    }

    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError> {
        let rows = lines.iter().map(|(pod, key)| json!([pod.0, key]));
        let sql = "insert into mail (pod, key, body, at, is_taken)
                   select value->>0, value->>1, '', 0, 1 from json_each(?) where true
                   on conflict (pod, key) do update set body = '', is_taken = 1";
        self.write("take mail from a mailbox", sql, rows).await.map(drop)
    }

    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let lines: Vec<_> =
            rows.iter().map(|row| json!([row.id, hex(&row.fingerprint), row.answer, micros(row.at)])).collect();
        let ids: Vec<String> = sqlx::query_scalar(
            "insert into commands (id, fingerprint, answer, at)
             select value->>0, unhex(value->>1), value->>2, value->>3 from json_each(?) where true
             on conflict do nothing returning id",
        )
        .bind(json!(lines).to_string())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("claim a command id"))?;
        ids.iter().map(|id| CommandId::parse(id).map_err(|error| WriteError::Refused(error.to_string()))).collect()
    }

    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError> {
        let rows = sqlx::query_as(
            "select id, fingerprint, answer, at from commands where id in (select value from json_each(?))",
        )
        .bind(json!(ids).to_string())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("look up a command"))?;
        let command = |row| columns::command(row).map_err(|error| WriteError::Refused(error.to_string()));
        rows.into_iter().map(command).collect()
    }

    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError> {
        let row = |entry: &&AuditEntry| {
            let AuditEntry { at, by, client, action, target, result, code, about: _ } = entry;
            let [by, client, action, result] = [by, client, action, result].map(|text| without_nul(text));
            let [target, code] = [target, code].map(|text| text.as_deref().map(without_nul));
            json!([micros(*at), by, client, action, target, result, code, columns::about(entry)])
        };
        let sql = "insert into audit (at, by_whom, client, action, target, result, code, about)
                   select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7
                   from json_each(?)";
        self.write("write the audit", sql, entries.iter().map(row)).await.map(drop)
    }
}
