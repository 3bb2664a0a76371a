//! Runs one Pod: takes commands, commits events, performs effects.
//! Never shows or does anything that is not committed (I2).

mod commands;
mod commit;
mod effects;

use std::{collections::VecDeque, sync::Arc};

use pod::{Context, Effect, Input, Pod, PodSpec, decide};
use pod_store::{InboxRow, PodKey};
use protocol::{ApiError, ControlVerb, InputCommand, PatchPod, PodName, PodRef, PodState, RuntimeId, WorkerId};
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::commands::repeated;
pub(crate) use self::commit::checkpoint;
use self::effects::{Happening, Work};
use crate::{CommandKey, Origin, error, feed::Feed, host::Inner, view};

/// What a client asks of one Pod.
#[derive(Debug)]
pub(crate) enum PodCommand {
    Input(InputCommand),
    Control(ControlVerb),
    Patch(PatchPod),
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
    },
    /// Answered once the Pod is in order after a crash.
    Settle { reply: oneshot::Sender<()> },
}

/// One Pod while it works.
pub(crate) struct PodTask {
    inner: Arc<Inner>,
    key: PodKey,
    worker_id: WorkerId,
    name: PodName,
    spec: PodSpec,
    pod: Pod,
    /// Accepted inputs that have not begun, oldest first.
    inbox: VecDeque<InboxRow>,
    feed: Arc<Feed>,
    /// What the model has been told, while a run goes on.
    context: Option<Context>,
    /// What goes on in the world for this Pod.
    work: Work,
    is_deleted: bool,
}

/// The life of a task: it loads the Pod, puts it in order, works, and ends when there is nothing to do.
pub(crate) async fn run(inner: Arc<Inner>, worker_id: WorkerId, mut requests: mpsc::Receiver<Request>) {
    match PodTask::load(inner.clone(), &worker_id).await {
        Ok(task) => Box::pin(task.live(&mut requests)).await,
        Err(error) => refuse_all(&inner, &worker_id, &mut requests, &error).await,
    }
    inner.forget(&worker_id, &mut requests);
    // What came in at the very end is told to try again; nothing of it was done.
    while let Some(request) = requests.recv().await {
        refuse(request, &error::stopping());
    }
}

async fn refuse_all(inner: &Inner, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>, error: &ApiError) {
    while !inner.rest(worker_id, requests) {
        if let Some(request) = requests.recv().await {
            refuse(request, error);
        }
    }
}

fn refuse(request: Request, error: &ApiError) {
    if let Request::Command { reply, .. } = request {
        // The caller may have gone away.
        let _ = reply.send(Err(error.clone()));
    }
}

impl PodTask {
    /// Reads the Pod, and closes what a crash left open.
    async fn load(inner: Arc<Inner>, worker_id: &WorkerId) -> Result<Self, ApiError> {
        let row = inner
            .store
            .pod_find(worker_id)
            .await
            .map_err(error::store_failed)?
            .ok_or_else(|| error::no_such_pod(worker_id))?;
        let opened = view::open(&row).map_err(|reason| {
            note_failure(&inner, &row.name, &reason);
            ApiError::new(protocol::ErrorCode::NotRestorable, format!("pod \"{}\" cannot be used: {reason}", row.name))
        })?;
        let inbox = inner.store.inbox(row.key).await.map_err(error::store_failed)?;
        let feed = inner.feed(&row).await?;
        let mut task = Self {
            key: row.key,
            worker_id: worker_id.clone(),
            name: row.name.clone(),
            spec: opened.spec,
            pod: opened.pod,
            inbox: inbox.into(),
            feed,
            context: None,
            work: Work::default(),
            is_deleted: false,
            inner,
        };
        task.catch_up().await?;
        Ok(task)
    }

    async fn live(mut self, requests: &mut mpsc::Receiver<Request>) {
        self.start_next().await;
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
        self.work.is_idle() && (self.inbox.is_empty() || self.pod.state != PodState::Idle)
    }

    async fn take(&mut self, request: Request) {
        match request {
            Request::Settle { reply } => {
                let _ = reply.send(());
            }
            Request::Command { command, key, origin, reply } => {
                let answer = self.command(*command, key, &origin).await;
                let _ = reply.send(answer);
                self.start_next().await;
            }
        }
    }

    /// Begins the oldest queued input when the Pod is idle.
    async fn start_next(&mut self) {
        while self.pod.state == PodState::Idle && self.work.is_idle() && !self.is_deleted {
            let Some(next) = self.inbox.pop_front() else { return };
            let input = Input::Submit {
                command_id: next.command_id.clone(),
                segments: next.segments.clone(),
                by: next.by.clone(),
            };
            let taken = commit::Extras { inbox_taken: vec![next.command_id.clone()], ..Default::default() };
            if let Err(error) = self.advance([input], taken).await {
                tracing::error!(%error, pod = %self.name, "a queued input could not begin; it stays queued");
                return;
            }
        }
    }

    /// Takes what the world did: decides, commits, shows, acts.
    async fn happened(&mut self, happening: Happening) {
        let inputs = self.work.inputs(happening);
        if let Err(error) = self.advance(inputs, commit::Extras::default()).await {
            tracing::error!(%error, pod = %self.name, "what the model said could not be stored; the run is interrupted");
        }
        self.start_next().await;
    }

    /// Decides on each input in turn, commits all that follows in one transaction, shows it, and then acts.
    async fn advance(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        extras: commit::Extras,
    ) -> Result<commit::Outcome, ApiError> {
        let mut staged = self.stage();
        let mut effects = Vec::new();
        for input in inputs {
            match decide(&self.pod, &self.spec, input) {
                Ok(decision) => {
                    effects.extend(decision.effects);
                    self.add(&mut staged, decision.steps);
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
                    self.context = None;
                }
                Effect::CallModel => self.call_model().await,
                Effect::RunTool { call_id, name, arguments } => {
                    let tool = self.inner.toolbox.get(&name).ok_or_else(|| self.inner.toolbox.unknown(&name));
                    self.work.run_tool(call_id, tool, arguments);
                }
            }
        }
        if self.pod.run.is_none() {
            self.context = None;
        }
    }

    fn pod_ref(&self) -> PodRef {
        PodRef::new(RuntimeId::local(), self.worker_id.clone())
    }
}

impl Drop for PodTask {
    fn drop(&mut self) {
        self.inner.release_feed(&self.worker_id, &self.feed);
    }
}

fn note_failure(inner: &Inner, name: &PodName, reason: &str) {
    tracing::error!(pod = %name, reason, "a Pod could not be restored");
    inner.failed.lock().expect("no holder of this list panics").insert(name.to_string(), reason.to_owned());
}
