//! Mailboxes: what a Pod is to be told, kept until its journal holds it.

use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    MailPut, MailRow, PodKey, StoreError,
    columns::{self, micros},
    engine::WriteError,
};

pub(super) async fn waiting(pool: &SqlitePool, pod: PodKey) -> Result<Vec<MailRow>, StoreError> {
    let rows = sqlx::query_as("select key, body, at from mail where is_taken = 0 and pod = ? order by id")
        .bind(pod.0)
        .fetch_all(pool)
        .await;
    rows.map_err(read_failed("read a mailbox"))?.into_iter().map(columns::mail).collect()
}

pub(super) async fn put_in_txn(connection: &mut SqliteConnection, lines: &[&MailPut]) -> Result<(), WriteError> {
    let rows: Vec<_> = lines.iter().map(|mail| json!([mail.to.0, mail.key, mail.body, micros(mail.at)])).collect();
    sqlx::query(
        "insert into mail (pod, key, body, at, is_taken)
         select line.value->>0, line.value->>1, line.value->>2, line.value->>3, 0
         from json_each(?) line cross join pods where pods.key = line.value->>0
         on conflict do nothing",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("put mail into a mailbox"))
}

/// A key that was never put in is known from now on all the same: the journal holds what it stands for.
pub(super) async fn take_in_txn(
    connection: &mut SqliteConnection,
    lines: &[(PodKey, &String)],
) -> Result<(), WriteError> {
    let rows: Vec<_> = lines.iter().map(|(pod, key)| json!([pod.0, key])).collect();
    sqlx::query(
        "insert into mail (pod, key, body, at, is_taken)
         select value->>0, value->>1, '', 0, 1 from json_each(?) where true
         on conflict (pod, key) do update set body = '', is_taken = 1",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("take mail from a mailbox"))
}
