//! Pods and their parents: one row for each Pod, and one for each parent and child.

use std::collections::HashMap;

use async_trait::async_trait;
use protocol::PodName;
use sqlx::Row;

use super::{PostgresPen, write_failed};
use crate::{
    Checkpoint, NewPod, PodKey,
    columns::micros,
    engine::{LinkLine, PodPen, UpdateLine},
    txn::WriteError,
};

#[async_trait]
impl PodPen for PostgresPen {
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError> {
        let host = self.hosts.member.this();
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
        let checkpoints: Vec<Option<&Checkpoint>> = lines.iter().map(|line| line.checkpoint).collect();
        let of_checkpoint = || checkpoints.iter().copied();
        let query = sqlx::query(
            "update pods set
                 name = coalesce(line.name, pods.name),
                 spec = coalesce(line.spec, pods.spec),
                 state = coalesce(line.state, pods.state),
                 open = coalesce(line.open, pods.open),
                 checkpoint = coalesce(line.checkpoint, pods.checkpoint),
                 checkpoint_seq = coalesce(line.checkpoint_seq, pods.checkpoint_seq),
                 updated_at = coalesce(line.updated_at, pods.updated_at),
                 unread = coalesce(line.unread, pods.unread),
                 drafts = coalesce(line.drafts, pods.drafts),
                 changed = pg_current_xact_id()
             from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[],
                         $8::bigint[], $9::bigint[], $10::text[])
                  as line (pod, name, spec, state, open, checkpoint, checkpoint_seq, updated_at, unread, drafts)
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
        .bind(lines.iter().map(|line| line.drafts).collect::<Vec<_>>());
        self.run("update a Pod", query).await.map(drop)
    }

    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError> {
        // The parts of one statement all see the same snapshot, which is fine: each needs its table as it was. The
        // usage of the Pod and of its deleted children goes to its parent, if it has one (`store/usage.rs`).
        let query = sqlx::query(
            "with gone_usage as (
                      delete from usage where pod in ($1, -$1)
                      returning day, provider, model, currency, input, cached, written, output, cost, estimated),
                  kept_usage as (
                      insert into usage as standing (pod, day, provider, model, currency, input, cached, written, output, cost,
                                                     estimated)
                      select coalesce((select -parent from children where child = $1), 0), day, provider, model, currency,
                             sum(input)::bigint, sum(cached)::bigint, sum(written)::bigint, sum(output)::bigint,
                             sum(cost)::bigint, max(estimated)
                      from gone_usage group by day, provider, model, currency
                      on conflict (pod, day, provider, model, currency) do update set
                          input = standing.input + excluded.input, cached = standing.cached + excluded.cached,
                          written = standing.written + excluded.written, output = standing.output + excluded.output,
                          cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost),
                          estimated = greatest(standing.estimated, excluded.estimated)),
                  gone_uses as (delete from blob_uses where pod = $1),
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
        .bind(pod.0);
        self.run("delete a Pod", query).await.map(drop)
    }

    /// Skips a parent that the same batch deletes.
    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "insert into children (child, parent, scope, is_lent)
             select line.child, line.parent, line.scope, line.is_lent
             from unnest($1::bigint[], $2::bigint[], $3::text[], $4::boolean[]) as line (child, parent, scope, is_lent)
             join pods on pods.key = line.parent
             on conflict (child) do update set
                 parent = excluded.parent, scope = excluded.scope, is_lent = excluded.is_lent",
        )
        .bind(lines.iter().map(|line| line.child.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.link.parent.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.link.scope.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.is_lent).collect::<Vec<_>>());
        self.run("link a child to its parent", query).await.map(drop)
    }

    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "update children set is_lent = line.is_lent
             from unnest($1::bigint[], $2::boolean[]) as line (child, is_lent) where children.child = line.child",
        )
        .bind(lines.iter().map(|(child, _)| child.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, is_lent)| *is_lent).collect::<Vec<_>>());
        self.run("change a loan", query).await.map(drop)
    }
}
