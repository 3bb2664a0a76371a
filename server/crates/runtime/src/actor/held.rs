//! Changing several Pods in one transaction: each Pod pauses its task and shows its state, gets its order, says what is
//! to be written, and waits until all of it is committed or none.

use pod::{Effect, Input, Pod, PodSpec, Step};
use pod_store::{ForeignPod, MessageChange, PodChange, PodKey};
use protocol::{ApiError, ControlEvent, PodLabel, tool::SERVER_TOOL};
use tokio::sync::oneshot;

use super::{
    Actor,
    commit::Extras,
    staged::{Change, Staged},
    task::Reply,
};
use crate::error;

/// A Pod whose task is paused. Dropping this lets it continue as if nothing had happened.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) key: PodKey,
    pub(crate) label: PodLabel,
    pub(crate) spec: PodSpec,
    pub(crate) pod: Pod,
    /// A command of the Pod is running now.
    pub(crate) runs_command: bool,
    /// An answer that has used something is under way: a stop counts that usage.
    pub(crate) owes_usage: bool,
    /// The host that runs the Pod, if it is another one.
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
    /// Further events to write that belong to no run.
    pub(crate) events: Vec<ControlEvent>,
    /// The command and the audit row in here are ignored: they belong to the whole transaction.
    pub(crate) extras: Extras,
    /// End everything that the Pod runs, down to the last process, before anything is written.
    pub(crate) ends_work: bool,
}

/// What is to be written for a Pod, the resulting states of messages, and where to report whether it was written.
pub(crate) type Prepared = (PodChange, Vec<MessageChange>, oneshot::Sender<bool>);

impl Held {
    /// The Pod's entry in a batch if another host runs it.
    pub(crate) fn foreign(&self) -> Option<ForeignPod> {
        self.host.map(|host| ForeignPod { pod: self.key, host })
    }

    /// Gives the order. Returns what is to be written and where to report whether it was. If that sender is dropped,
    /// the Pod reloads its state from the store.
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
    /// Pauses until the order comes, and carries it out. Returns true if something was written.
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
            runs_command: self.calls.runs(&self.state.pod, |tool| tool == "Bash" || tool.contains(SERVER_TOOL))
                || self.actors.equipment.background.runs(&self.state.worker_id),
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

    /// What the order results in, and the effects to run once that is written.
    async fn prepare(&mut self, wanted: Wanted) -> Result<(Change, Vec<Effect>), ApiError> {
        let Wanted { inputs, events, extras, ends_work } = wanted;
        if ends_work && !self.end_work().await {
            tracing::warn!(pod = %self.state.name, "something that a tool of this Pod started is still running");
            return Err(error::does_not_end(&self.state.name));
        }
        let lends = |event: &ControlEvent| {
            matches!(event, ControlEvent::ChildSpawned { .. } | ControlEvent::ScopeChanged { .. })
        };
        if events.iter().any(lends) {
            // The programs run in folders that may be lent now; they start again with what remains.
            self.servers.clients.end().await;
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

    /// Whether the prepared change is in the journal, when no outcome was reported. Nobody else writes there.
    async fn has_landed(&mut self) -> bool {
        let (before, after, key) = (self.feed.head(), self.state.pod.head, self.state.key);
        let actors = &self.actors;
        after > before && actors.patiently(|| actors.store.journals().head(key)).await.is_ok_and(|head| head >= after)
    }
}
