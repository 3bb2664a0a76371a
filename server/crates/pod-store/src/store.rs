//! The handle that everyone else holds.

use std::sync::{Arc, Mutex, PoisonError};

use protocol::AuditEntry;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Batch, Committed, Database, Faults, HostIdentity, StoreError, StoreOptions,
    chore::Chore,
    engine::Engine,
    postgres::{self, Hosts, Loops},
    sqlite,
    writer::{self, Job, Writer},
};

/// One database. Cheap to clone; the writer stops when the last clone is gone, or on [`Store::close`].
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Arc<dyn Engine>,
    store_id: String,
    /// Empty once the store is closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    /// Its sender lives as long as the writer's task.
    writer_alive: watch::Receiver<()>,
    /// Moves when something may have happened on the way to other stores. Carries nothing: what happened is read.
    far: watch::Sender<()>,
    /// Present when other hosts may serve the database, too.
    hosts: Option<Arc<Hosts>>,
    faults: Option<Arc<dyn Faults>>,
    /// Empty once the store is closed.
    loops: Mutex<Option<Loops>>,
}

impl Store {
    /// Opens or creates the database, brings its tables up to date, and becomes its only writer: whoever had it open
    /// before gets [`StoreError::Fenced`] from its next commit on.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        Self::open_as(options, HostIdentity::default()).await
    }

    /// As [`Store::open`], as one of several hosts if the database can have several: only who had it open under the same
    /// identity is replaced.
    pub async fn open_as(options: StoreOptions, identity: HostIdentity) -> Result<Self, StoreError> {
        let opened = match &options.database {
            Database::Sqlite { path } => sqlite::open(path).await?,
            Database::Postgres { url } => postgres::open(url, identity).await?,
        };
        let (hosts, loops) = opened.hosts.unzip();
        let (jobs, incoming) = mpsc::channel(writer::QUEUE_JOBS_MAX);
        let (alive, writer_alive) = watch::channel(());
        let writer =
            Writer::new(opened.pen, opened.engine.clone(), opened.host_epoch, options.faults.clone(), hosts.clone());
        tokio::spawn(async move {
            writer.run(incoming).await;
            drop(alive);
        });
        let jobs = Mutex::new(Some(jobs));
        let shared = Shared {
            engine: opened.engine,
            store_id: opened.store_id,
            jobs,
            writer_alive,
            far: watch::Sender::new(()),
            hosts,
            faults: options.faults,
            loops: Mutex::new(loops),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Random id of this database, made when it was created. A cursor of another database is told by it.
    pub fn epoch(&self) -> &str {
        &self.shared.store_id
    }

    /// Writes a batch. When this returns `Ok`, it is on the disk. A caller that stops waiting does not undo it.
    ///
    /// Waits while [`writer::QUEUE_JOBS_MAX`] batches are queued. After [`StoreError::Database`] the outcome may be
    /// unknown if the database failed in the commit itself; a command id in the batch makes repeating it safe.
    pub async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.submit(batch, None).await
    }

    /// Moves when this process wrote something for or from another store. Another process's writing moves it not, and
    /// a caller that stopped waiting for its commit may have left it where it was: look now and then, too.
    pub fn far_moved(&self) -> watch::Receiver<()> {
        self.shared.far.subscribe()
    }

    pub async fn audit_append(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.commit(Batch { audit: vec![entry], ..Batch::default() }).await.map(drop)
    }

    /// Takes no more batches, finishes those that were accepted, closes all connections.
    pub async fn close(&self) {
        // From here on this host need not say that it lives: it gives its Pods back.
        drop(self.shared.loops.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.jobs().take());
        let mut alive = self.shared.writer_alive.clone();
        // Nothing is ever sent on it: it only ends.
        while alive.changed().await.is_ok() {}
        self.shared.engine.close().await;
        if let Some(hosts) = self.hosts() {
            hosts.close().await;
        }
    }

    pub(crate) fn hosts(&self) -> Option<&Hosts> {
        self.shared.hosts.as_deref()
    }

    pub(crate) fn faults(&self) -> Option<&dyn Faults> {
        self.shared.faults.as_deref()
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.shared.engine
    }

    pub(crate) async fn chore(&self, chore: Chore) -> Result<(), StoreError> {
        self.submit(Batch::default(), Some(chore)).await.map(drop)
    }

    async fn submit(&self, batch: Batch, chore: Option<Chore>) -> Result<Committed, StoreError> {
        let jobs = self.jobs().clone().ok_or(StoreError::Closed)?;
        let is_far = !batch.far.is_empty() || batch.changes.iter().any(|change| !change.far.is_empty());
        let (answer, answered) = oneshot::channel();
        jobs.send(Job { batch, chore, answer }).await.map_err(|_| StoreError::Closed)?;
        drop(jobs);
        let outcome = answered.await.map_err(|_| StoreError::Closed)?;
        if is_far && outcome.is_ok() {
            self.shared.far.send_replace(());
        }
        outcome
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.shared.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
