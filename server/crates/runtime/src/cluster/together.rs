//! Changing several Pods, possibly of several hosts, in one transaction.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use pod_store::{Batch, Committed, Patience};
use protocol::{ApiError, WorkerId};
use tokio::sync::oneshot;

use super::{Cluster, ROUNDS_MAX, Route};
use crate::{
    actor::{Held, Wanted},
    error,
    ground::Slip,
    hold::{Holding, Pods, Together},
};

#[async_trait]
impl Pods for Arc<Cluster> {
    async fn hold(&self, pods: &[&WorkerId]) -> Result<Holding, ApiError> {
        let mut sorted: Vec<&WorkerId> = pods.to_vec();
        sorted.sort();
        sorted.dedup();
        let mut holding = Holding::new();
        for worker_id in sorted {
            holding.insert(worker_id.clone(), self.hold_one(worker_id).await?);
        }
        Ok(holding)
    }

    async fn commit_together(&self, orders: Vec<(Held, Wanted)>, together: Together) -> Result<Committed, ApiError> {
        let foreign = orders.iter().filter_map(|(held, _)| held.foreign()).collect();
        // All at once: ending what a Pod runs can take seconds.
        let prepared = try_join_all(orders.into_iter().map(|(held, wanted)| held.prepare(wanted))).await?;
        let Together { command, audit, peers, mut messages, far, others: mut changes, wakes } = together;
        let mut outcomes = Vec::with_capacity(prepared.len());
        for (change, receipts, outcome) in prepared {
            changes.push(change);
            messages.extend(receipts);
            outcomes.push(outcome);
        }
        let batch = Batch { command, changes, audit, peers, messages, far, foreign, ..Batch::default() };
        // From here on this continues even if the caller gives up: a write under way cannot be called back, and each of
        // the Pods has to hear the outcome.
        let writing = self.tracker.spawn(self.before_next_lease(self.clone().write_together(batch, outcomes, wakes)));
        let written = async { writing.await.map_err(|_| error::stopping())? };
        let slip = Slip::default();
        slip.take();
        self.answered(&slip, written).await
    }
}

impl Cluster {
    /// Pauses a Pod on whichever host runs it.
    async fn hold_one(self: &Arc<Self>, worker_id: &WorkerId) -> Result<Held, ApiError> {
        for _ in 0..ROUNDS_MAX {
            match self.route(worker_id).await? {
                Route::Here => return self.actors.hold_here(worker_id).await,
                Route::There(host) => {
                    if let Some(held) = self.hold_there(host, worker_id).await? {
                        return Ok(held);
                    }
                }
            }
        }
        Err(error::moves_about())
    }

    async fn write_together(
        self: Arc<Self>,
        batch: Batch,
        outcomes: Vec<oneshot::Sender<bool>>,
        wakes: Vec<WorkerId>,
    ) -> Result<Committed, ApiError> {
        // Held Pods have to hear the outcome, so this waits until it is known.
        let committed = self.store.commit_with(Patience::UntilKnown, batch).await;
        let is_done = matches!(committed, Ok(Committed::Done { .. }));
        for outcome in outcomes {
            // If the Pod's task is gone, the Pod reads its journal when it is loaded.
            let _ = outcome.send(is_done);
        }
        for worker_id in wakes.iter().filter(|_| is_done) {
            self.list.tell_changed(worker_id);
            // What waits for the Pod is in the store: if this wake-up is lost, the Pod finds it at its next start.
            self.wake(worker_id);
        }
        Ok(committed?)
    }
}
