//! Several Pods in one transaction: each stands still and shows its state, gets its order, says what is to be written,
//! and waits until all of it is on the disk or none.

use pod::{Input, Pod, PodSpec, Step, decide};
use pod_store::{ForeignPod, MessageChange, PodChange, PodKey};
use protocol::{ApiError, ControlEvent, PodLabel};
use tokio::sync::oneshot;

use super::{PodTask, commit::Extras};
use crate::error;

/// A Pod that stands still. Dropping this lets it go on as if nothing had been.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) key: PodKey,
    pub(crate) label: PodLabel,
    pub(crate) spec: PodSpec,
    pub(crate) pod: Pod,
    /// A command of it runs now.
    pub(crate) runs_command: bool,
    /// The host that runs it, if that is another one.
    pub(crate) host: Option<i64>,
    pub(crate) orders: oneshot::Sender<Order>,
}

/// What a held Pod is to do, and how it answers.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) wanted: Wanted,
    pub(crate) prepared: oneshot::Sender<Result<(PodChange, Vec<MessageChange>), ApiError>>,
    pub(crate) is_committed: oneshot::Receiver<bool>,
}

/// What is wanted of a held Pod.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) inputs: Vec<Input>,
    /// What is written besides; it belongs to no run.
    pub(crate) events: Vec<ControlEvent>,
    /// Command and audit of these are not used: they belong to the whole transaction.
    pub(crate) extras: Extras,
    /// What this Pod runs has to have ended, to the last process, before anything is written.
    pub(crate) ends_work: bool,
}

/// What is to be written for a Pod, how far messages have come by it, and where to say whether it was written.
pub(crate) type Prepared = (PodChange, Vec<MessageChange>, oneshot::Sender<bool>);

impl Held {
    /// Its place in a batch, when another host runs it.
    pub(crate) fn foreign(&self) -> Option<ForeignPod> {
        self.host.map(|host| ForeignPod { pod: self.key, host })
    }

    /// Gives the order. The answer is what it comes to, not yet written, and where to say whether it was. Not said: the
    /// Pod reads its state again from the store.
    pub(crate) async fn prepare(self, wanted: Wanted) -> Result<Prepared, ApiError> {
        let (prepared, change) = oneshot::channel();
        let (outcome, is_committed) = oneshot::channel();
        let order = Order { wanted, prepared, is_committed };
        self.orders.send(order).map_err(|_| error::stopping())?;
        let (change, receipts) = change.await.map_err(|_| error::stopping())??;
        Ok((change, receipts, outcome))
    }
}

impl PodTask {
    pub(super) async fn hold(&mut self, reply: oneshot::Sender<Result<Held, ApiError>>) {
        if self.is_deleted {
            return drop(reply.send(Err(error::no_such_pod(&self.worker_id))));
        }
        let (orders, order) = oneshot::channel();
        let held = Held {
            key: self.key,
            label: self.label(),
            spec: self.spec.clone(),
            pod: self.pod.clone(),
            runs_command: self.work.runs(&self.pod, "Bash"),
            host: None,
            orders,
        };
        if reply.send(Ok(held)).is_ok()
            && let Ok(order) = order.await
        {
            self.obey(order).await;
        }
    }

    async fn obey(&mut self, order: Order) {
        let Order { wanted: Wanted { inputs, events, extras, ends_work }, prepared, is_committed } = order;
        if ends_work && !self.work.end_all().await {
            tracing::warn!(pod = %self.name, "something that a tool of this Pod started does not end");
            let _ = prepared.send(Err(error::does_not_end(&self.name)));
            return self.read_again(true).await;
        }
        let mut staged = self.stage();
        let mut effects = Vec::new();
        for input in inputs {
            match decide(&self.pod, &self.spec, input) {
                Ok(decision) => {
                    effects.extend(decision.effects);
                    self.add(&mut staged, decision.steps);
                }
                Err(refusal) => {
                    let _ = prepared.send(Err(error::refused(&self.name, refusal)));
                    return self.read_again(ends_work).await;
                }
            }
        }
        let steps = events.into_iter().map(|event| Step { run_id: None, event: event.into() }).collect();
        self.add(&mut staged, steps);
        let (change, receipts, shown) = match self.change(staged, extras).await {
            Ok(changed) => changed,
            Err(error) => {
                let _ = prepared.send(Err(error));
                return self.read_again(ends_work).await;
            }
        };
        let is_done = match prepared.send(Ok((change, receipts))) {
            Ok(()) => match is_committed.await {
                Ok(is_done) => is_done,
                Err(_) => self.has_landed().await,
            },
            Err(_) => false,
        };
        match is_done {
            true => {
                self.show(shown).await;
                self.has_mail = true;
                self.act(effects).await;
            }
            false => self.read_again(ends_work).await,
        }
    }

    /// Whether what was prepared is in the journal: nobody else writes there, and it was not told what came of it.
    async fn has_landed(&mut self) -> bool {
        let before = self.feed.head();
        let head = async || self.inner.patiently(|| self.inner.store.head(self.key)).await;
        self.pod.head > before && head().await.is_ok_and(|head| head >= self.pod.head)
    }

    /// Nothing came of the order. What was ended for it cannot go on: its run is closed, as after a crash.
    pub(super) async fn read_again(&mut self, has_ended_work: bool) {
        let mut read = self.reload().await;
        if read.is_ok() && has_ended_work {
            read = self.catch_up().await;
        }
        if let Err(error) = read {
            tracing::error!(%error, pod = %self.name, "a Pod's state could not be read again");
        }
    }
}
