//! What every layer of a host builds on: the store, the list of Pods, the host's lease and shutdown, and its health. It
//! knows nothing of running Pods.

mod lease;
mod outage;
mod seats;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use pod_store::{Batch, PodChange, PodKey, PodRow, PodUpdate, Store};
use protocol::{ApiError, WorkerId};
use tokio::sync::{Notify, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::outage::DatabaseState;
pub(crate) use self::outage::{Slip, reason};
use self::{lease::Lease, outage::Looked, seats::Seats};
use crate::{error, list::ListFeed, meters::Meters, pod_tokens::PodTokens};

/// The ground of one host.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) store: Store,
    pub(crate) list: ListFeed,
    pub(crate) lease: Lease,
    seats: Seats,
    pub(crate) stopping: CancellationToken,
    pub(crate) tracker: TaskTracker,
    /// Pods that a crash left open and that have not recovered yet.
    pub(crate) recovering: watch::Sender<BTreeSet<WorkerId>>,
    /// The result of the last check of the database.
    looked: tokio::sync::Mutex<Option<Looked>>,
    /// Pods that could not be restored, with the reason.
    pub(crate) failed: Mutex<BTreeMap<String, String>>,
    /// Records committed, commands received and viewers opened since the start.
    pub(crate) records: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) viewers: AtomicU64,
    /// Runs and tool calls that ended.
    pub(crate) meters: Meters,
    /// Signalled when a Pod here waits for the end of a usage limit.
    pub(crate) limited: Notify,
    /// The tokens with which agents of Pods reach this server.
    pub(crate) pod_tokens: PodTokens,
}

impl Ground {
    /// `pods_max` limits the Pods that are not stopped.
    pub(crate) fn new(store: Store, pods_max: u64) -> Self {
        Self {
            store,
            list: ListFeed::new(),
            lease: Lease::default(),
            seats: Seats::new(pods_max),
            stopping: CancellationToken::new(),
            tracker: TaskTracker::new(),
            recovering: watch::Sender::new(BTreeSet::new()),
            looked: tokio::sync::Mutex::default(),
            failed: Mutex::default(),
            records: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
            meters: Meters::default(),
            limited: Notify::new(),
            pod_tokens: PodTokens::default(),
        }
    }

    /// The Pod's row, once the Pod has recovered.
    pub(crate) async fn settled_row(&self, worker_id: &WorkerId) -> Result<Option<PodRow>, ApiError> {
        let mut recovering = self.recovering.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        self.unless_out(recovering.wait_for(|open| !open.contains(worker_id))).await;
        Ok(self.store.pods().find(worker_id).await?)
    }

    pub(crate) async fn existing_row(&self, worker_id: &WorkerId) -> Result<PodRow, ApiError> {
        self.settled_row(worker_id).await?.ok_or_else(|| error::no_such_pod(worker_id))
    }

    /// Waits until every Pod that a crash left open has recovered.
    pub(crate) async fn recovered(&self) {
        self.unless_out(self.recovering.subscribe().wait_for(BTreeSet::is_empty)).await;
    }

    pub(crate) async fn update_row(&self, key: PodKey, update: PodUpdate) -> Result<(), ApiError> {
        let change = PodChange { update: Some(update), ..PodChange::of(key) };
        let batch = Batch { changes: vec![change], ..Batch::default() };
        Ok(self.store.commit(batch).await.map(drop)?)
    }

    pub(crate) fn count_command(&self) {
        self.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// The error for a task that ended in the middle of something.
    pub(crate) fn interrupted(&self) -> ApiError {
        if self.store.hosts().is_shared() && !self.stopping.is_cancelled() {
            error::cut_off()
        } else {
            error::stopping()
        }
    }
}
