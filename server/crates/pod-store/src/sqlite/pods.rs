//! Pods: one row each, found by worker id, by name, or because a restart has to look at them.

use std::collections::HashMap;

use protocol::{PodName, WorkerId};
use serde_json::json;
use sqlx::{Row, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::{read_failed, write_failed};
use crate::{
    NewPod, PodGroup, PodKey, PodRow, StoreError,
    columns::{self, micros, pod_columns, pod_tables},
    engine::{UpdateLine, WriteError},
};

/// One page of the Pods that an index of their own holds.
macro_rules! grouped {
    ($index:literal, $condition:literal) => {
        concat!(
            "select ",
            pod_columns!(),
            " from ",
            pod_tables!(),
            " where pods.key in (select key from pods indexed by ",
            $index,
            " where ",
            $condition,
            " and key > ? order by key limit ?) order by pods.key"
        )
    };
}

pub(super) async fn find(pool: &SqlitePool, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.worker_id = ?"))
        .bind(worker_id.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn find_by_key(pool: &SqlitePool, key: PodKey) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.key = ?"))
        .bind(key.0)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod by key"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn find_by_name(pool: &SqlitePool, name: &PodName) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.name = ?"))
        .bind(name.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod by name"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn page(pool: &SqlitePool, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        " from ",
        pod_tables!(),
        " where pods.key > ? order by pods.key limit ?"
    ))
    .bind(after.0)
    .bind(limit)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list Pods"))?.iter().map(pod_row).collect()
}

pub(super) async fn page_of(
    pool: &SqlitePool,
    group: PodGroup,
    after: PodKey,
    limit: u32,
) -> Result<Vec<PodRow>, StoreError> {
    // The words of the index, so that it is the one that is walked.
    let text = match group {
        PodGroup::WithRules => grouped!("pods_with_rules", r#"instr(spec, '"permissions":[{') > 0"#),
        PodGroup::Halted => grouped!("pods_halted", "state in ('waiting', 'paused')"),
    };
    let rows = sqlx::query(text).bind(after.0).bind(limit).fetch_all(pool).await;
    rows.map_err(read_failed("list some Pods"))?.iter().map(pod_row).collect()
}

/// Those that are not stopped, at most so many.
pub(super) async fn living_count(pool: &SqlitePool, limit: i64) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar(
        "select count(*) from (select key from pods indexed by pods_living where state <> 'stopped' limit ?)",
    )
    .bind(limit)
    .fetch_one(pool)
    .await;
    count.map_err(read_failed("count Pods"))
}

/// One line for each.
pub(super) async fn names(pool: &SqlitePool) -> Result<String, StoreError> {
    let names = sqlx::query_scalar("select coalesce(group_concat(name, char(10)), '') from pods").fetch_one(pool).await;
    names.map_err(read_failed("list the names of Pods"))
}

pub(super) async fn open(pool: &SqlitePool) -> Result<Vec<PodRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        " from ",
        pod_tables!(),
        " where pods.key in (
              select key from pods where open = 1
              union select pod from inbox
              union select mail.pod from mail cross join pods addressee
                    where mail.is_taken = 0 and addressee.key = mail.pod and addressee.state <> 'stopped'
          ) order by pods.key"
    ))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list open Pods"))?.iter().map(pod_row).collect()
}

/// Reads [`pod_columns`].
pub(super) fn pod_row(row: &SqliteRow) -> Result<PodRow, StoreError> {
    let read = || -> Result<_, sqlx::Error> {
        Ok(columns::PodColumns {
            key: row.try_get(0)?,
            worker_id: row.try_get(1)?,
            name: row.try_get(2)?,
            created_at: row.try_get(3)?,
            updated_at: row.try_get(4)?,
            state: row.try_get(5)?,
            open: row.try_get(6)?,
            spec: row.try_get(7)?,
            checkpoint: row.try_get(8)?,
            head: row.try_get(9)?,
            unread: row.try_get(10)?,
            parent_key: row.try_get(11)?,
            parent_worker_id: row.try_get(12)?,
            children: row.try_get(13)?,
            peers: row.try_get(14)?,
            queued: row.try_get(15)?,
        })
    };
    read().map_err(read_failed("read a Pod's row"))?.try_into()
}

/// Keys in the order of `pods`.
pub(super) async fn create_in_txn(
    connection: &mut SqliteConnection,
    pods: &[&NewPod],
) -> Result<Vec<PodKey>, WriteError> {
    let lines: Vec<_> = pods
        .iter()
        .map(|pod| {
            json!([pod.worker_id, pod.name, micros(pod.created_at), pod.state.as_str(), pod.spec, pod.checkpoint])
        })
        .collect();
    let rows = sqlx::query(
        "insert into pods
         (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread)
         select value->>0, value->>1, value->>2, value->>2, value->>3, 0, value->>4, value->>5, 0, 0
         from json_each(?) where true
         returning worker_id, key",
    )
    .bind(json!(lines).to_string())
    .fetch_all(connection)
    .await
    .map_err(write_failed("create a Pod"))?;
    let keys: HashMap<String, i64> = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<Result<_, _>>()
        .map_err(write_failed("read a new Pod's key"))?;
    let key_of = |pod: &&NewPod| keys.get(pod.worker_id.as_str()).map(|key| PodKey(*key)).ok_or(WriteError::Conflict);
    pods.iter().map(key_of).collect()
}

pub(super) async fn update_in_txn(
    connection: &mut SqliteConnection,
    lines: &[UpdateLine<'_>],
) -> Result<(), WriteError> {
    let lines: Vec<_> = lines
        .iter()
        .map(|line| {
            json!([
                line.pod.0,
                line.name,
                line.spec,
                line.checkpoint.map(|checkpoint| checkpoint.state.as_str()),
                line.checkpoint.map(|checkpoint| i64::from(checkpoint.open)),
                line.checkpoint.map(|checkpoint| &checkpoint.json),
                line.checkpoint.map(|checkpoint| checkpoint.seq),
                line.updated_at.map(micros),
                line.unread,
            ])
        })
        .collect();
    sqlx::query(
        "update pods set
             name = coalesce(line.value->>1, name),
             spec = coalesce(line.value->>2, spec),
             state = coalesce(line.value->>3, state),
             open = coalesce(line.value->>4, open),
             checkpoint = coalesce(line.value->>5, checkpoint),
             checkpoint_seq = coalesce(line.value->>6, checkpoint_seq),
             updated_at = coalesce(line.value->>7, updated_at),
             unread = coalesce(line.value->>8, unread)
         from json_each(?) line where pods.key = line.value->>0",
    )
    .bind(json!(lines).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("update a Pod"))
}

/// One text, several statements: they run in one go on the database's thread, and each argument is the Pod's key.
const DELETE: &str = "insert into usage_days (pod, day, input, cached, output, cost)
             select 0, day, input, cached, output, cost from usage_days where pod = ?
             on conflict (pod, day) do update set
                 input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output,
                 cost = coalesce(cost + excluded.cost, cost, excluded.cost);
         delete from usage_days where pod = ?;
         delete from usage_links where low = ?;
         delete from usage_links where high = ?;
         delete from search_texts where pod = ?;
         delete from inbox where pod = ?;
         delete from quarantine where pod = ?;
         delete from journal where pod = ?;
         delete from mail where pod = ?;
         delete from children where child = ?;
         delete from children where parent = ?;
         delete from peers where low = ?;
         delete from peers where high = ?;
         delete from peer_requests where low = ?;
         delete from peer_requests where high = ?;
         delete from messages where sender = ?;
         delete from messages where receiver = ?;
         delete from far_peers where pod = ?;
         delete from far_messages where pod = ?;
         delete from pods where key = ?";

pub(super) async fn delete_in_txn(connection: &mut SqliteConnection, pod: PodKey) -> Result<(), WriteError> {
    let query = DELETE.matches('?').fold(sqlx::query(DELETE), |query, _| query.bind(pod.0));
    query.execute(connection).await.map(drop).map_err(write_failed("delete a Pod"))
}
