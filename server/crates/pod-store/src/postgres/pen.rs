//! The writing half: the one connection that changes the database.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{
    AssertSqlSafe, Connection, PgConnection, Postgres,
    postgres::{PgArguments, PgConnectOptions},
    query::Query,
};

use super::{Hosts, hosts, leases, session, write_failed};
use crate::{
    engine::Pen,
    txn::{Txn, WriteError},
};

pub(super) struct PostgresPen {
    /// `None` after it failed; the next `begin` reconnects.
    connection: Option<PgConnection>,
    options: PgConnectOptions,
    in_txn: bool,
    /// The number of the group that is being written. Its transaction leaves it in `host_marks`, where a retry finds it.
    mark: i64,
    pub(super) hosts: Arc<Hosts>,
}

impl PostgresPen {
    pub(super) fn new(connection: PgConnection, options: PgConnectOptions, hosts: Arc<Hosts>) -> Self {
        Self { connection: Some(connection), options, in_txn: false, mark: 1, hosts }
    }

    /// The connection, reconnected if it is gone.
    async fn connected(&mut self) -> Result<&mut PgConnection, WriteError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(session::open(&self.options).await.map_err(write_failed("reach the database"))?)),
        }
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), WriteError> {
        sqlx::query(sql).execute(self.txn()?).await.map(drop).map_err(write_failed("begin or end a transaction"))
    }

    /// Returns the number of rows that changed.
    pub(super) async fn run(
        &mut self,
        operation: &'static str,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<u64, WriteError> {
        let done = query.execute(self.txn()?).await.map_err(write_failed(operation))?;
        Ok(done.rows_affected())
    }

    pub(super) fn txn(&mut self) -> Result<&mut PgConnection, WriteError> {
        self.connection.as_mut().ok_or_else(|| WriteError::Failed("the database connection is gone".to_owned()))
    }
}

#[async_trait]
impl Pen for PostgresPen {
    /// The connection may have died since the last transaction (the server was restarted), so a failure is retried once
    /// on a new connection; nothing is lost by that.
    async fn begin(&mut self) -> Result<(), WriteError> {
        if self.connection.is_some() && self.control("begin").await.is_ok() {
            self.in_txn = true;
            return Ok(());
        }
        self.connection = Some(session::open(&self.options).await.map_err(write_failed("reach the database"))?);
        self.control("begin").await?;
        self.in_txn = true;
        Ok(())
    }

    /// This host's number, or 0 if its lease is gone.
    async fn host_epoch(&mut self) -> Result<i64, WriteError> {
        let host = self.hosts.member.id();
        Ok(leases::held_in_txn(self.txn()?, host).await?.unwrap_or(0))
    }

    fn words(&mut self) -> Result<Txn<'_>, WriteError> {
        Ok(Txn::Postgres(self.txn()?, |operation, error| write_failed(operation)(error)))
    }

    /// Leaves the group's mark in the same round trip.
    async fn commit(&mut self) -> Result<(), WriteError> {
        let (mark, host) = (self.mark, self.hosts.member.id());
        let sql = format!("update host_marks set mark = {mark} where host = {host}; commit");
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(self.txn()?).await;
        done.map_err(write_failed("end a transaction"))?;
        self.in_txn = false;
        Ok(())
    }

    async fn landed(&mut self) -> Result<Option<bool>, WriteError> {
        let host = self.hosts.member.id();
        let found = leases::mark_in_txn(self.txn()?, host).await?;
        Ok(found.map(|found| found == self.mark))
    }

    fn settle(&mut self) {
        self.mark += 1;
    }

    fn part(&mut self) {
        self.connection = None;
    }

    async fn rollback(&mut self) {
        if !std::mem::take(&mut self.in_txn) {
            return;
        }
        if let Err(error) = self.control("rollback").await {
            tracing::warn!(?error, "a transaction could not be rolled back; reconnecting");
            self.connection = None;
        }
    }

    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        let hosts = self.hosts.clone();
        let joined = hosts::join_again(self.connected().await?, &hosts).await;
        if joined.is_err() {
            // Whatever happened to the connection while this host was held up, the next try uses a new one.
            self.connection = None;
        }
        joined.map_err(write_failed("join the hosts of the database again"))
    }

    /// Releases the Pods, so that the other hosts need not wait until this one is found to be dead.
    async fn close(self: Box<Self>) {
        let Some(mut connection) = self.connection else { return };
        if let Err(error) = hosts::leave(&mut connection, self.hosts.member.id()).await {
            tracing::debug!(%error, "this host could not say that it goes; the others find out");
        }
        if let Err(error) = connection.close().await {
            tracing::debug!(%error, "the writing connection did not close cleanly");
        }
    }
}
