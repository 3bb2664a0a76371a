//! The writing half: the one connection that changes the database.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use protocol::{AuditEntry, CommandId, Seq};
use sqlx::{ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

use super::{
    Hosts, far, hosts, journal, leases, ledger, mail, messages, peers, pods, relations, search, usage, write_failed,
};
use crate::{
    CommandRow, FarChange, Fold, ForeignPod, HostRow, InboxRow, MailPut, NewMessage, NewPod, NewRecord, PodKey,
    chore::Chore,
    engine::{Cluster as _, LinkLine, Pen, SearchLine, UpdateLine, WriteError},
    peer_plan::{PeerLines, ReceiptLine},
    usage::SpentLine,
};

pub(super) struct PostgresPen {
    /// Absent after a rollback failed; the next `begin` connects anew.
    connection: Option<PgConnection>,
    options: PgConnectOptions,
    in_txn: bool,
    /// The number of the open transaction, or of the last one.
    txn: Option<String>,
    /// The number of the one whose commit failed last.
    doubtful: Option<String>,
    hosts: Arc<Hosts>,
}

impl PostgresPen {
    pub(super) fn new(connection: PgConnection, options: PgConnectOptions, hosts: Arc<Hosts>) -> Self {
        Self { connection: Some(connection), options, in_txn: false, txn: None, doubtful: None, hosts }
    }

    /// Its connection, made anew when it is gone.
    async fn connected(&mut self) -> Result<&mut PgConnection, WriteError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(self.options.connect().await.map_err(write_failed("reach the database"))?)),
        }
    }

    async fn run(&mut self, sql: &'static str) -> Result<(), WriteError> {
        sqlx::query(sql).execute(self.txn()?).await.map(drop).map_err(write_failed("begin or end a transaction"))
    }

    fn txn(&mut self) -> Result<&mut PgConnection, WriteError> {
        self.connection.as_mut().ok_or_else(|| WriteError::Failed("the database connection is gone".to_owned()))
    }
}

#[async_trait]
impl Pen for PostgresPen {
    /// A connection may have died since the last transaction (the server was restarted): nothing is lost by a second
    /// try on a new one.
    async fn begin(&mut self) -> Result<(), WriteError> {
        if self.connection.is_some() && self.run("begin").await.is_ok() {
            self.in_txn = true;
            return Ok(());
        }
        self.connection = Some(self.options.connect().await.map_err(write_failed("reach the database"))?);
        self.run("begin").await?;
        self.in_txn = true;
        Ok(())
    }

    /// This host's number, or 0 when it stands no more.
    async fn host_epoch(&mut self) -> Result<i64, WriteError> {
        let host = self.hosts.id();
        let (host, txn) = leases::held_in_txn(self.txn()?, host).await?.unzip();
        self.txn = txn;
        Ok(host.unwrap_or(0))
    }

    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError> {
        ledger::commands_insert_in_txn(self.txn()?, rows).await
    }

    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError> {
        ledger::commands_find_in_txn(self.txn()?, ids).await
    }

    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        journal::heads_in_txn(self.txn()?, pods).await
    }

    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError> {
        let host = self.hosts.this();
        pods::create_in_txn(self.txn()?, &host, pods).await
    }

    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError> {
        pods::update_in_txn(self.txn()?, lines).await
    }

    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError> {
        pods::delete_in_txn(self.txn()?, pod).await
    }

    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
        relations::link_in_txn(self.txn()?, lines).await
    }

    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
        relations::lend_in_txn(self.txn()?, lines).await
    }

    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError> {
        peers::change_in_txn(self.txn()?, lines).await
    }

    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError> {
        journal::append_in_txn(self.txn()?, lines).await
    }

    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError> {
        journal::fold_in_txn(self.txn()?, lines).await
    }

    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
        usage::add_in_txn(self.txn()?, lines).await
    }

    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError> {
        ledger::inbox_put_in_txn(self.txn()?, lines).await
    }

    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError> {
        ledger::inbox_take_in_txn(self.txn()?, lines).await
    }

    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError> {
        mail::put_in_txn(self.txn()?, lines).await
    }

    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError> {
        mail::take_in_txn(self.txn()?, lines).await
    }

    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError> {
        messages::put_in_txn(self.txn()?, lines).await
    }

    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError> {
        messages::change_in_txn(self.txn()?, lines).await
    }

    async fn far_change(&mut self, change: &FarChange) -> Result<(), WriteError> {
        far::change_in_txn(self.txn()?, change).await
    }

    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
        search::append_in_txn(self.txn()?, lines).await
    }

    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError> {
        ledger::audit_append_in_txn(self.txn()?, entries).await
    }

    async fn chore(&mut self, chore: &Chore) -> Result<(), WriteError> {
        ledger::chore_in_txn(self.txn()?, chore).await
    }

    async fn commit(&mut self) -> Result<(), WriteError> {
        if let Err(error) = self.run("commit").await {
            self.doubtful = self.txn.take();
            return Err(error);
        }
        self.in_txn = false;
        self.doubtful = None;
        Ok(())
    }

    async fn landed(&mut self) -> Result<Option<bool>, WriteError> {
        match self.doubtful.clone() {
            Some(txn) => leases::landed_in_txn(self.txn()?, &txn).await,
            None => Ok(None),
        }
    }

    async fn rollback(&mut self) {
        if !std::mem::take(&mut self.in_txn) {
            return;
        }
        if let Err(error) = self.run("rollback").await {
            tracing::warn!(?error, "a transaction could not be rolled back; connecting anew");
            self.connection = None;
        }
    }

    async fn claim(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let host = self.hosts.this();
        leases::claim_in_txn(self.txn()?, &host, pods).await
    }

    async fn foreign(&mut self, pods: &[ForeignPod]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        leases::foreign_in_txn(self.txn()?, pods).await
    }

    async fn owners(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, HostRow)>, WriteError> {
        leases::owners_in_txn(self.txn()?, pods).await
    }

    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        let hosts = self.hosts.clone();
        let joined = hosts::join_again(self.connected().await?, &hosts).await;
        if joined.is_err() {
            // Whatever became of the connection while this host was held up: the next try takes a new one.
            self.connection = None;
        }
        joined.map_err(write_failed("join the hosts of the database again"))
    }

    /// Gives the Pods back: others need not wait until this host is found to be dead.
    async fn close(self: Box<Self>) {
        let Some(mut connection) = self.connection else { return };
        if let Err(error) = hosts::leave(&mut connection, self.hosts.id()).await {
            tracing::debug!(%error, "this host could not say that it goes; the others find out");
        }
        if let Err(error) = connection.close().await {
            tracing::debug!(%error, "the writing connection did not close cleanly");
        }
    }
}
