//! The life of a Pod's task: it handles requests and outside events one at a time, and ends when there is nothing left
//! to do.

use std::sync::Arc;

use pod::{AgentPiece, Input, ModelPiece};
use protocol::{ApiError, ToolAnswer, ToolBy, WorkerId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{
    Actor, Actors, Happening, Held,
    by_hand::await_call,
    commands::{Carrying, PodCommand},
    commit::Extras,
    mailbox::Mailbox,
};
use crate::{CommandKey, Origin, ground::Slip};

/// What a Pod's task can be sent.
#[derive(Debug)]
pub(crate) enum Request {
    Command {
        command: Box<PodCommand>,
        key: CommandKey,
        origin: Origin,
        /// The answer as JSON.
        reply: Reply<String>,
    },
    /// Runs a tool beside the Pod's run, for a person or for the Pod's agent. Answered when the tool has ended.
    Tool { call: OutsideCall, key: CommandKey, origin: Origin, reply: Reply<ToolAnswer> },
    /// Answered once the Pod has recovered from a crash.
    Settle { reply: oneshot::Sender<()> },
    /// There may be mail. Carries none: the mailbox is read (I6).
    Wake,
    /// Pause until an order comes, so that several Pods can change in one transaction.
    Hold { reply: Reply<Held> },
}

/// A call that belongs to no run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OutsideCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    /// A person or the Pod's agent.
    pub(crate) by: ToolBy,
}

/// Where the answer goes. If the caller gives up before the request is taken, the request is not carried out.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    pub(super) answer: oneshot::Sender<Result<T, ApiError>>,
    pub(super) slip: Slip,
}

impl<T> Reply<T> {
    /// Takes the request. Returns false if the caller was already told that nothing was done.
    fn take(&self) -> bool {
        self.slip.take()
    }

    /// Returns false if the caller has gone away.
    pub(super) fn send(self, answer: Result<T, ApiError>) -> bool {
        self.answer.send(answer).is_ok()
    }
}

impl Request {
    fn refuse(self, error: &ApiError) {
        let _ = match self {
            Self::Command { reply, .. } => reply.send(Err(error.clone())),
            Self::Tool { reply, .. } => reply.send(Err(error.clone())),
            Self::Hold { reply } => reply.send(Err(error.clone())),
            // Dropping `reply` tells the waiters that nobody is there.
            Self::Settle { .. } | Self::Wake => false,
        };
    }
}

/// Loads the Pod and runs it until it is at rest.
pub(super) async fn run(actors: Arc<Actors>, worker_id: WorkerId, mut requests: mpsc::Receiver<Request>) {
    match Box::pin(Actor::load(actors.clone(), &worker_id)).await {
        Ok(actor) => Box::pin(PodTask { actor, mailbox: Mailbox::new() }.live(&mut requests)).await,
        Err(error) => refuse_all(&actors, &worker_id, &mut requests, &error).await,
    }
    actors.tasks.forget(&worker_id, &mut requests);
    // Requests that arrived between the last look and the closing of the channel go to the next task; nothing of them
    // was done. If the server is stopping there is no next task, and the senders see that nobody is there.
    while let Some(request) = requests.recv().await {
        if let Err(error) = actors.send(&worker_id, request).await {
            tracing::debug!(%error, %worker_id, "a request came too late");
        }
    }
}

async fn refuse_all(actors: &Actors, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>, error: &ApiError) {
    while !actors.tasks.rest(worker_id, requests) {
        if let Some(request) = requests.recv().await {
            request.refuse(error);
        }
    }
}

/// A Pod and what it takes in turn.
struct PodTask {
    actor: Actor,
    mailbox: Mailbox,
}

impl PodTask {
    async fn live(mut self, requests: &mut mpsc::Receiver<Request>) {
        let stopping = self.actor.actors.stopping.clone();
        self.go_on().await;
        loop {
            let Actor { actors, state, .. } = &self.actor;
            if self.is_resting() && (state.is_deleted || actors.tasks.rest(&state.worker_id, requests)) {
                break;
            }
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                request = requests.recv() => match request {
                    Some(request) => self.take(request).await,
                    None => break,
                },
                happening = self.actor.next() => self.happened(happening).await,
            }
        }
    }

    /// True if nothing is running and nothing is waiting to begin.
    fn is_resting(&self) -> bool {
        let state = &self.actor.state;
        // The caller of an agent's call waits here, even while the call itself waits for a person.
        self.actor.is_idle()
            && self.actor.waiters.is_empty()
            && self.mailbox.is_empty()
            && (state.queue.is_empty() || !state.is_idle())
    }

    async fn take(&mut self, request: Request) {
        match request {
            Request::Settle { reply } => {
                let _ = reply.send(());
            }
            Request::Command { command, key, origin, reply } if reply.take() => {
                if command.is_restore() {
                    self.mailbox.has_mail();
                }
                let carrying = Carrying::new(&mut self.actor, key, &origin);
                reply.send(Box::pin(carrying.carry_out(*command)).await);
            }
            Request::Tool { call, key, origin, reply } if reply.take() => {
                let carrying = Carrying::new(&mut self.actor, key, &origin);
                match carrying.begin_call(call).await {
                    Ok(begun) => await_call(&mut self.actor, begun, reply).await,
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            Request::Hold { reply } if reply.take() => {
                if self.actor.hold(reply).await {
                    self.mailbox.has_mail();
                }
            }
            // The caller was told that nothing was done.
            Request::Command { .. } | Request::Tool { .. } | Request::Hold { .. } => (),
            Request::Wake => self.mailbox.has_mail(),
        }
        self.actor.hold_servers().await;
        self.go_on().await;
    }

    /// Handles an outside event: decides, commits, publishes, acts.
    async fn happened(&mut self, happening: Happening) {
        let inputs = self.actor.inputs(happening).await;
        let is_summary = inputs.iter().any(|input| matches!(input, Input::Summarised(_)));
        let is_used = inputs.iter().any(|input| {
            matches!(
                input,
                Input::Model(ModelPiece::Usage(_)) | Input::Agent(AgentPiece::Usage(_)) | Input::Unfinished(_)
            )
        });
        if !inputs.is_empty()
            && let Err(error) = self.actor.advance(inputs, Extras::default()).await
        {
            let pod = &self.actor.state.name;
            if is_summary {
                tracing::error!(%error, %pod, "a summary could not be stored; the context stays as it was");
            } else {
                tracing::error!(%error, %pod, "the model's answer could not be stored; the run is interrupted");
                self.actor.read_again(true).await;
            }
        }
        if is_used {
            self.actor.warn_of_budgets().await;
        }
        self.actor.start_calls().await;
        self.go_on().await;
    }

    /// Takes what is waiting: ends of background commands, mail, then the oldest queued input.
    async fn go_on(&mut self) {
        self.actor.end_unknown_commands();
        self.note_ended_commands().await;
        self.read_mail().await;
        self.start_next().await;
    }

    async fn note_ended_commands(&mut self) {
        if let Some(ended) = self.actor.ended_commands()
            && let Err(error) = self.actor.advance([ended], Extras::default()).await
        {
            let pod = &self.actor.state.name;
            tracing::error!(%error, %pod, "the end of a background command could not be recorded; it is tried again");
        }
        self.actor.forget_commands();
    }

    async fn read_mail(&mut self) {
        let Actor { actors, state, .. } = &self.actor;
        let Some((inputs, extras)) = self.mailbox.letters(actors, state).await else { return };
        if let Err(error) = self.actor.advance(inputs, extras).await {
            let pod = &self.actor.state.name;
            tracing::error!(%error, %pod, "mail could not be taken; it stays in the mailbox");
        }
    }

    /// Begins queued inputs while the Pod is idle.
    async fn start_next(&mut self) {
        while self.actor.state.is_idle() && !self.actor.is_answering() {
            match self.actor.begin_next().await {
                Ok(true) => (),
                Ok(false) => return,
                Err(error) => {
                    let pod = &self.actor.state.name;
                    tracing::error!(%error, %pod, "a queued input could not begin; it stays queued");
                    return;
                }
            }
        }
    }
}
