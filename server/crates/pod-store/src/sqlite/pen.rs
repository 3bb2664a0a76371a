//! The writing half: the one connection that changes the file.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{Log, Watch, write_failed};
use crate::{
    engine::{LeasePen, Pen},
    txn::{Txn, WriteError},
};

pub(super) struct SqlitePen {
    /// `None` after a rollback failed; the next `begin` reconnects.
    connection: Option<SqliteConnection>,
    options: SqliteConnectOptions,
    in_txn: bool,
    /// As of the beginning of this transaction. Nobody else can write until it ends.
    host_epoch: i64,
    watch: Arc<Watch>,
    log: Log,
}

impl SqlitePen {
    pub(super) fn new(
        connection: SqliteConnection,
        options: SqliteConnectOptions,
        watch: Arc<Watch>,
        log: Log,
    ) -> Self {
        Self { connection: Some(connection), options, in_txn: false, host_epoch: 0, watch, log }
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), WriteError> {
        sqlx::query(sql).execute(self.txn()?).await.map(drop).map_err(write_failed("end a transaction"))
    }

    /// Passes all rows to `sql` at once, as one JSON array. Returns the number of rows that changed.
    pub(super) async fn write(
        &mut self,
        operation: &'static str,
        sql: &'static str,
        rows: impl IntoIterator<Item = Value>,
    ) -> Result<u64, WriteError> {
        let rows = Value::Array(rows.into_iter().collect()).to_string();
        let done = sqlx::query(sql).bind(rows).execute(self.txn()?).await.map_err(write_failed(operation))?;
        Ok(done.rows_affected())
    }

    pub(super) async fn connected(&mut self) -> Result<&mut SqliteConnection, WriteError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => {
                let mut connection = self.options.connect().await.map_err(write_failed("open the database"))?;
                self.log.settle(&mut connection).await.map_err(write_failed("make sure of the database's log"))?;
                self.watch.forget_log();
                Ok(none.insert(connection))
            }
        }
    }

    pub(super) fn txn(&mut self) -> Result<&mut SqliteConnection, WriteError> {
        self.connection.as_mut().ok_or_else(|| WriteError::Failed("the database connection is gone".to_owned()))
    }
}

#[async_trait]
impl Pen for SqlitePen {
    fn find(&self) -> Result<(), WriteError> {
        self.watch.check().map_err(WriteError::Lost)
    }

    async fn begin(&mut self) -> Result<(), WriteError> {
        let connection = self.connected().await?;
        // Both in one call, because each call is a round trip to the database's thread.
        let begin = sqlx::query_scalar("begin immediate; select host_epoch from meta").fetch_one(connection).await;
        // One half may have been done when the other fails.
        self.in_txn = true;
        self.host_epoch = begin.map_err(write_failed("begin a transaction"))?;
        Ok(())
    }

    async fn host_epoch(&mut self) -> Result<i64, WriteError> {
        Ok(self.host_epoch)
    }

    fn words(&mut self) -> Result<Txn<'_>, WriteError> {
        Ok(Txn::Sqlite(self.txn()?, |operation, error| write_failed(operation)(error)))
    }

    async fn commit(&mut self) -> Result<(), WriteError> {
        self.control("commit").await?;
        self.in_txn = false;
        Ok(())
    }

    async fn rollback(&mut self) {
        if !std::mem::take(&mut self.in_txn) {
            return;
        }
        match self.control("rollback").await {
            Ok(()) => (),
            // It never began (another process held the database during the whole wait), or SQLite has already ended it.
            Err(WriteError::Refused(sentence)) if sentence.contains("no transaction is active") => (),
            Err(error) => {
                tracing::warn!(?error, "a transaction could not be rolled back; reconnecting");
                self.connection = None;
            }
        }
    }

    async fn rest(&mut self) {
        if let Some(connection) = &mut self.connection {
            // Frees the page cache; the kernel caches the same pages.
            drop(sqlx::query("pragma shrink_memory").execute(connection).await);
        }
    }

    async fn close(self: Box<Self>) {
        let Some(mut connection) = self.connection else { return };
        // Leaves a single file with nothing to replay for the next start. Active readers may keep a part of the log.
        if let Err(error) = sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await {
            tracing::debug!(%error, "the write-ahead log stays for the next start");
        }
        if let Err(error) = connection.close().await {
            tracing::debug!(%error, "the writing connection did not close cleanly");
        }
    }
}

/// A single host serves the file, so its Pods have no owners.
impl LeasePen for SqlitePen {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_transaction_that_could_not_begin_leaves_nothing_to_roll_back_and_its_connection_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new().filename(folder.path().join("yoi.db")).create_if_missing(true);
        let options = options.busy_timeout(Duration::from_millis(20));
        let mut other = options.connect().await.unwrap();
        for sql in ["create table meta (host_epoch integer)", "insert into meta values (7)", "begin immediate"] {
            sqlx::query(sql).execute(&mut other).await.unwrap();
        }
        let watch = Watch::of(options.get_filename()).unwrap();
        let log = Log::of(options.get_filename(), None);
        let mut pen = SqlitePen::new(options.connect().await.unwrap(), options, Arc::new(watch), log);
        let refusal = pen.begin().await.unwrap_err();
        assert!(
            matches!(&refusal, WriteError::Failed(sentence) if sentence.contains("another process has held")),
            "{refusal:?}"
        );
        pen.rollback().await;
        // It is dropped, with a line in the log, only if a transaction may still be open.
        assert!(pen.connection.is_some());

        sqlx::query("rollback").execute(&mut other).await.unwrap();
        pen.begin().await.unwrap();
        assert_eq!(pen.host_epoch().await.unwrap(), 7);
        pen.rollback().await;
        assert!(pen.connection.is_some());
        sqlx::query("begin immediate").execute(&mut other).await.expect("nothing is held any more");
    }
}
