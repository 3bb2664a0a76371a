//! Pausing a Pod for another host, so that Pods of both hosts change in one transaction.
//!
//! The calling host gets the Pod's state, gives its order, gets what is to be written for the Pod, and writes it with
//! everything else; its transaction checks both leases. The Pod's own host keeps the Pod paused, but only for a short
//! time: after that it looks in the journal for the outcome.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use pod::Input;
use pod_store::{HostRow, LoanChange};
use protocol::{ApiError, ErrorCode, WorkerId};
use tokio::{runtime::Handle, sync::oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Call, Cluster,
    call::{HeldView, Prepared, Wish, WishInput},
};
use crate::{
    actor::{Actors, Extras, Held, Order, Wanted},
    error,
};

/// The longest that a Pod is paused for another host, before its order and again after it.
const STAND_STILL_MAX: Duration = Duration::from_secs(5);

/// The stage of a Pod that is paused for another host.
#[derive(Debug)]
enum Stage {
    /// It is not paused yet. Dropping this ends the wait for it.
    Asked(#[expect(dead_code, reason = "it is there to be dropped")] DropGuard),
    Held(Box<Held>),
    /// It waits for the outcome.
    Ordered(oneshot::Sender<bool>),
}

impl Cluster {
    /// Pauses a Pod of another host. `None` if it is no longer there.
    pub(crate) async fn hold_there(
        self: &Arc<Self>,
        host: HostRow,
        worker_id: &WorkerId,
    ) -> Result<Option<Held>, ApiError> {
        let hold = uuid::Uuid::now_v7().to_string();
        let call = Call::Hold { hold: hold.clone(), worker_id: worker_id.clone() };
        let mut pause = Pause { cluster: self.clone(), host: host.clone(), hold: hold.clone(), is_wanted: false };
        let Some(HeldView { key, label, spec, pod, runs_command, owes_usage }) = self.calls.call(&host, &call).await?
        else {
            return Ok(None);
        };
        pause.is_wanted = true;
        let (orders, order) = oneshot::channel();
        let held = Held { key, label, spec, pod, runs_command, owes_usage, host: Some(host.id), orders };
        self.tracker.spawn(stand_in(self.clone(), host, hold, order));
        Ok(Some(held))
    }
}

/// A pause that another host was asked for. Unless it is wanted in the end, dropping this ends it there: whoever asked has
/// given up, and others wait for the Pod.
struct Pause {
    cluster: Arc<Cluster>,
    host: HostRow,
    hold: String,
    is_wanted: bool,
}

impl Drop for Pause {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.is_wanted {
            let (cluster, host) = (self.cluster.clone(), self.host.clone());
            let over = Call::Outcome { hold: std::mem::take(&mut self.hold), is_done: false };
            let tell = async move { cluster.calls.tell(&host, &over).await };
            self.cluster.tracker.spawn_on(tell, &runtime);
        }
    }
}

/// Pods of this host that are paused for other hosts.
#[derive(Debug)]
pub(super) struct StandStill {
    actors: Arc<Actors>,
    /// By the name that the other host gave.
    stages: Arc<Mutex<BTreeMap<String, Stage>>>,
}

impl StandStill {
    pub(super) fn new(actors: Arc<Actors>) -> Self {
        Self { actors, stages: Arc::default() }
    }

    /// Pauses the Pod for a host that asks for it.
    pub(super) async fn hold(&self, hold: String, worker_id: &WorkerId) -> Result<HeldView, ApiError> {
        let wanted = CancellationToken::new();
        self.stages().insert(hold.clone(), Stage::Asked(wanted.clone().drop_guard()));
        let held = wanted.run_until_cancelled(self.actors.hold_here(worker_id)).await;
        // Whoever asked may have given up meanwhile.
        self.take(&hold).ok_or_else(too_late)?;
        let held = held.ok_or_else(too_late)??;
        let Held { key, label, spec, pod, runs_command, owes_usage, .. } = &held;
        let (label, spec, pod) = (label.clone(), spec.clone(), pod.clone());
        let view = HeldView { key: *key, label, spec, pod, runs_command: *runs_command, owes_usage: *owes_usage };
        self.put(hold, Stage::Held(Box::new(held)));
        Ok(view)
    }

    pub(super) async fn order(&self, hold: &str, wish: Wish) -> Result<Prepared, ApiError> {
        let Some(Stage::Held(held)) = self.take(hold) else { return Err(too_late()) };
        let (change, receipts, outcome) = held.prepare(wish.into()).await?;
        self.put(hold.to_owned(), Stage::Ordered(outcome));
        Ok(Prepared { change, receipts })
    }

    pub(super) fn outcome(&self, hold: &str, is_done: bool) {
        if let Some(Stage::Ordered(outcome)) = self.take(hold) {
            // If the Pod's task is gone, the Pod reads its journal when it is loaded.
            let _ = outcome.send(is_done);
        }
    }

    /// Releases all of them.
    pub(super) fn clear(&self) {
        self.stages().clear();
    }

    fn stages(&self) -> MutexGuard<'_, BTreeMap<String, Stage>> {
        self.stages.lock().expect("no holder of the held Pods panics")
    }

    fn take(&self, hold: &str) -> Option<Stage> {
        self.stages().remove(hold)
    }

    /// Stores the stage, and releases the Pod after a while: the calling host may be gone.
    fn put(&self, hold: String, stage: Stage) {
        let is_ordered = matches!(stage, Stage::Ordered(_));
        self.stages().insert(hold.clone(), stage);
        let (stages, stopping) = (self.stages.clone(), self.actors.stopping.clone());
        self.actors.tracker.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => (),
                () = tokio::time::sleep(STAND_STILL_MAX) => (),
            }
            let mut stages = stages.lock().expect("no holder of the held Pods panics");
            if stages.get(&hold).is_some_and(|now| matches!(now, Stage::Ordered(_)) == is_ordered) {
                stages.remove(&hold);
            }
        });
    }
}

/// Relays an order and its outcome to a Pod that another host has paused.
async fn stand_in(cluster: Arc<Cluster>, host: HostRow, hold: String, order: oneshot::Receiver<Order>) {
    let outcome = |is_done| Call::Outcome { hold: hold.clone(), is_done };
    let Ok(Order { wanted, prepared, is_committed }) = order.await else {
        // There was no order; reporting an outcome releases the Pod.
        return cluster.calls.tell(&host, &outcome(false)).await;
    };
    let wish = match Wish::try_from(wanted) {
        Ok(wish) => wish,
        Err(error) => return drop(prepared.send(Err(error))),
    };
    let answer = match cluster.calls.call(&host, &Call::Order { hold: hold.clone(), wish }).await {
        Ok(Some(Prepared { change, receipts })) => Ok((change, receipts)),
        Ok(None) => Err(too_late()),
        Err(error) => Err(error),
    };
    let is_done = prepared.send(answer).is_ok() && is_committed.await.unwrap_or(false);
    cluster.calls.tell(&host, &outcome(is_done)).await;
}

fn too_late() -> ApiError {
    let sentence = "the other Pod stood still for as long as it may, and nothing was changed; try again";
    ApiError::new(ErrorCode::Timeout, sentence)
}

impl TryFrom<Wanted> for Wish {
    type Error = ApiError;

    fn try_from(wanted: Wanted) -> Result<Self, ApiError> {
        let Wanted { inputs, events, extras, ends_work } = wanted;
        let inputs = inputs.into_iter().map(|input| match input {
            Input::Mail { events, wakes } => Ok(WishInput::Mail { events, wakes }),
            Input::Note(events) => Ok(WishInput::Note(events)),
            Input::Stop => Ok(WishInput::Stop),
            Input::Restore => Ok(WishInput::Restore),
            _ => Err(error::not_across_hosts()),
        });
        let lends = extras.loan.map(|loan| loan == LoanChange::Out);
        Ok(Self { inputs: inputs.collect::<Result<_, _>>()?, events, lends, mail_put: extras.mail_put, ends_work })
    }
}

impl From<Wish> for Wanted {
    fn from(wish: Wish) -> Self {
        let Wish { inputs, events, lends, mail_put, ends_work } = wish;
        let inputs = inputs.into_iter().map(|input| match input {
            WishInput::Mail { events, wakes } => Input::Mail { events, wakes },
            WishInput::Note(events) => Input::Note(events),
            WishInput::Stop => Input::Stop,
            WishInput::Restore => Input::Restore,
        });
        let loan = lends.map(|is_out| if is_out { LoanChange::Out } else { LoanChange::Back });
        let extras = Extras { loan, mail_put, ..Extras::default() };
        Self { inputs: inputs.collect(), events, extras, ends_work }
    }
}
