//! The handle that everyone else holds.

mod claims;
mod far;
mod hosts;
mod peers;
mod reads;
mod search;
mod sessions;
mod usage;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::Duration,
};

use protocol::{AuditEntry, Seq};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Batch, Committed, Database, Faults, HostIdentity, PodKey, StoreError, StoreOptions,
    chore::Chore,
    engine::{Cluster, Engine, Loops},
    outage::{Failures, Health, OUTAGE_WAIT_MAX, Outage, OutageKind, Patience, Ticket},
    postgres, sqlite,
    writer::{self, Job, Writer},
};

/// How often it is looked whether the database is still there, while nobody writes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

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
    health: Arc<Health>,
    /// Moves when something may have happened on the way to other stores. Carries nothing: what happened is read.
    far: watch::Sender<()>,
    /// Present when the database is a file.
    file: Option<PathBuf>,
    /// Present when other hosts may serve the database, too.
    cluster: Option<Arc<dyn Cluster>>,
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
        let (opened, file) = match &options.database {
            Database::Sqlite { path } => {
                let opened = sqlite::open(path, &options.remains).await;
                (opened.map_err(|error| sqlite::in_file(error, path))?, Some(path.clone()))
            }
            Database::Postgres { url } => (postgres::open(url, identity).await?, None),
        };
        let (cluster, loops) = opened.cluster.unzip();
        let (jobs, incoming) = mpsc::channel(writer::QUEUE_JOBS_MAX);
        let (alive, writer_alive) = watch::channel(());
        let health = Arc::new(Health::default());
        let (pen, engine) = (opened.pen, opened.engine.clone());
        let writer =
            Writer::new(pen, engine, opened.host_epoch, options.faults.clone(), cluster.clone(), health.clone());
        tokio::spawn(async move {
            writer.run(incoming).await;
            drop(alive);
        });
        if file.is_some() {
            tokio::spawn(look_for(Arc::downgrade(&opened.engine), jobs.downgrade(), health.clone()));
        }
        let jobs = Mutex::new(Some(jobs));
        let shared = Shared {
            engine: opened.engine,
            store_id: opened.store_id,
            jobs,
            writer_alive,
            health,
            far: watch::Sender::new(()),
            file,
            cluster,
            faults: options.faults,
            loops: Mutex::new(loops),
        };
        let store = Self { shared: Arc::new(shared) };
        store.count_damaged().await;
        Ok(store)
    }

    /// Random id of this database, made when it was created. A cursor of another database is told by it.
    pub fn epoch(&self) -> &str {
        &self.shared.store_id
    }

    /// Writes a batch. When this returns `Ok`, it is on the disk. A caller that stops waiting does not undo it.
    ///
    /// Waits while [`writer::QUEUE_JOBS_MAX`] batches are queued, and a short time for a database that cannot be written. After
    /// [`StoreError::Unknown`] alone it may be on the disk; a command id in the batch makes repeating it safe.
    pub async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.commit_with(Patience::Short, batch).await
    }

    /// As [`Store::commit`], waiting for a database that cannot be written as long as it is said.
    pub async fn commit_with(&self, patience: Patience, batch: Batch) -> Result<Committed, StoreError> {
        self.submit(batch, None, patience).await
    }

    /// Present while the database cannot be written; it is tried again and again until it can.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.shared.health.outage()
    }

    pub fn is_out(&self) -> bool {
        self.shared.health.is_out()
    }

    /// The database was deleted, moved or replaced, and is not back yet.
    pub fn is_lost(&self) -> bool {
        self.outage().borrow().as_ref().is_some_and(|outage| outage.kind == OutageKind::Lost)
    }

    /// Ends when an outage has gone on for [`OUTAGE_WAIT_MAX`] while this waited, or at once when the database is gone.
    pub async fn outlasts_waiting(&self) -> Outage {
        self.shared.health.outlasts(OUTAGE_WAIT_MAX).await
    }

    pub fn failures(&self) -> Failures {
        self.shared.health.failures()
    }

    /// Reads and writes a little, to see whether it can be done.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.probe_reading().await?;
        self.probe_writing().await
    }

    pub async fn probe_reading(&self) -> Result<(), StoreError> {
        self.read(self.engine().pod_find_by_key(crate::PodKey(0))).await.map(drop)
    }

    pub async fn probe_writing(&self) -> Result<(), StoreError> {
        self.chore(Chore::Probe).await
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
        self.shared.health.closing.send_replace(true);
        let mut alive = self.shared.writer_alive.clone();
        // Nothing is ever sent on it: it only ends.
        while alive.changed().await.is_ok() {}
        self.shared.engine.close().await;
        if let Some(cluster) = self.cluster() {
            cluster.close().await;
        }
    }

    pub(crate) fn cluster(&self) -> Option<&dyn Cluster> {
        self.shared.cluster.as_deref()
    }

    pub(crate) fn faults(&self) -> Option<&dyn Faults> {
        self.shared.faults.as_deref()
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.shared.engine
    }

    pub(crate) async fn chore(&self, chore: Chore) -> Result<(), StoreError> {
        let patience = if matches!(chore, Chore::Rejoin) { Patience::Endless } else { Patience::Short };
        self.submit(Batch::default(), Some(chore), patience).await.map(drop)
    }

    /// Counts it when a read fails.
    pub(crate) async fn read<T>(&self, read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut read = read.await;
        if let Err(StoreError::Unread(_)) = read
            && let Err(why) = self.engine().find()
        {
            read = Err(StoreError::Lost(why));
        }
        if matches!(
            read,
            Err(StoreError::Unread(_) | StoreError::Lost(_) | StoreError::Damaged(_) | StoreError::Database(_))
        ) {
            self.shared.health.read_failed();
        }
        read.map_err(|error| self.in_file(error))
    }

    /// Names the file that is damaged.
    fn in_file(&self, error: StoreError) -> StoreError {
        match &self.shared.file {
            Some(file) => sqlite::in_file(error, file),
            None => error,
        }
    }

    pub(crate) fn tell_damaged(&self, pod: PodKey, seq: Seq, reason: &str) {
        self.shared.health.tell_damaged(pod, seq, reason);
    }

    /// Only for figures: a count that fails stays what it was.
    pub(crate) async fn count_damaged(&self) {
        if let Ok(count) = self.read(self.engine().quarantined_count()).await {
            self.shared.health.damaged.store(count.unsigned_abs(), Ordering::Relaxed);
        }
    }

    async fn submit(&self, batch: Batch, chore: Option<Chore>, patience: Patience) -> Result<Committed, StoreError> {
        let is_far = !batch.far.is_empty() || batch.changes.iter().any(|change| !change.far.is_empty());
        let deletes = self.failures().damaged > 0 && batch.changes.iter().any(|change| change.delete);
        let ticket = Ticket::default();
        let outcome = tokio::select! {
            biased;
            outcome = self.written(batch, chore, ticket.clone()) => outcome,
            error = self.shared.health.gives_up(&ticket, patience) => Err(error),
        };
        if is_far && outcome.is_ok() {
            self.shared.far.send_replace(());
        }
        if deletes {
            self.count_damaged().await;
        }
        outcome.map_err(|error| self.in_file(error))
    }

    async fn written(&self, batch: Batch, chore: Option<Chore>, ticket: Ticket) -> Result<Committed, StoreError> {
        let jobs = self.jobs().clone().ok_or(StoreError::Closed)?;
        let (answer, answered) = oneshot::channel();
        jobs.send(Job { batch, chore, answer, ticket }).await.map_err(|_| StoreError::Closed)?;
        drop(jobs);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.shared.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the writer find out that the database is gone, while nobody else writes: it tells those who have to know.
async fn look_for(engine: Weak<dyn Engine>, jobs: mpsc::WeakSender<Job>, health: Arc<Health>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some((engine, jobs)) = engine.upgrade().zip(jobs.upgrade()) else { return };
        if !health.is_out() && engine.find().is_err() {
            // Full: then others write.
            let _ = jobs.try_send(Job::probe());
        }
    }
}
