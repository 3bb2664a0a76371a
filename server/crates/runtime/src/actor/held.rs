//! Several Pods in one transaction: each stands still and shows its state, gets its order, says what is to be written,
//! and waits until all of it is on the disk or none.

use pod::{Effect, Input, Pod, PodSpec, Step};
use pod_store::{ForeignPod, MessageChange, PodChange, PodKey};
use protocol::{ApiError, ControlEvent, PodLabel};
use tokio::sync::oneshot;

use super::{
    Actor,
    commit::Extras,
    staged::{Change, Staged},
    task::Reply,
};
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
    /// An answer goes on that has used something: a stop counts that.
    pub(crate) owes_usage: bool,
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

impl Actor {
    /// Stands still until the order comes, and carries it out. True when something was written.
    pub(super) async fn hold(&mut self, reply: Reply<Held>) -> bool {
        if self.state.is_deleted {
            reply.send(Err(error::no_such_pod(&self.state.worker_id)));
            return false;
        }
        let (orders, order) = oneshot::channel();
        let held = Held {
            key: self.state.key,
            label: self.state.label(),
            spec: self.state.spec.clone(),
            pod: self.state.pod.clone(),
            runs_command: self.calls.runs(&self.state.pod, "Bash"),
            owes_usage: self.exchange.owed(&self.actors).is_some(),
            host: None,
            orders,
        };
        if !reply.send(Ok(held)) {
            return false;
        }
        let Ok(order) = order.await else { return false };
        let ends_work = order.wanted.ends_work;
        let is_done = self.obey(order).await;
        if !is_done {
            self.read_again(ends_work).await;
        }
        is_done
    }

    async fn obey(&mut self, order: Order) -> bool {
        let Order { wanted, prepared, is_committed } = order;
        let (Change { change, messages, shown }, effects) = match self.prepare(wanted).await {
            Ok(ready) => ready,
            Err(error) => {
                let _ = prepared.send(Err(error));
                return false;
            }
        };
        if prepared.send(Ok((change, messages))).is_err() {
            return false;
        }
        let is_done = match is_committed.await {
            Ok(is_done) => is_done,
            Err(_) => self.has_landed().await,
        };
        if is_done {
            self.show(shown);
            self.act(effects).await;
        }
        is_done
    }

    /// What the order comes to, and what is to be done once it is written.
    async fn prepare(&mut self, wanted: Wanted) -> Result<(Change, Vec<Effect>), ApiError> {
        let Wanted { inputs, events, extras, ends_work } = wanted;
        if ends_work && !self.end_work().await {
            tracing::warn!(pod = %self.state.name, "something that a tool of this Pod started does not end");
            return Err(error::does_not_end(&self.state.name));
        }
        let mut staged = Staged::new();
        let mut effects = Vec::new();
        for input in inputs {
            effects.extend(self.decide(&mut staged, input)?);
        }
        let steps = events.into_iter().map(|event| Step { run_id: None, event: event.into() }).collect();
        self.add(&mut staged, steps);
        Ok((self.change(staged, extras).await?, effects))
    }

    /// Whether what was prepared is in the journal: nobody else writes there, and it was not told what came of it.
    async fn has_landed(&mut self) -> bool {
        let (before, after, key) = (self.feed.head(), self.state.pod.head, self.state.key);
        let actors = &self.actors;
        after > before && actors.patiently(|| actors.store.journals().head(key)).await.is_ok_and(|head| head >= after)
    }
}
