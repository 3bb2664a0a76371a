//! The writing half: the pen of a SQLite file, and the leases, in the transaction that relies on them.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use protocol::{AuditEntry, CommandId, Seq};
use serde_json::json;

use super::{
    super::{SqlitePen, write_failed},
    hosts::{Hosts, join_again, leave},
};
use crate::{
    CommandRow, Fold, ForeignPod, HostRow, InboxRow, MailPut, NewMessage, NewPod, NewRecord, PodKey,
    engine::{JournalPen, LeasePen, LedgerPen, LinkLine, PeerPen, Pen, PodPen, SearchLine, UpdateLine},
    peer_plan::{PeerLines, ReceiptLine},
    txn::{Txn, WriteError},
    usage::SpentLine,
};

pub(super) struct SharedPen {
    file: SqlitePen,
    hosts: Arc<Hosts>,
    /// The number of the group that is being written, which its transaction leaves in `host_marks`.
    mark: i64,
}

impl SharedPen {
    pub(super) fn new(file: SqlitePen, hosts: Arc<Hosts>) -> Self {
        Self { file, hosts, mark: 1 }
    }
}

#[async_trait]
impl Pen for SharedPen {
    fn find(&self) -> Result<(), WriteError> {
        self.file.find()
    }

    async fn begin(&mut self) -> Result<(), WriteError> {
        self.file.begin().await
    }

    /// This host's number, or 0 if its lease is gone.
    async fn host_epoch(&mut self) -> Result<i64, WriteError> {
        let held: Option<i64> = sqlx::query_scalar("select id from hosts where id = ?")
            .bind(self.hosts.member.id())
            .fetch_optional(self.file.txn()?)
            .await
            .map_err(write_failed("look for this host's lease"))?;
        Ok(held.unwrap_or(0))
    }

    fn words(&mut self) -> Result<Txn<'_>, WriteError> {
        self.file.words()
    }

    async fn commit(&mut self) -> Result<(), WriteError> {
        sqlx::query("update host_marks set mark = ? where host = ?")
            .bind(self.mark)
            .bind(self.hosts.member.id())
            .execute(self.file.txn()?)
            .await
            .map_err(write_failed("end a transaction"))?;
        self.file.commit().await
    }

    async fn landed(&mut self) -> Result<Option<bool>, WriteError> {
        let found: Option<i64> = sqlx::query_scalar("select mark from host_marks where host = ?")
            .bind(self.hosts.member.id())
            .fetch_optional(self.file.txn()?)
            .await
            .map_err(write_failed("find out what became of a transaction"))?;
        Ok(found.map(|found| found == self.mark))
    }

    fn settle(&mut self) {
        self.mark += 1;
    }

    async fn rollback(&mut self) {
        self.file.rollback().await;
    }

    async fn rest(&mut self) {
        self.file.rest().await;
    }

    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        let hosts = self.hosts.clone();
        let joined = join_again(self.file.connected().await?, &hosts).await;
        joined.map_err(write_failed("join the hosts of the database again"))
    }

    /// Releases the Pods, so that the other hosts need not wait until this one is found to be dead.
    async fn close(mut self: Box<Self>) {
        let host = self.hosts.member.id();
        if let Ok(connection) = self.file.connected().await
            && let Err(error) = leave(connection, host).await
        {
            tracing::debug!(%error, "this host could not say that it goes; the others find out");
        }
        Box::new(self.file).close().await;
    }
}

#[async_trait]
impl PodPen for SharedPen {
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError> {
        let created = self.file.pods_create(pods).await?;
        let host = self.hosts.member.this();
        let keys: Vec<i64> = created.iter().map(|key| key.0).collect();
        sqlx::query("update pods set owner = ?, home = ? where key in (select value from json_each(?))")
            .bind(host.id)
            .bind(host.name)
            .bind(json!(keys).to_string())
            .execute(self.file.txn()?)
            .await
            .map_err(write_failed("own a new Pod"))?;
        Ok(created)
    }

    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError> {
        self.file.pods_update(lines).await
    }

    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError> {
        self.file.pod_delete(pod).await
    }

    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
        self.file.children_link(lines).await
    }

    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
        self.file.children_lend(lines).await
    }
}

#[async_trait]
impl JournalPen for SharedPen {
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        self.file.heads(pods).await
    }

    /// Each with who wrote it and who had the Pod, for the tests.
    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError> {
        self.file.records_append(lines).await?;
        let seqs: Vec<_> = lines.iter().map(|(pod, record)| json!([pod.0, record.seq])).collect();
        sqlx::query(
            "insert into lease_log (event, host, pod, seq, owner)
             select 'wrote', ?, value->>0, value->>1, (select owner from pods where key = value->>0) from json_each(?)",
        )
        .bind(self.hosts.member.id())
        .bind(json!(seqs).to_string())
        .execute(self.file.txn()?)
        .await
        .map(drop)
        .map_err(write_failed("log who writes"))
    }

    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError> {
        self.file.records_fold(lines).await
    }

    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
        self.file.usage_add(lines).await
    }

    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
        self.file.search_append(lines).await
    }
}

#[async_trait]
impl PeerPen for SharedPen {
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError> {
        self.file.peers_change(lines).await
    }

    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError> {
        self.file.messages_put(lines).await
    }

    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError> {
        self.file.messages_change(lines).await
    }
}

#[async_trait]
impl LedgerPen for SharedPen {
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError> {
        self.file.inbox_put(lines).await
    }

    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError> {
        self.file.inbox_take(lines).await
    }

    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError> {
        self.file.mail_put(lines).await
    }

    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError> {
        self.file.mail_take(lines).await
    }

    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError> {
        self.file.commands_insert(rows).await
    }

    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError> {
        self.file.commands_find(ids).await
    }

    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError> {
        self.file.audit_append(entries).await
    }
}

#[async_trait]
impl LeasePen for SharedPen {
    async fn claim(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let host = self.hosts.member.this();
        let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
        let keys = json!(keys).to_string();
        let claim = "update pods set owner = ?, home = ?
                     where owner is null and key in (select value from json_each(?))";
        let claim = sqlx::query(claim).bind(host.id).bind(host.name).bind(keys.clone());
        claim.execute(self.file.txn()?).await.map_err(write_failed("claim a Pod"))?;
        let own: Vec<(i64,)> =
            sqlx::query_as("select key from pods where owner = ? and key in (select value from json_each(?))")
                .bind(host.id)
                .bind(keys)
                .fetch_all(self.file.txn()?)
                .await
                .map_err(write_failed("claim a Pod"))?;
        self.file.heads(&own.into_iter().map(|(key,)| PodKey(key)).collect::<Vec<_>>()).await
    }

    async fn foreign(&mut self, pods: &[ForeignPod]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let wanted: Vec<_> = pods.iter().map(|pod| json!([pod.pod.0, pod.host])).collect();
        let held: Vec<(i64,)> = sqlx::query_as(
            "select pods.key from json_each(?) wanted cross join pods join hosts on hosts.id = pods.owner
             where pods.key = wanted.value->>0 and pods.owner = wanted.value->>1",
        )
        .bind(json!(wanted).to_string())
        .fetch_all(self.file.txn()?)
        .await
        .map_err(write_failed("look for another host's lease"))?;
        self.file.heads(&held.into_iter().map(|(key,)| PodKey(key)).collect::<Vec<_>>()).await
    }

    async fn owners(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, HostRow)>, WriteError> {
        let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "select pods.key, coalesce(pods.owner, 0), coalesce(hosts.name, '')
             from pods left join hosts on hosts.id = pods.owner where pods.key in (select value from json_each(?))",
        )
        .bind(json!(keys).to_string())
        .fetch_all(self.file.txn()?)
        .await
        .map_err(write_failed("look for the owner of a Pod"))?;
        Ok(rows.into_iter().map(|(key, id, name)| (PodKey(key), HostRow { id, name })).collect())
    }
}
