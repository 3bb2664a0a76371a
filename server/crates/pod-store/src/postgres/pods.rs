//! Pods: one row each, found by worker id, by name, or because a restart has to look at them.

use std::collections::HashMap;

use protocol::{PodName, WorkerId};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{read_failed, write_failed};
use crate::{
    Checkpoint, HostRow, NewPod, PodGroup, PodKey, PodRow, StoreError,
    columns::{self, micros, pod_columns, pod_tables},
    engine::{UpdateLine, WriteError},
};

/// One page of the Pods that an index of their own holds.
macro_rules! grouped {
    ($condition:literal) => {
        concat!(
            "select ",
            pod_columns!(),
            " from ",
            pod_tables!(),
            " where ",
            $condition,
            " and pods.key > $1 order by pods.key limit $2"
        )
    };
}

pub(super) async fn find(pool: &PgPool, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.worker_id = $1"))
        .bind(worker_id.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn find_by_key(pool: &PgPool, key: PodKey) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.key = $1"))
        .bind(key.0)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod by key"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn find_by_name(pool: &PgPool, name: &PodName) -> Result<Option<PodRow>, StoreError> {
    let row = sqlx::query(concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.name = $1"))
        .bind(name.as_str())
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a Pod by name"))?.as_ref().map(pod_row).transpose()
}

pub(super) async fn page(pool: &PgPool, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        " from ",
        pod_tables!(),
        " where pods.key > $1 order by pods.key limit $2"
    ))
    .bind(after.0)
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list Pods"))?.iter().map(pod_row).collect()
}

pub(super) async fn page_of(
    pool: &PgPool,
    group: PodGroup,
    after: PodKey,
    limit: u32,
) -> Result<Vec<PodRow>, StoreError> {
    // The words of the index, so that it can be the one that is walked.
    let text = match group {
        PodGroup::WithRules => grouped!(r#"strpos(pods.spec, '"permissions":[{') > 0"#),
        PodGroup::Halted => grouped!("pods.state in ('waiting', 'paused')"),
    };
    let rows = sqlx::query(text).bind(after.0).bind(i64::from(limit)).fetch_all(pool).await;
    rows.map_err(read_failed("list some Pods"))?.iter().map(pod_row).collect()
}

/// Those that are not stopped, at most so many.
pub(super) async fn living_count(pool: &PgPool, limit: i64) -> Result<i64, StoreError> {
    let count =
        sqlx::query_scalar("select count(*) from (select key from pods where state <> 'stopped' limit $1) living")
            .bind(limit)
            .fetch_one(pool)
            .await;
    count.map_err(read_failed("count Pods"))
}

/// One line for each.
pub(super) async fn names(pool: &PgPool) -> Result<String, StoreError> {
    let names = sqlx::query_scalar("select coalesce(string_agg(name, E'\\n'), '') from pods").fetch_one(pool).await;
    names.map_err(read_failed("list the names of Pods"))
}

pub(super) async fn open(pool: &PgPool) -> Result<Vec<PodRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        " from ",
        pod_tables!(),
        " where pods.key in (
              select key from pods where open
              union select pod from inbox
              union select mail.pod from mail cross join pods addressee
                    where not mail.is_taken and addressee.key = mail.pod and addressee.state <> 'stopped'
          ) order by pods.key"
    ))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list open Pods"))?.iter().map(pod_row).collect()
}

/// Reads [`pod_columns`].
pub(super) fn pod_row(row: &PgRow) -> Result<PodRow, StoreError> {
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
    connection: &mut PgConnection,
    host: &HostRow,
    pods: &[&NewPod],
) -> Result<Vec<PodKey>, WriteError> {
    let column = |text: fn(&NewPod) -> &str| pods.iter().map(|pod| text(pod)).collect::<Vec<_>>();
    let rows = sqlx::query(
        "insert into pods
         (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread, owner, home)
         select worker_id, name, at, at, state, false, spec, checkpoint, 0, 0, $7, $8
         from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[])
              with ordinality as line (worker_id, name, at, state, spec, checkpoint, place)
         order by place returning worker_id, key",
    )
    .bind(column(|pod| pod.worker_id.as_str()))
    .bind(column(|pod| pod.name.as_str()))
    .bind(pods.iter().map(|pod| micros(pod.created_at)).collect::<Vec<_>>())
    .bind(column(|pod| pod.state.as_str()))
    .bind(column(|pod| &pod.spec))
    .bind(column(|pod| &pod.checkpoint))
    .bind(host.id)
    .bind(&host.name)
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

pub(super) async fn update_in_txn(connection: &mut PgConnection, lines: &[UpdateLine<'_>]) -> Result<(), WriteError> {
    let checkpoints: Vec<Option<&Checkpoint>> = lines.iter().map(|line| line.checkpoint).collect();
    let of_checkpoint = || checkpoints.iter().copied();
    sqlx::query(
        "update pods set
             name = coalesce(line.name, pods.name),
             spec = coalesce(line.spec, pods.spec),
             state = coalesce(line.state, pods.state),
             open = coalesce(line.open, pods.open),
             checkpoint = coalesce(line.checkpoint, pods.checkpoint),
             checkpoint_seq = coalesce(line.checkpoint_seq, pods.checkpoint_seq),
             updated_at = coalesce(line.updated_at, pods.updated_at),
             unread = coalesce(line.unread, pods.unread),
             changed = pg_current_xact_id()
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[],
                     $8::bigint[], $9::bigint[])
              as line (pod, name, spec, state, open, checkpoint, checkpoint_seq, updated_at, unread)
         where pods.key = line.pod",
    )
    .bind(lines.iter().map(|line| line.pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.name.map(PodName::as_str)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.spec).collect::<Vec<_>>())
    .bind(of_checkpoint().map(|point| point.map(|point| point.state.as_str())).collect::<Vec<_>>())
    .bind(of_checkpoint().map(|point| point.map(|point| point.open)).collect::<Vec<_>>())
    .bind(of_checkpoint().map(|point| point.map(|point| point.json.as_str())).collect::<Vec<_>>())
    .bind(of_checkpoint().map(|point| point.map(|point| point.seq.0)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.updated_at.map(micros)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.unread.map(i64::from)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("update a Pod"))
}

pub(super) async fn delete_in_txn(connection: &mut PgConnection, pod: PodKey) -> Result<(), WriteError> {
    // The parts of one statement see the same moment; that is fine, for each looks at a table as it was.
    sqlx::query(
        "with gone_days as (delete from usage_days where pod = $1 returning day, input, cached, output, cost),
              kept_days as (
                  insert into usage_days as standing (pod, day, input, cached, output, cost)
                  select 0, day, input, cached, output, cost from gone_days
                  on conflict (pod, day) do update set
                      input = standing.input + excluded.input, cached = standing.cached + excluded.cached,
                      output = standing.output + excluded.output,
                      cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost)),
              gone_pairs as (delete from usage_links where low = $1 or high = $1),
              gone_texts as (delete from search_texts where pod = $1),
              gone_inputs as (delete from inbox where pod = $1),
              gone_copies as (delete from quarantine where pod = $1),
              gone_records as (delete from journal where pod = $1),
              gone_mail as (delete from mail where pod = $1),
              gone_links as (delete from children where child = $1 or parent = $1),
              gone_peers as (delete from peers where low = $1 or high = $1),
              gone_requests as (delete from peer_requests where low = $1 or high = $1),
              gone_messages as (delete from messages where sender = $1 or receiver = $1),
              gone_far_peers as (delete from far_peers where pod = $1),
              gone_far_messages as (delete from far_messages where pod = $1),
              told_others as (
                  insert into pods_gone (worker_id) select worker_id from pods where key = $1
                  on conflict (worker_id) do update set changed = excluded.changed)
         delete from pods where key = $1",
    )
    .bind(pod.0)
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("delete a Pod"))
}
