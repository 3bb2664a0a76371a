//! This host among others: calls between hosts, and changes that this host has not seen yet.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::{Seq, WorkerId};

use super::{hosts::Hosts, read_failed};
use crate::{
    HostCall, HostRow, PodKey, PodRow, StoreError,
    checksum::RawRecord,
    columns::{self, Body, PodColumns, damaged, pod_columns, pod_tables},
    engine::Cluster,
    hosts::{Moves, Whereabouts},
    membership::{Bus as _, Member, new_call_id},
};

/// The approximate most bytes of one Pod's records that are followed at once.
const FOLLOWED_BYTES_MAX: i64 = 512 * 1024;
/// The owner's number and name, and the name of the host that ran the Pod last.
type WhereaboutsColumns = (Option<i64>, Option<String>, Option<String>);

/// The Pod's key, and a record's `seq, class, sum, body`.
type FollowedColumns = (i64, i64, i64, Option<i64>, Body);

#[async_trait]
impl Cluster for Hosts {
    fn member(&self) -> &Member {
        &self.member
    }

    async fn all(&self) -> Result<Vec<HostRow>, StoreError> {
        let rows: Result<Vec<(i64, String)>, _> =
            sqlx::query_as("select id, name from hosts order by id").fetch_all(&self.bus).await;
        let rows = rows.map_err(read_failed("list the hosts"))?;
        Ok(rows.into_iter().map(|(id, name)| HostRow { id, name }).collect())
    }

    async fn close(&self) {
        self.bus.close().await;
    }

    async fn call_put(&self, host: i64, body: &str) -> Result<i64, StoreError> {
        let id = new_call_id();
        let put = "insert into host_calls (id, host, caller, body) overriding system value values ($1, $2, $3, $4)";
        sqlx::query(put)
            .bind(id)
            .bind(host)
            .bind(self.member.caller())
            .bind(body)
            .execute(&self.bus)
            .await
            .map_err(read_failed("ask another host"))?;
        self.notify(&format!("called {host}")).await;
        Ok(id)
    }

    async fn calls_take(&self) -> Result<Vec<HostCall>, StoreError> {
        let rows: Result<Vec<(i64, String)>, _> =
            sqlx::query_as("update host_calls set is_taken = true where host = $1 and not is_taken returning id, body")
                .bind(self.member.id())
                .fetch_all(&self.bus)
                .await;
        let mut calls: Vec<HostCall> = rows
            .map_err(read_failed("read what other hosts ask"))?
            .into_iter()
            .map(|(id, body)| HostCall { id, body })
            .collect();
        calls.sort_by_key(|call| call.id);
        Ok(calls)
    }

    async fn call_answer(&self, id: i64, answer: &str) -> Result<(), StoreError> {
        let caller: Option<i64> =
            sqlx::query_scalar("update host_calls set answer = $2 where id = $1 returning caller")
                .bind(id)
                .bind(answer)
                .fetch_optional(&self.bus)
                .await
                .map_err(read_failed("answer another host"))?;
        if let Some(caller) = caller {
            self.notify(&format!("answered {caller}")).await;
        }
        Ok(())
    }

    async fn call_forget(&self, id: i64) -> Result<(), StoreError> {
        let done = sqlx::query("delete from host_calls where id = $1").bind(id).execute(&self.bus).await;
        done.map(drop).map_err(read_failed("end what another host asked"))
    }

    async fn answers_take(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let taken = "delete from host_calls where caller = $1 and answer is not null returning id, answer";
        sqlx::query_as(taken)
            .bind(self.member.caller())
            .fetch_all(&self.bus)
            .await
            .map_err(read_failed("read answers of hosts"))
    }

    async fn call_withdraw(&self, id: i64) -> Result<bool, StoreError> {
        sqlx::query("delete from host_calls where id = $1 and not is_taken")
            .bind(id)
            .execute(&self.bus)
            .await
            .map(|done| done.rows_affected() > 0)
            .map_err(read_failed("take back what another host was asked"))
    }

    async fn whereabouts(&self, pod: PodKey) -> Result<Whereabouts, StoreError> {
        let row: Result<Option<WhereaboutsColumns>, _> = sqlx::query_as(
            "select hosts.id, hosts.name, pods.home from pods left join hosts on hosts.id = pods.owner
             where pods.key = $1",
        )
        .bind(pod.0)
        .fetch_optional(&self.readers)
        .await;
        let Some((id, name, home)) = row.map_err(read_failed("look for the host of a Pod"))? else {
            return Err(StoreError::PodGone);
        };
        Ok(Whereabouts { owner: id.zip(name).map(|(id, name)| HostRow { id, name }), home })
    }

    async fn left_behind(&self) -> Result<Vec<(WorkerId, String)>, StoreError> {
        let rows: Result<Vec<(String, String)>, _> =
            sqlx::query_as("select worker_id, home from pods where owner is null and home <> $1")
                .bind(&self.member.identity().name)
                .fetch_all(&self.readers)
                .await;
        let rows = rows.map_err(read_failed("list Pods of other hosts"))?;
        rows.into_iter().map(|(id, home)| Ok((WorkerId::parse(&id).map_err(damaged("worker id"))?, home))).collect()
    }

    async fn orphaned(&self) -> Result<Vec<PodRow>, StoreError> {
        let rows: Result<Vec<PodColumns>, _> = sqlx::query_as(concat!(
            "select ",
            pod_columns!(),
            " from ",
            pod_tables!(),
            " where pods.owner is null and pods.key in (
                  select key from pods where open and owner is null
                  union select pod from inbox
                  union select mail.pod from mail cross join pods addressee
                        where not mail.is_taken and addressee.key = mail.pod and addressee.state <> 'stopped'
              ) order by pods.key"
        ))
        .fetch_all(&self.readers)
        .await;
        rows.map_err(read_failed("list Pods that nobody runs"))?.into_iter().map(columns::pod).collect()
    }

    async fn moves_since(&self, position: Option<&str>) -> Result<Moves, StoreError> {
        let failed = read_failed("look for changes by other hosts");
        let now = "select pg_snapshot_xmin(pg_current_snapshot())::text";
        let next: String = sqlx::query_scalar(now).fetch_one(&self.readers).await.map_err(&failed)?;
        let Some(position) = position else { return Ok(Moves { position: next, ..Moves::default() }) };
        let changed: Vec<(i64, String, String)> =
            sqlx::query_as("select key, worker_id, changed::text from pods where changed >= $1::text::xid8")
                .bind(position)
                .fetch_all(&self.readers)
                .await
                .map_err(&failed)?;
        let gone: Vec<String> = sqlx::query_scalar("select worker_id from pods_gone where changed >= $1::text::xid8")
            .bind(position)
            .fetch_all(&self.readers)
            .await
            .map_err(&failed)?;
        let worker_id = |text: &String| WorkerId::parse(text).map_err(damaged("worker id"));
        let changed = changed.iter().map(|(key, id, number)| Ok((PodKey(*key), worker_id(id)?, number.clone())));
        let changed = changed.collect::<Result<_, StoreError>>()?;
        Ok(Moves { position: next, changed, gone: gone.iter().map(worker_id).collect::<Result<_, _>>()? })
    }

    async fn follow(
        &self,
        pods: &[(PodKey, Seq)],
        max_records: u32,
    ) -> Result<Vec<(PodKey, Vec<RawRecord>)>, StoreError> {
        let rows: Result<Vec<FollowedColumns>, _> = sqlx::query_as(
            "select followed.pod, page.seq, page.class::bigint, page.sum, page.body
             from unnest($1::bigint[], $2::bigint[]) as followed (pod, after)
             cross join lateral (
                 select seq, class, sum, body from (
                     select seq, class, sum, body, row_number() over part as place, sum(octet_length(body)) over part as bytes
                     from (select seq, class, sum, body from journal where pod = followed.pod and seq > followed.after
                           order by seq limit $3) found
                     window part as (order by seq)
                 ) counted where place = 1 or bytes <= $4
             ) page order by followed.pod, page.seq",
        )
        .bind(pods.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
        .bind(pods.iter().map(|(_, after)| after.0).collect::<Vec<_>>())
        .bind(i64::from(max_records))
        .bind(FOLLOWED_BYTES_MAX)
        .fetch_all(&self.readers)
        .await;
        let mut followed: BTreeMap<i64, Vec<RawRecord>> = BTreeMap::new();
        for (pod, seq, class, sum, body) in rows.map_err(read_failed("follow journals"))? {
            followed.entry(pod).or_default().push(columns::record((seq, class, sum, body))?);
        }
        Ok(followed.into_iter().map(|(pod, records)| (PodKey(pod), records)).collect())
    }
}
