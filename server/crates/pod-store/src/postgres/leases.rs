//! Leases, in the transaction that relies on them.

use async_trait::async_trait;
use protocol::Seq;
use sqlx::PgConnection;

use super::{PostgresPen, write_failed};
use crate::{ForeignPod, HostRow, PodKey, engine::LeasePen, txn::WriteError};

#[async_trait]
impl LeasePen for PostgresPen {
    async fn claim(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let host = self.hosts.member.this();
        let mut keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
        keys.sort_unstable();
        // Locked in the order of their keys, and read again after the lock: another host may have owned them until now.
        sqlx::query("select 1 from pods where key = any($1) and owner is null order by key for update")
            .bind(&keys)
            .execute(self.txn()?)
            .await
            .map_err(write_failed("claim a Pod"))?;
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "with claimed as (
                 update pods set owner = $2, home = $3, changed = pg_current_xact_id()
                 where key = any($1) and owner is null returning key, checkpoint_seq
             ), own as (
                 select key, checkpoint_seq from claimed
                 union all select key, checkpoint_seq from pods where key = any($1) and owner = $2
             )
             select key, greatest(checkpoint_seq, (select max(seq) from journal where pod = own.key)) from own",
        )
        .bind(&keys)
        .bind(host.id)
        .bind(&host.name)
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("claim a Pod"))?;
        Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
    }

    async fn foreign(&mut self, pods: &[ForeignPod]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "select pods.key, greatest(pods.checkpoint_seq, (select max(seq) from journal where pod = pods.key))
             from pods join hosts on hosts.id = pods.owner
             where (pods.key, pods.owner) in (select * from unnest($1::bigint[], $2::bigint[]))
             order by pods.key for update of pods for key share of hosts",
        )
        .bind(pods.iter().map(|pod| pod.pod.0).collect::<Vec<_>>())
        .bind(pods.iter().map(|pod| pod.host).collect::<Vec<_>>())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("look for another host's lease"))?;
        Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
    }

    async fn owners(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, HostRow)>, WriteError> {
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "select pods.key, coalesce(pods.owner, 0), coalesce(hosts.name, '')
             from pods left join hosts on hosts.id = pods.owner where pods.key = any($1)",
        )
        .bind(pods.iter().map(|pod| pod.0).collect::<Vec<_>>())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("look for the owner of a Pod"))?;
        Ok(rows.into_iter().map(|(key, id, name)| (PodKey(key), HostRow { id, name })).collect())
    }
}

/// The host's number, if its lease still exists. Declaring the host dead has to wait until this transaction ends; a
/// heartbeat does not.
pub(super) async fn held_in_txn(connection: &mut PgConnection, host: i64) -> Result<Option<i64>, WriteError> {
    sqlx::query_scalar("select id from hosts where id = $1 for key share")
        .bind(host)
        .fetch_optional(connection)
        .await
        .map_err(write_failed("look for this host's lease"))
}

/// The mark of the newest group that this host has written. Waits for a transaction of this host that was cut off and
/// has not ended yet.
///
/// The id of a transaction would not do: one that was not flushed, or not sent to the standby that was promoted, is
/// given to somebody else's transaction afterwards.
pub(super) async fn mark_in_txn(connection: &mut PgConnection, host: i64) -> Result<Option<i64>, WriteError> {
    sqlx::query_scalar("select mark from host_marks where host = $1 for update")
        .bind(host)
        .fetch_optional(connection)
        .await
        .map_err(write_failed("find out what became of a transaction"))
}
