//! Calls between hosts, and changes that this host has not seen yet.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::{Seq, WorkerId};
use serde_json::json;
use sqlx::{
    FromRow, Sqlite, SqlitePool,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use super::{
    super::read_failed,
    hosts::{Hosts, now},
};
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

impl Hosts {
    /// Runs one statement and reads its rows.
    async fn rows<T: for<'r> FromRow<'r, SqliteRow>>(
        &self,
        operation: &'static str,
        pool: &SqlitePool,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.ask(pool, query).await;
        rows.and_then(|rows| rows.iter().map(T::from_row).collect()).map_err(read_failed(operation))
    }
}

#[async_trait]
impl Cluster for Hosts {
    fn member(&self) -> &Member {
        &self.member
    }

    async fn pass(&self) -> Result<(), String> {
        self.way.pass().await
    }

    async fn all(&self) -> Result<Vec<HostRow>, StoreError> {
        let rows =
            self.rows("list the hosts", &self.bus, sqlx::query("select id, name from hosts order by id")).await?;
        Ok(rows.into_iter().map(|(id, name)| HostRow { id, name }).collect())
    }

    async fn close(&self) {
        self.bus.close().await;
    }

    async fn call_put(&self, host: i64, body: &str) -> Result<i64, StoreError> {
        let id = new_call_id();
        let put = sqlx::query("insert into host_calls (id, host, caller, body, at) values (?, ?, ?, ?, ?)");
        let put = put.bind(id).bind(host).bind(self.member.caller()).bind(body.to_owned()).bind(now());
        let _: Vec<(i64,)> = self.rows("ask another host", &self.bus, put).await?;
        self.notify(&format!("called {host}")).await;
        Ok(id)
    }

    async fn calls_take(&self) -> Result<Vec<HostCall>, StoreError> {
        let take = sqlx::query("update host_calls set is_taken = 1 where host = ? and not is_taken returning id, body");
        let rows = self.rows("read what other hosts ask", &self.bus, take.bind(self.member.id())).await?;
        let mut calls: Vec<HostCall> = rows.into_iter().map(|(id, body)| HostCall { id, body }).collect();
        calls.sort_by_key(|call| call.id);
        Ok(calls)
    }

    async fn call_answer(&self, id: i64, answer: &str) -> Result<(), StoreError> {
        let put = sqlx::query("update host_calls set answer = ? where id = ? returning caller");
        let callers = self.rows("answer another host", &self.bus, put.bind(answer.to_owned()).bind(id)).await?;
        for (caller,) in callers {
            let caller: i64 = caller;
            self.notify(&format!("answered {caller}")).await;
        }
        Ok(())
    }

    async fn call_forget(&self, id: i64) -> Result<(), StoreError> {
        let delete = sqlx::query("delete from host_calls where id = ?").bind(id);
        self.rows::<(i64,)>("end what another host asked", &self.bus, delete).await.map(drop)
    }

    async fn answers_take(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let taken = sqlx::query("delete from host_calls where caller = ? and answer is not null returning id, answer");
        self.rows("read answers of hosts", &self.bus, taken.bind(self.member.caller())).await
    }

    async fn call_withdraw(&self, id: i64) -> Result<bool, StoreError> {
        let delete = sqlx::query("delete from host_calls where id = ? and not is_taken returning id").bind(id);
        let rows: Vec<(i64,)> = self.rows("take back what another host was asked", &self.bus, delete).await?;
        Ok(!rows.is_empty())
    }

    async fn whereabouts(&self, pod: PodKey) -> Result<Whereabouts, StoreError> {
        let query = sqlx::query(
            "select hosts.id, hosts.name, pods.home from pods left join hosts on hosts.id = pods.owner
             where pods.key = ?",
        );
        let rows = self.rows("look for the host of a Pod", &self.readers, query.bind(pod.0)).await?;
        let Some((id, name, home)) = rows.into_iter().next() else { return Err(StoreError::PodGone) };
        let owner: (Option<i64>, Option<String>) = (id, name);
        Ok(Whereabouts { owner: owner.0.zip(owner.1).map(|(id, name)| HostRow { id, name }), home })
    }

    async fn left_behind(&self) -> Result<Vec<(WorkerId, String)>, StoreError> {
        let query = sqlx::query("select worker_id, home from pods where owner is null and home <> ?");
        let query = query.bind(self.member.identity().name.clone());
        let rows: Vec<(String, String)> = self.rows("list Pods of other hosts", &self.readers, query).await?;
        rows.into_iter().map(|(id, home)| Ok((WorkerId::parse(&id).map_err(damaged("worker id"))?, home))).collect()
    }

    async fn orphaned(&self) -> Result<Vec<PodRow>, StoreError> {
        let query = sqlx::query(concat!(
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
        ));
        let rows: Vec<PodColumns> = self.rows("list Pods that nobody runs", &self.readers, query).await?;
        rows.into_iter().map(columns::pod).collect()
    }

    async fn moves_since(&self, position: Option<&str>) -> Result<Moves, StoreError> {
        const OPERATION: &str = "look for changes by other hosts";
        let next: Vec<(i64,)> =
            self.rows(OPERATION, &self.readers, sqlx::query("select count + 1 from changes")).await?;
        let next = next.first().map_or(0, |(next,)| *next).to_string();
        let Some(position) = position else { return Ok(Moves { position: next, ..Moves::default() }) };
        let after: i64 = position.parse().unwrap_or(0);
        let query = sqlx::query("select key, worker_id, changed from pods where changed >= ?").bind(after);
        let changed: Vec<(i64, String, i64)> = self.rows(OPERATION, &self.readers, query).await?;
        let query = sqlx::query("select worker_id from pods_gone where changed >= ?").bind(after);
        let gone: Vec<(String,)> = self.rows(OPERATION, &self.readers, query).await?;
        let worker_id = |text: &String| WorkerId::parse(text).map_err(damaged("worker id"));
        let changed = changed.iter().map(|(key, id, number)| Ok((PodKey(*key), worker_id(id)?, number.to_string())));
        let changed = changed.collect::<Result<_, StoreError>>()?;
        Ok(Moves { position: next, changed, gone: gone.iter().map(|(id,)| worker_id(id)).collect::<Result<_, _>>()? })
    }

    async fn follow(
        &self,
        pods: &[(PodKey, Seq)],
        max_records: u32,
    ) -> Result<Vec<(PodKey, Vec<RawRecord>)>, StoreError> {
        let query = sqlx::query(
            "select pod, seq, class, cast(sum as integer), body from (
                 select journal.pod, journal.seq, journal.class, journal.sum, journal.body, row_number() over part as place,
                        sum(octet_length(journal.body)) over part as bytes
                 from json_each(?) followed cross join journal
                 where journal.pod = followed.value->>0 and journal.seq > followed.value->>1
                 window part as (partition by journal.pod order by journal.seq)
             ) where place <= ? and (place = 1 or bytes <= ?) order by pod, seq",
        );
        let after: Vec<_> = pods.iter().map(|(pod, after)| json!([pod.0, after.0])).collect();
        let query = query.bind(json!(after).to_string()).bind(i64::from(max_records)).bind(FOLLOWED_BYTES_MAX);
        let rows: Vec<(i64, i64, i64, Option<i64>, Body)> = self.rows("follow journals", &self.readers, query).await?;
        let mut followed: BTreeMap<i64, Vec<RawRecord>> = BTreeMap::new();
        for (pod, seq, class, sum, body) in rows {
            followed.entry(pod).or_default().push(columns::record((seq, class, sum, body))?);
        }
        Ok(followed.into_iter().map(|(pod, records)| (PodKey(pod), records)).collect())
    }
}
