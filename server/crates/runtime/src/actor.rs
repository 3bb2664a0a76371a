//! Runs one Pod: takes commands, commits events, performs effects.
//! Never shows or does anything that is not committed (I2).

mod above;
mod commands;
mod commit;
mod conversation;
mod effects;
pub(crate) mod feed;
mod feeds;
mod held;
mod held_up;
mod letters;
mod pieces;
pub(crate) mod place;
mod portion;
mod questions;
mod queue;
mod receipts;
mod running;
mod sight;
mod spending;
mod summary;
mod tasks;
pub(crate) mod viewer;
mod ways;
mod work;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use pod::{Effect, Input, Pod, PodSpec, decide};
use pod_store::{InboxRow, ParentRow, PodKey};
use protocol::{
    ApiError, ApprovalCommand, CommandId, ControlVerb, InputCommand, PatchPod, PodLabel, PodName, PodRef, PodState,
    RewindCommand, RuntimeId, ToolAnswer, WorkerId,
};
use provider::Purpose;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::{
    above::Above,
    commands::repeated,
    commit::{Extras, checkpoint},
    feeds::RECORDS_AT_ONCE,
    held::{Held, Order, Wanted},
    held_up::tell,
    receipts::FarSender,
    tasks::{Actors, Equipment},
};
use self::{
    conversation::Conversation,
    feed::Feed,
    work::{Happening, Work},
};
use crate::{CommandKey, Origin, error, ground::Slip, view};

/// What a client asks of one Pod.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum PodCommand {
    Input(InputCommand),
    /// A queued input, by the id of its command.
    TakeBack(CommandId),
    Control(ControlVerb),
    Patch(PatchPod),
    Rewind(RewindCommand),
    Answer {
        id: String,
        command: ApprovalCommand,
    },
    Delete,
}

/// What reaches a Pod's task.
#[derive(Debug)]
pub(crate) enum Request {
    Command {
        command: Box<PodCommand>,
        key: CommandKey,
        origin: Origin,
        /// JSON of the answer.
        reply: oneshot::Sender<Result<String, ApiError>>,
        slip: Slip,
    },
    /// A person runs a tool as this Pod would; answered when it has ended.
    Tool {
        name: String,
        arguments: serde_json::Value,
        key: CommandKey,
        origin: Origin,
        reply: oneshot::Sender<Result<ToolAnswer, ApiError>>,
        slip: Slip,
    },
    /// Answered once the Pod is in order after a crash.
    Settle { reply: oneshot::Sender<()> },
    /// Something may be in the Pod's mailbox. Carries nothing: the mailbox is read (I6).
    Wake,
    /// Stand still until an order comes, so that several Pods change in one transaction.
    Hold { reply: oneshot::Sender<Result<Held, ApiError>>, slip: Slip },
}

/// One Pod while it works.
pub(crate) struct PodTask {
    inner: Arc<Actors>,
    key: PodKey,
    worker_id: WorkerId,
    name: PodName,
    spec: PodSpec,
    pod: Pod,
    /// Accepted inputs that have not begun, oldest first.
    inbox: VecDeque<InboxRow>,
    feed: Arc<Feed>,
    /// The Pod that leads this one, and is told of its turns.
    parent: Option<ParentRow>,
    /// Those who wait for the end of a tool that a person runs, by call.
    waiters: HashMap<String, Vec<oneshot::Sender<Result<ToolAnswer, ApiError>>>>,
    /// The mailbox has to be looked at when the Pod can take it.
    has_mail: bool,
    conversation: Conversation,
    /// What goes on in the world for this Pod.
    work: Work,
    is_deleted: bool,
}

/// The life of a task: it loads the Pod, puts it in order, works, and ends when there is nothing to do.
pub(crate) async fn run(inner: Arc<Actors>, worker_id: WorkerId, mut requests: mpsc::Receiver<Request>) {
    match PodTask::load(inner.clone(), &worker_id).await {
        Ok(task) => Box::pin(task.live(&mut requests)).await,
        Err(error) => refuse_all(&inner, &worker_id, &mut requests, &error).await,
    }
    inner.forget(&worker_id, &mut requests);
    // What came in at the very end, between the last look and the closing, is for the task that comes next; nothing of
    // it was done. When there is none any more, those who wait see that nobody is there.
    while let Some(request) = requests.recv().await {
        if let Err(error) = inner.send(&worker_id, request).await {
            tracing::debug!(%error, %worker_id, "a request came too late");
        }
    }
}

async fn refuse_all(inner: &Actors, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>, error: &ApiError) {
    while !inner.rest(worker_id, requests) {
        if let Some(request) = requests.recv().await {
            refuse(request, error);
        }
    }
}

fn refuse(request: Request, error: &ApiError) {
    // The caller may have gone away.
    match request {
        Request::Command { reply, .. } => drop(reply.send(Err(error.clone()))),
        Request::Tool { reply, .. } => drop(reply.send(Err(error.clone()))),
        Request::Hold { reply, .. } => drop(reply.send(Err(error.clone()))),
        // Those who wait see that nobody is there.
        Request::Settle { .. } | Request::Wake => (),
    }
}

impl PodTask {
    /// Reads the Pod, and closes what a crash left open.
    async fn load(inner: Arc<Actors>, worker_id: &WorkerId) -> Result<Self, ApiError> {
        let row = inner.patiently(|| inner.store.pod_find(worker_id)).await.map_err(error::store_failed)?;
        let row = row.ok_or_else(|| error::no_such_pod(worker_id))?;
        let opened = view::open(&row).map_err(|reason| {
            note_failure(&inner, &row.name, &reason);
            ApiError::new(protocol::ErrorCode::NotRestorable, format!("pod \"{}\" cannot be used: {reason}", row.name))
        })?;
        let inbox = inner.patiently(|| inner.store.inbox(row.key)).await.map_err(error::store_failed)?;
        let feed = inner.patiently(|| inner.feed(&row)).await.map_err(error::store_failed)?;
        if inner.store.is_shared() {
            // Who watched it while another host ran it sees the end of that first.
            inner.patiently(|| inner.follow_now(&feed)).await.map_err(error::store_failed)?;
        }
        let mut task = Self {
            key: row.key,
            worker_id: worker_id.clone(),
            name: row.name.clone(),
            spec: PodSpec { shell_is_unconfined: !inner.equipment.walls.hold_commands().await, ..opened.spec },
            pod: opened.pod,
            inbox: inbox.into(),
            feed,
            parent: row.parent,
            waiters: HashMap::new(),
            has_mail: true,
            conversation: Conversation::default(),
            work: Work::default(),
            is_deleted: false,
            inner,
        };
        task.catch_up().await?;
        Ok(task)
    }

    async fn live(mut self, requests: &mut mpsc::Receiver<Request>) {
        self.go_on().await;
        loop {
            if self.is_resting() && (self.is_deleted || self.inner.rest(&self.worker_id, requests)) {
                break;
            }
            tokio::select! {
                biased;
                () = self.inner.stopping.cancelled() => break,
                request = requests.recv() => match request {
                    Some(request) => self.take(request).await,
                    None => break,
                },
                happening = self.work.next() => self.happened(happening).await,
            }
        }
    }

    /// Nothing goes on, and nothing waits to begin.
    fn is_resting(&self) -> bool {
        self.work.is_idle() && !self.has_mail && (self.inbox.is_empty() || self.pod.state != PodState::Idle)
    }

    async fn take(&mut self, request: Request) {
        match request {
            Request::Settle { reply } => {
                let _ = reply.send(());
            }
            Request::Command { command, key, origin, reply, slip } if slip.take() => {
                let answer = self.command(*command, key, &origin).await;
                let _ = reply.send(answer);
            }
            Request::Tool { name, arguments, key, origin, reply, slip } if slip.take() => {
                self.operator_call(name, arguments, key, &origin, reply).await;
            }
            Request::Hold { reply, slip } if slip.take() => self.hold(reply).await,
            // Whoever asked was told that nothing was done.
            Request::Command { .. } | Request::Tool { .. } | Request::Hold { .. } => (),
            Request::Wake => self.has_mail = true,
        }
        self.go_on().await;
    }

    /// Takes what waits: first what others have to tell, then the oldest queued input.
    async fn go_on(&mut self) {
        self.read_mail().await;
        self.start_next().await;
    }

    /// Takes what the world did: decides, commits, shows, acts.
    async fn happened(&mut self, happening: Happening) {
        let inputs = match happening {
            Happening::Asked(asked, purpose) => {
                self.asked(*asked, purpose).await;
                Vec::new()
            }
            Happening::Summarised(cut, outcome) => {
                self.summarised(*cut, outcome).await;
                Vec::new()
            }
            other => self.work.inputs(other),
        };
        if !inputs.is_empty()
            && let Err(error) = self.advance(inputs, commit::Extras::default()).await
        {
            tracing::error!(%error, pod = %self.name, "what the model said could not be stored; the run is interrupted");
            self.read_again(true).await;
        }
        self.start_calls().await;
        self.go_on().await;
    }

    /// Decides on each input in turn, commits all that follows in one transaction, shows it, and then acts.
    async fn advance(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        mut extras: commit::Extras,
    ) -> Result<commit::Outcome, ApiError> {
        let inputs: Vec<Input> = inputs.into_iter().collect();
        self.look(&inputs).await?;
        let mut staged = self.stage();
        let mut effects = Vec::new();
        for input in inputs {
            match decide(&self.pod, &self.spec, input) {
                Ok(decision) => {
                    let asks_model = decision.effects.contains(&Effect::CallModel);
                    effects.extend(decision.effects);
                    self.add(&mut staged, decision.steps);
                    if asks_model {
                        self.steer(&mut staged, &mut extras)?;
                    }
                }
                Err(refusal) => return Err(error::refused(&self.name, refusal)),
            }
        }
        let outcome = self.commit(staged, extras).await?;
        if outcome == commit::Outcome::Done {
            self.act(effects).await;
        }
        Ok(outcome)
    }

    async fn act(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Abort => {
                    self.work.abort();
                    self.conversation.forget();
                }
                Effect::AbortOperatorCalls => self.work.abort_operator_calls(),
                Effect::CallModel => self.ask(Purpose::Answer),
                Effect::Summarise => self.ask(Purpose::Summary),
                Effect::LetOut { call_id, host, port, is_allowed } => {
                    self.work.let_out(call_id, host, port, is_allowed);
                }
                Effect::RunTool { call_id, name, arguments, by } => {
                    let leads = self.spec.sights.leads(&name, &arguments);
                    self.work.enqueue(work::Call { call_id, name, arguments, by, leads });
                }
            }
        }
        self.start_calls().await;
        self.let_go();
    }

    fn pod_ref(&self) -> PodRef {
        PodRef::new(RuntimeId::local(), self.worker_id.clone())
    }

    fn label(&self) -> PodLabel {
        PodLabel { pod: self.pod_ref(), name: self.name.clone() }
    }
}

impl Drop for PodTask {
    fn drop(&mut self) {
        self.inner.release_feed(&self.worker_id, &self.feed);
    }
}

fn note_failure(inner: &Actors, name: &PodName, reason: &str) {
    tracing::error!(pod = %name, reason, "a Pod could not be restored");
    inner.failed.lock().expect("no holder of this list panics").insert(name.to_string(), reason.to_owned());
}
