//! One session of the editor: a Pod, the editor's pending prompts, and the questions pending in the editor.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_client_protocol::v1::schema::{
    AvailableCommandsUpdate, ConfigOptionUpdate, ContentBlock, CurrentModeUpdate, Plan, PromptResponse, SessionId,
    SessionInfoUpdate, SessionNotification, SessionUpdate, StopReason,
};
use client::{Client, ClientError};
use protocol::{
    CommandId, ControlVerb, ErrorCode, InputCommand, Outcome, PodDetail, PodRef,
    operations::{Input, Pod, TakeBack},
};
use serde_json::json;
use tokio::{sync::oneshot, task::AbortHandle};

use super::{
    Refused, choices, prompt,
    translate::{self, Translator},
    wire::Wire,
};

/// A session. Dropping it stops following the Pod; the Pod itself continues.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) wire: Arc<Wire>,
    pub(super) pod: PodRef,
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    translator: Mutex<Translator>,
    asked: Mutex<Asked>,
    /// By id.
    questions: Mutex<HashMap<String, Asking>>,
    following: Mutex<Option<AbortHandle>>,
}

/// What the editor waits for.
#[derive(Debug, Default)]
struct Asked {
    /// Prompts whose runs have not ended.
    prompts: HashMap<CommandId, oneshot::Sender<Ended>>,
    /// The current run, by the message that began it.
    running: Option<CommandId>,
    is_running: bool,
}

/// A question shown in the editor.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) request: i64,
    /// The task that passes its answer on.
    pub(super) waiting: AbortHandle,
}

type Ended = Result<StopReason, Refused>;

impl Session {
    pub(super) fn new(client: Client, wire: Arc<Wire>, pod: PodRef, cwd: PathBuf) -> Self {
        let id = SessionId::new(pod.to_string());
        let translator = Mutex::new(Translator::new(&cwd));
        let (asked, questions, following) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { client, wire, pod, id, cwd, translator, asked, questions, following }
    }

    /// Sends an update to the editor.
    pub(super) async fn show(&self, update: SessionUpdate) {
        self.wire.tell("session/update", &SessionNotification::new(self.id.clone(), update)).await;
    }

    /// Shows what no record of the replay shows: the Pod's name, its agent's commands, its plan, how much of the
    /// context is used. Sent once the editor knows the session.
    pub(super) async fn introduce(&self) {
        let Ok(detail) = self.client.read(&Pod { pod: self.pod.clone() }).await else { return };
        let info = SessionInfoUpdate::new().title(detail.summary.name.to_string());
        self.show(SessionUpdate::SessionInfoUpdate(info)).await;
        if detail.session.is_some() {
            self.show_commands(&detail).await;
        }
        let plan = detail.session.as_ref().map_or(&detail.tasks, |session| &session.plan);
        if let Some(entries) = serde_json::from_value(json!(plan)).ok().filter(|_| !plan.is_empty()) {
            self.show(SessionUpdate::Plan(Plan::new(entries))).await;
        }
        if let Some(usage) = translate::usage(&detail.summary.usage) {
            self.show(usage).await;
        }
    }

    /// Shows how much of the context is used now, and what everything has cost.
    pub(super) async fn show_usage(&self) {
        let Ok(detail) = self.client.read(&Pod { pod: self.pod.clone() }).await else { return };
        if let Some(usage) = translate::usage(&detail.summary.usage) {
            self.show(usage).await;
        }
    }

    /// Shows what can be chosen now, because it has changed; with the commands if those may have changed, too.
    pub(super) async fn show_choices(&self, with_commands: bool) {
        let Ok(detail) = self.client.read(&Pod { pod: self.pod.clone() }).await else { return };
        if let Ok(options) = choices::offered(&self.client, &detail).await {
            self.show(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options))).await;
        }
        if with_commands {
            self.show_commands(&detail).await;
        }
    }

    /// Shows the mode that the Pod, or its agent, is in now.
    pub(super) async fn show_mode(&self) {
        let Ok(detail) = self.client.read(&Pod { pod: self.pod.clone() }).await else { return };
        if let Some(modes) = choices::modes(&detail) {
            self.show(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(modes.current_mode_id))).await;
        }
    }

    async fn show_commands(&self, detail: &PodDetail) {
        let commands = AvailableCommandsUpdate::new(choices::commands(detail));
        self.show(SessionUpdate::AvailableCommandsUpdate(commands)).await;
    }

    /// Sends a message, and waits for the end of its run.
    pub(super) async fn prompt(&self, blocks: Vec<ContentBlock>) -> Result<PromptResponse, Refused> {
        let segments = prompt::segments(&self.client, &self.cwd, blocks).await?;
        let (id, (sender, ended)) = (CommandId::random(), oneshot::channel());
        // Registered before it is sent, because its events may arrive before the receipt.
        self.translator().is_own(id.clone());
        self.asked().prompts.insert(id.clone(), sender);
        let body = InputCommand { segments, queue: true, steer: false };
        let input = Input { pod: self.pod.clone(), body };
        let sent = match self.client.carry_out(&id, &input).await {
            // It was stopped in the meantime; writing to it restores it.
            Err(error) if is_stopped(&error) => {
                let restore = ControlVerb::Restore.of(self.pod.clone());
                self.client.command(&CommandId::random(), &restore).await?;
                self.client.carry_out(&id, &input).await
            }
            sent => sent,
        };
        if let Err(error) = sent {
            self.asked().prompts.remove(&id);
            return Err(error.into());
        }
        match ended.await {
            Ok(ended) => ended.map(PromptResponse::new),
            Err(_) => Err(Refused::new(-32_603, "the session was closed, or reopened")),
        }
    }

    /// Cancels what the editor waits for: takes back queued messages, and cancels the current run.
    pub(super) async fn cancel(&self) {
        let (waiting, is_running) = {
            let asked = self.asked();
            let waiting = asked.prompts.keys().filter(|id| asked.running.as_ref() != Some(*id)).cloned();
            (waiting.collect::<Vec<_>>(), asked.is_running)
        };
        for command_id in waiting {
            let take_back = TakeBack { pod: self.pod.clone(), command_id: command_id.clone() };
            if self.client.carry_out(&CommandId::random(), &take_back).await.is_ok() {
                self.settle(&command_id, Ok(StopReason::Cancelled));
            }
        }
        if is_running {
            let cancel = ControlVerb::Cancel.of(self.pod.clone());
            if let Err(error) = self.client.command(&CommandId::random(), &cancel).await {
                eprintln!("yoi acp: the run was not cancelled: {error}");
            }
        }
    }

    /// A run has begun, by a message or otherwise.
    pub(super) fn run_began(&self, command: Option<&CommandId>) {
        let mut asked = self.asked();
        (asked.running, asked.is_running) = (command.cloned(), true);
    }

    /// The run has ended: reports how to whoever waits for it.
    pub(super) fn run_ended(&self, outcome: Outcome, code: Option<&str>, detail: Option<&str>) {
        let running = {
            let mut asked = self.asked();
            asked.is_running = false;
            asked.running.take()
        };
        let Some(command) = running else { return };
        let failed = || {
            let why = detail.or(code).unwrap_or("the run failed");
            Refused::new(-32_603, why)
        };
        self.settle(
            &command,
            match outcome {
                Outcome::Completed | Outcome::Paused | Outcome::Interrupted => Ok(StopReason::EndTurn),
                Outcome::Cancelled => Ok(StopReason::Cancelled),
                Outcome::Limit if matches!(code, Some("max_tokens" | "output_limit")) => Ok(StopReason::MaxTokens),
                Outcome::Limit => Ok(StopReason::MaxTurnRequests),
                Outcome::RolledBack | Outcome::Error => Err(failed()),
            },
        );
    }

    fn settle(&self, command: &CommandId, ended: Ended) {
        if let Some(waiting) = self.asked().prompts.remove(command) {
            // The editor may have given up.
            let _ = waiting.send(ended);
        }
    }

    /// The Pod is gone: nothing will answer those who wait.
    pub(super) fn is_gone(&self, why: &str) {
        let waiting: Vec<_> = self.asked().prompts.drain().collect();
        for (_, waiting) in waiting {
            let _ = waiting.send(Err(Refused::new(-32_002, why)));
        }
    }

    pub(super) fn is_followed_by(&self, following: AbortHandle) {
        *self.following.lock().unwrap_or_else(PoisonError::into_inner) = Some(following);
    }

    pub(super) fn translator(&self) -> MutexGuard<'_, Translator> {
        self.translator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn questions(&self) -> MutexGuard<'_, HashMap<String, Asking>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(following) = self.following.lock().unwrap_or_else(PoisonError::into_inner).take() {
            following.abort();
        }
    }
}

fn is_stopped(error: &ClientError) -> bool {
    error.api().is_some_and(|error| error.code == ErrorCode::NotLive)
}
