//! Changes that are true for several Pods at once, or not at all.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use pod_store::{Batch, Committed, FarChange, MessageChange, Patience, PeerChange, PodChange};
use protocol::{ApiError, AuditEntry, ErrorCode, WorkerId};
use tokio::sync::oneshot;

pub(crate) use crate::pod_task::Wanted;
use crate::{
    error,
    ground::Slip,
    host::Inner,
    hosts::{ROUNDS_MAX, Route},
    pod_task::{Held, Request},
};

/// The longest wait of anything that one Pod wants of others.
pub(crate) const PODS_WAIT_MAX: Duration = Duration::from_secs(5);

/// Pods that stand still, by id.
pub(crate) type Holding = BTreeMap<WorkerId, Held>;

/// What belongs to the transaction and to no single Pod.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(crate) command: Option<pod_store::CommandRow>,
    pub(crate) audit: Option<AuditEntry>,
    pub(crate) peers: Vec<PeerChange>,
    pub(crate) messages: Vec<MessageChange>,
    /// What happens on the way to other stores.
    pub(crate) far: Vec<FarChange>,
    /// Changes of Pods that need not stand still: those that come into being, those that cannot be loaded.
    pub(crate) others: Vec<PodChange>,
    /// Pods that have something to look at once it is written.
    pub(crate) wakes: Vec<WorkerId>,
}

impl Inner {
    /// Has these Pods stand still. In the order of their ids, whoever asks, so that nobody waits in a circle.
    pub(crate) async fn hold(self: &Arc<Self>, pods: &[&WorkerId]) -> Result<Holding, ApiError> {
        let mut sorted: Vec<&WorkerId> = pods.to_vec();
        sorted.sort();
        sorted.dedup();
        let mut holding = Holding::new();
        for worker_id in sorted {
            holding.insert(worker_id.clone(), self.hold_one(worker_id).await?);
        }
        Ok(holding)
    }

    /// A Pod of another host stands still there.
    async fn hold_one(self: &Arc<Self>, worker_id: &WorkerId) -> Result<Held, ApiError> {
        for _ in 0..ROUNDS_MAX {
            match self.route(worker_id).await? {
                Route::Here => return self.hold_here(worker_id).await,
                Route::There(host) => {
                    if let Some(held) = self.hold_there(host, worker_id).await? {
                        return Ok(held);
                    }
                }
            }
        }
        Err(error::moves_about())
    }

    pub(crate) async fn hold_here(self: &Arc<Self>, worker_id: &WorkerId) -> Result<Held, ApiError> {
        let (reply, held) = oneshot::channel();
        let slip = Slip::default();
        let asked = async {
            self.send(worker_id, Request::Hold { reply, slip: slip.clone() }).await?;
            held.await.map_err(|_| self.interrupted())?
        };
        self.answered(&slip, asked).await
    }

    /// Gives each held Pod its order and writes all of it in one transaction.
    pub(crate) async fn commit_together(
        self: &Arc<Self>,
        orders: Vec<(Held, Wanted)>,
        together: Together,
    ) -> Result<Committed, ApiError> {
        let mut prepared = Vec::with_capacity(orders.len());
        let foreign = orders.iter().filter_map(|(held, _)| held.foreign()).collect();
        for (held, wanted) in orders {
            prepared.push(held.prepare(wanted).await?);
        }
        let Together { command, audit, peers, mut messages, far, others: mut changes, wakes } = together;
        let mut outcomes = Vec::with_capacity(prepared.len());
        for (change, receipts, outcome) in prepared {
            changes.push(change);
            messages.extend(receipts);
            outcomes.push(outcome);
        }
        let batch = Batch { command, changes, audit: audit.into_iter().collect(), peers, messages, far, foreign };
        // From here on it goes on by itself, also when the caller gives up: what is on its way to the disk cannot be
        // called back, and each of the Pods has to hear what came of it.
        let writing = self.tracker.spawn(self.before_next_lease(self.clone().write_together(batch, outcomes, wakes)));
        let written = async { writing.await.map_err(|_| error::stopping())? };
        let slip = Slip::default();
        slip.take();
        self.answered(&slip, written).await
    }

    async fn write_together(
        self: Arc<Self>,
        batch: Batch,
        outcomes: Vec<oneshot::Sender<bool>>,
        wakes: Vec<WorkerId>,
    ) -> Result<Committed, ApiError> {
        // Held Pods have to hear what came of it, so it is waited for until that is known.
        let committed = self.store.commit_with(Patience::UntilKnown, batch).await;
        let is_done = matches!(committed, Ok(Committed::Done { .. }));
        for outcome in outcomes {
            // A Pod whose task is gone reads its journal when it is loaded.
            let _ = outcome.send(is_done);
        }
        for worker_id in wakes.iter().filter(|_| is_done) {
            self.list.tell_changed(worker_id);
            // What waits for it is on the disk: if this does not reach it, its next start does.
            self.wake(worker_id);
        }
        committed.map_err(error::store_failed)
    }
}

/// Bounds what one Pod wants of others. What was written by then stays written; the rest does not happen.
pub(crate) async fn bounded<T>(what: &str, work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    tokio::time::timeout(PODS_WAIT_MAX, work).await.unwrap_or_else(|_| {
        let seconds = PODS_WAIT_MAX.as_secs();
        Err(ApiError::new(
            ErrorCode::Timeout,
            format!("{what} took longer than {seconds} s; look before you try again"),
        ))
    })
}
