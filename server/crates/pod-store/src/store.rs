//! The handle to a database that everyone else uses.

mod audit;
mod blobs;
mod commands;
mod far;
mod figures;
mod hosts;
mod inboxes;
mod journals;
mod messages;
mod peers;
mod pods;
mod rules;
mod search;
mod sessions;
mod usage;

use std::{
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};

pub use self::{
    audit::Audit,
    blobs::Blobs,
    commands::Commands,
    far::Far,
    figures::Census,
    hosts::Hosts,
    inboxes::Inboxes,
    journals::Journals,
    messages::Messages,
    peers::Peers,
    pods::{Family, Pods},
    rules::Rules,
    search::Search,
    sessions::Sessions,
    usage::Usage,
};
use crate::{
    Batch, Committed, Database, Faults, HostIdentity, PodKey, StoreError, StoreOptions,
    chore::Chore,
    engine::Cluster,
    membership::Loops,
    meters::Meters,
    on_the_spot::settled,
    outage::{Health, Patience, Ticket},
    postgres,
    reader::{Engine, Reader},
    sqlite,
    writer::{self, Committer, Job, Writer},
};

/// How often to check that the database is still there while nobody writes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One database. Cheap to clone; the writer stops when the last clone is dropped, or on [`Store::close`].
///
/// This type writes; reads are methods of its parts, each of which borrows it.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// What a store and its parts share.
#[derive(Debug)]
pub(crate) struct Shared {
    reader: Reader,
    store_id: String,
    /// `None` once the store is closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    /// The sender lives as long as the writer's task.
    writer_alive: watch::Receiver<()>,
    health: Arc<Health>,
    meters: Meters,
    /// Signalled when something may have changed in the lines with other stores. Carries no data: readers read what
    /// changed.
    far: watch::Sender<()>,
    /// `Some` if other hosts may serve the database too.
    cluster: Option<Arc<dyn Cluster>>,
    faults: Option<Arc<dyn Faults>>,
    /// `None` once the store is closed.
    loops: Mutex<Option<Loops>>,
}

impl Store {
    /// Opens or creates the database, migrates it, and becomes its only writer: a previous one gets
    /// [`StoreError::Fenced`] from its next commit on.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        Self::open_as(options, HostIdentity::default()).await
    }

    /// Like [`Store::open`], but as one of several hosts if the database supports that: only a host with the same
    /// identity is replaced.
    pub async fn open_as(options: StoreOptions, identity: HostIdentity) -> Result<Self, StoreError> {
        let meters = Meters::default();
        let opened = match &options.database {
            #[cfg(feature = "shared-file")]
            Database::Sqlite { path } if options.way.is_some() => {
                sqlite::open_shared(path, &options, identity, &meters).await?
            }
            Database::Sqlite { path } => {
                settled(sqlite::open(path, &options)).await.map_err(|error| sqlite::at_start(error, path))?
            }
            Database::Postgres { url } => postgres::open(url, identity, &meters).await?,
        };
        let health = Arc::new(Health::default());
        let reader = Reader { readers: opened.readers, engine: opened.engine, health: health.clone() };
        let (cluster, loops) = opened.cluster.unzip();
        let (jobs, incoming) = mpsc::channel(writer::QUEUE_JOBS_MAX);
        let (alive, writer_alive) = watch::channel(());
        let group = Committer::new(opened.pen, opened.host_epoch, options.faults.clone(), cluster.clone());
        let writer = Writer::new(group, reader.clone(), meters.clone());
        tokio::spawn(async move {
            writer.run(incoming).await;
            drop(alive);
        });
        if matches!(options.database, Database::Sqlite { .. }) {
            tokio::spawn(look_for(Arc::downgrade(&reader.engine), jobs.downgrade(), health.clone()));
        }
        let shared = Shared {
            reader,
            store_id: opened.store_id,
            jobs: Mutex::new(Some(jobs)),
            writer_alive,
            health,
            meters,
            far: watch::Sender::new(()),
            cluster,
            faults: options.faults,
            loops: Mutex::new(loops),
        };
        shared.count_damaged().await;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The random id of this database, created with it. Reveals a cursor of another database.
    pub fn epoch(&self) -> &str {
        &self.shared.store_id
    }

    /// Writes a batch. When this returns `Ok`, the batch is durable. A caller that stops waiting does not undo it.
    ///
    /// Waits while [`writer::QUEUE_JOBS_MAX`] batches are queued, and briefly for a database that cannot be written.
    /// Only after [`StoreError::Unknown`] may it have been written in spite of the error; a command id in the batch
    /// makes repeating it safe.
    pub async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.commit_with(Patience::Short, batch).await
    }

    /// Like [`Store::commit`], but waits for a database that cannot be written as long as `patience` says.
    pub async fn commit_with(&self, patience: Patience, batch: Batch) -> Result<Committed, StoreError> {
        self.shared.commit(patience, batch).await
    }

    pub fn pods(&self) -> Pods<'_> {
        Pods(&self.shared)
    }

    pub fn rules(&self) -> Rules<'_> {
        Rules(&self.shared)
    }

    pub fn family(&self) -> Family<'_> {
        Family(&self.shared)
    }

    pub fn journals(&self) -> Journals<'_> {
        Journals(&self.shared)
    }

    pub fn inboxes(&self) -> Inboxes<'_> {
        Inboxes(&self.shared)
    }

    pub fn peers(&self) -> Peers<'_> {
        Peers(&self.shared)
    }

    pub fn messages(&self) -> Messages<'_> {
        Messages(&self.shared)
    }

    pub fn far(&self) -> Far<'_> {
        Far(&self.shared)
    }

    pub fn commands(&self) -> Commands<'_> {
        Commands(&self.shared)
    }

    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.shared)
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.shared)
    }

    pub fn search(&self) -> Search<'_> {
        Search(&self.shared)
    }

    pub fn blobs(&self) -> Blobs<'_> {
        Blobs(&self.shared)
    }

    pub fn usage(&self) -> Usage<'_> {
        Usage(&self.shared)
    }

    pub fn hosts(&self) -> Hosts<'_> {
        Hosts(&self.shared)
    }

    /// Whether it can be read and written now.
    pub fn health(&self) -> &Health {
        &self.shared.health
    }

    /// Tries a small read and a small write.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.probe_reading().await?;
        self.probe_writing().await
    }

    pub async fn probe_reading(&self) -> Result<(), StoreError> {
        self.pods().find_by_key(PodKey(0)).await.map(drop)
    }

    pub async fn probe_writing(&self) -> Result<(), StoreError> {
        self.shared.chore(Chore::Probe).await
    }

    /// Takes no more batches, finishes those that were accepted, and closes all connections.
    pub async fn close(&self) {
        // From here on no heartbeat is needed: this host releases its Pods.
        drop(self.shared.loops.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.shared.jobs().take());
        self.shared.health.closing.send_replace(true);
        let mut alive = self.shared.writer_alive.clone();
        // Nothing is ever sent on it; it only ends.
        while alive.changed().await.is_ok() {}
        self.shared.reader.close().await;
        if let Some(cluster) = self.shared.cluster() {
            cluster.close().await;
        }
    }
}

impl Shared {
    fn cluster(&self) -> Option<&dyn Cluster> {
        self.cluster.as_deref()
    }

    async fn commit(&self, patience: Patience, batch: Batch) -> Result<Committed, StoreError> {
        self.submit(batch, None, patience).await
    }

    async fn chore(&self, chore: Chore) -> Result<(), StoreError> {
        let patience = if matches!(chore, Chore::Rejoin) { Patience::Endless } else { Patience::Short };
        self.submit(Batch::default(), Some(chore), patience).await.map(drop)
    }

    /// Only for metrics: if the count fails, the previous value stays.
    async fn count_damaged(&self) {
        let count = self.reader.select("select count(*) from quarantine").count("count what is set aside").await;
        if let Ok(count) = count {
            self.health.damaged.store(count.unsigned_abs(), Ordering::Relaxed);
        }
    }

    async fn submit(&self, batch: Batch, chore: Option<Chore>, patience: Patience) -> Result<Committed, StoreError> {
        let is_far = !batch.far.is_empty() || batch.changes.iter().any(|change| !change.far.is_empty());
        let deletes = self.health.failures().damaged > 0 && batch.changes.iter().any(|change| change.delete);
        let ticket = Ticket::default();
        let outcome = tokio::select! {
            biased;
            outcome = self.written(batch, chore, ticket.clone()) => outcome,
            error = self.health.gives_up(&ticket, patience) => Err(error),
        };
        if is_far && outcome.is_ok() {
            self.far.send_replace(());
        }
        if deletes {
            self.count_damaged().await;
        }
        outcome.map_err(|error| self.reader.engine.in_file(error))
    }

    async fn written(&self, batch: Batch, chore: Option<Chore>, ticket: Ticket) -> Result<Committed, StoreError> {
        let jobs = self.jobs().clone().ok_or(StoreError::Closed)?;
        let (answer, answered) = oneshot::channel();
        let waiting = Some(self.meters.wait());
        jobs.send(Job { batch, chore, answer, ticket, waiting }).await.map_err(|_| StoreError::Closed)?;
        drop(jobs);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While nobody writes, makes the writer notice that the database is gone and tell everyone concerned.
async fn look_for(engine: Weak<dyn Engine>, jobs: mpsc::WeakSender<Job>, health: Arc<Health>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some((engine, jobs)) = engine.upgrade().zip(jobs.upgrade()) else { return };
        if !health.is_out() && engine.find().is_err() {
            // If the queue is full, others are writing.
            let _ = jobs.try_send(Job::probe());
        }
    }
}
