//! Pods and their parents: one row for each Pod, and one for each parent and child.

use std::collections::HashMap;

use async_trait::async_trait;
use serde_json::json;
use sqlx::Row;

use super::{SqlitePen, write_failed};
use crate::{
    NewPod, PodKey,
    columns::micros,
    engine::{LinkLine, PodPen, UpdateLine},
    txn::WriteError,
};

#[async_trait]
impl PodPen for SqlitePen {
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError> {
        let line = |pod: &&NewPod| {
            json!([pod.worker_id, pod.name, micros(pod.created_at), pod.state.as_str(), pod.spec, pod.checkpoint])
        };
        let lines: Vec<_> = pods.iter().map(line).collect();
        let rows = sqlx::query(
            "insert into pods
             (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread)
             select value->>0, value->>1, value->>2, value->>2, value->>3, 0, value->>4, value->>5, 0, 0
             from json_each(?) where true
             returning worker_id, key",
        )
        .bind(json!(lines).to_string())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("create a Pod"))?;
        let keys: HashMap<String, i64> = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, _>>()
            .map_err(write_failed("read a new Pod's key"))?;
        let key_of =
            |pod: &&NewPod| keys.get(pod.worker_id.as_str()).map(|key| PodKey(*key)).ok_or(WriteError::Conflict);
        pods.iter().map(key_of).collect()
    }

    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError> {
        let row = |line: &UpdateLine<'_>| {
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
                line.drafts,
            ])
        };
        let sql = "update pods set
                       name = coalesce(line.value->>1, name),
                       spec = coalesce(line.value->>2, spec),
                       state = coalesce(line.value->>3, state),
                       open = coalesce(line.value->>4, open),
                       checkpoint = coalesce(line.value->>5, checkpoint),
                       checkpoint_seq = coalesce(line.value->>6, checkpoint_seq),
                       updated_at = coalesce(line.value->>7, updated_at),
                       unread = coalesce(line.value->>8, unread),
                       drafts = coalesce(line.value->>9, drafts)
                   from json_each(?) line where pods.key = line.value->>0";
        self.write("update a Pod", sql, lines.iter().map(row)).await.map(drop)
    }

    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError> {
        let query = DELETE.matches('?').fold(sqlx::query(DELETE), |query, _| query.bind(pod.0));
        query.execute(self.txn()?).await.map(drop).map_err(write_failed("delete a Pod"))
    }

    /// Skips a parent that the same batch deletes.
    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
        let row =
            |line: &LinkLine<'_>| json!([line.child.0, line.link.parent.0, line.link.scope, i64::from(line.is_lent)]);
        let sql = "insert into children (child, parent, scope, is_lent)
                   select line.value->>0, line.value->>1, line.value->>2, line.value->>3
                   from json_each(?) line cross join pods where pods.key = line.value->>1
                   on conflict (child) do update set
                       parent = excluded.parent, scope = excluded.scope, is_lent = excluded.is_lent";
        self.write("link a child to its parent", sql, lines.iter().map(row)).await.map(drop)
    }

    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
        let rows = lines.iter().map(|(child, is_lent)| json!([child.0, i64::from(*is_lent)]));
        let sql = "update children set is_lent = line.value->>1
                   from json_each(?) line where children.child = line.value->>0";
        self.write("change a loan", sql, rows).await.map(drop)
    }
}

/// Several statements in one text, so that they run in one go on the database's thread; each argument is the Pod's key.
/// The usage of the Pod and of its deleted children goes to its parent, if it has one (`store/usage.rs`).
const DELETE: &str = "insert into usage (pod, day, provider, model, currency, input, cached, written, output, cost, estimated)
             select coalesce((select -parent from children where child = ?), 0), day, provider, model, currency, input, cached,
                    written, output, cost, estimated
             from usage where pod in (?, -?)
             on conflict (pod, day, provider, model, currency) do update set
                 input = input + excluded.input, cached = cached + excluded.cached, written = written + excluded.written,
                 output = output + excluded.output, cost = coalesce(cost + excluded.cost, cost, excluded.cost),
                 estimated = max(estimated, excluded.estimated);
         delete from usage where pod in (?, -?);
         delete from blob_uses where pod = ?;
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
