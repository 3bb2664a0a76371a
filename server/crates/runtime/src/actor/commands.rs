//! What a Pod does with a command. Each is committed together with its key, answer and audit row, or not at all.

use std::io;

use jiff::Timestamp;
use pod::{Input, PodSpec};
use pod_store::{InboxRow, PodUpdate};
use protocol::{
    ApiError, ApprovalCommand, Blobs, CommandId, CommitCommand, ControlEvent, ControlVerb, ErrorCode, Event,
    InputCommand, Interrupted, PodState, Receipt, Record, RevertCommand, ReviewCommand, ReviewDrafts, RewindCommand,
    Segment, Seq, TurnEvent, UndoCommand, WorktreeCommand,
};
use serde::{Deserialize, Serialize};

use super::{
    Actor,
    budgets::{self, Budgets},
    commit::{Extras, Outcome},
    ends_exchange,
    patch::Patch,
    place, trees,
};
use crate::{
    CommandKey, Origin, blobs, clock,
    command::{answer_of, audit},
    error, view,
};

/// What a client asks of one Pod.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum PodCommand {
    Input(InputCommand),
    /// Takes back a queued input, identified by its command's id.
    TakeBack(CommandId),
    Control(ControlVerb),
    /// Ends the run and takes back every queued input.
    Interrupt,
    /// The usage limit that paused the Pod has passed.
    LimitOver,
    Patch(Box<Patch>),
    Rewind(RewindCommand),
    /// Ends a background command.
    StopCommand(String),
    Revert(RevertCommand),
    UndoRevert(UndoCommand),
    Review(ReviewCommand),
    KeepDrafts(ReviewDrafts),
    Answer {
        id: String,
        command: ApprovalCommand,
    },
    /// Takes back the rule with this id.
    RemoveRule {
        id: String,
    },
    ChangeWorktree(WorktreeCommand),
    CommitChanges(CommitCommand),
    Delete,
}

impl PodCommand {
    pub(super) fn is_restore(&self) -> bool {
        matches!(self, Self::Control(ControlVerb::Restore))
    }
}

/// A command being carried out. Answers are JSON.
pub(super) struct Carrying<'a> {
    pub(super) actor: &'a mut Actor,
    pub(super) key: CommandKey,
    pub(super) origin: &'a Origin,
    /// What is noted on the changes once it is carried out, as JSON, if that differs from before.
    pub(super) drafts: Option<String>,
}

impl<'a> Carrying<'a> {
    pub(super) fn new(actor: &'a mut Actor, key: CommandKey, origin: &'a Origin) -> Self {
        Self { actor, key, origin, drafts: None }
    }
}

impl Carrying<'_> {
    pub(super) async fn carry_out(mut self, command: PodCommand) -> Result<String, ApiError> {
        if let Some(answer) = self.first_answer().await? {
            return Ok(answer);
        }
        match command {
            PodCommand::Input(input) => self.input(input).await,
            PodCommand::TakeBack(id) => self.take_back(&id).await,
            PodCommand::Control(verb) => self.control(verb).await,
            PodCommand::Interrupt => self.interrupt().await,
            PodCommand::LimitOver => self.enter(Input::LimitOver, "resume", |_| false).await,
            PodCommand::Patch(patch) => Box::pin(self.patch(*patch)).await,
            PodCommand::Rewind(rewind) => Box::pin(self.rewind(rewind)).await,
            PodCommand::StopCommand(id) => self.stop_command(&id).await,
            PodCommand::Revert(revert) => self.revert(revert).await,
            PodCommand::UndoRevert(undo) => self.undo(undo).await,
            PodCommand::Review(review) => Box::pin(self.review(review)).await,
            PodCommand::KeepDrafts(drafts) => self.keep_drafts(drafts).await,
            PodCommand::Answer { id, command } => Box::pin(self.answer(id, command)).await,
            PodCommand::RemoveRule { id } => self.remove_rule(&id).await,
            PodCommand::ChangeWorktree(command) => Box::pin(self.change_worktree(command)).await,
            PodCommand::CommitChanges(command) => self.commit_changes(command).await,
            PodCommand::Delete => self.delete().await,
        }
    }

    /// The answer that the command was given if it was carried out before. A deleted Pod does nothing new.
    pub(super) async fn first_answer(&mut self) -> Result<Option<String>, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        match actors.store.commands().find(&self.key.id).await? {
            Some(row) => self.key.repeated(row).map(Some),
            None if state.is_deleted => Err(error::no_such_pod(&state.worker_id)),
            None => Ok(None),
        }
    }

    /// Commits the command with its consequences, and acts. If the command had been carried out before, returns its
    /// first answer and writes nothing.
    pub(super) async fn commit(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        extras: Extras,
    ) -> Result<Option<String>, ApiError> {
        match Box::pin(self.actor.advance(inputs, extras)).await? {
            Outcome::Done => Ok(None),
            Outcome::Repeated(row) => self.key.repeated(row).map(Some),
        }
    }

    /// What the command itself adds to the transaction.
    pub(super) fn extras(&self, action: &str, now: Timestamp, answer: &impl Serialize) -> Extras {
        Extras {
            command: Some(self.key.row(answer_of(answer), now)),
            audit: Some(audit(now, self.origin, action, self.actor.state.pod_ref().to_string())),
            update: PodUpdate { drafts: self.drafts.clone(), ..PodUpdate::default() },
            ..Extras::default()
        }
    }

    fn receipt(&self, now: Timestamp, seq: Seq) -> Receipt {
        Receipt { command_id: self.key.id.clone(), accepted_at: now, seq, report: Vec::new() }
    }

    pub(super) async fn input(&mut self, input: InputCommand) -> Result<String, ApiError> {
        check_segments(&input.segments)?;
        self.check_files(&input.segments).await?;
        let blobs = blobs::named(&self.actor.actors.store, &input.segments).await?;
        self.check_budgets().await?;
        let state = &self.actor.state;
        let is_working = matches!(state.pod.state, PodState::Running | PodState::Waiting);
        let steers = is_working && input.steer;
        let is_next = state.pod.state != PodState::Paused || state.queue.is_empty();
        if steers || (is_working && input.queue) || !is_next {
            return self.enqueue(input.segments, blobs, steers).await;
        }
        let (command_id, by) = (self.key.id.clone(), self.origin.by.clone());
        let submit = Input::Submit { command_id, segments: input.segments, by, blobs };
        self.enter(submit, "input", |kind| kind == "user_message").await
    }

    /// Checks that the files a message refers to are in the scope, since the model is told that it may read them. Paths
    /// are compared as text; whoever opens a file checks what it really is.
    async fn check_files(&mut self, segments: &[Segment]) -> Result<(), ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let paths = segments.iter().filter_map(|segment| match segment {
            Segment::FileRef { path } => Some(path.as_str()),
            _ => None,
        });
        let mut scope = None;
        for path in paths {
            let scope = match &scope {
                Some(scope) => scope,
                None => scope.insert(place::scope(actors, state.key, &state.spec).await?),
            };
            let absolute = tools::files::absolute(&state.spec.cwd, path).map_err(ApiError::invalid)?;
            scope.may_read(&absolute).map_err(|refusal| {
                ApiError::new(ErrorCode::ScopeNotHeld, format!("{path} {refusal}; take it out of the message"))
            })?;
        }
        Ok(())
    }

    /// Queues an accepted input until its turn comes.
    async fn enqueue(&mut self, segments: Vec<Segment>, blobs: Blobs, steers: bool) -> Result<String, ApiError> {
        let state = &self.actor.state;
        state.queue.check_room(&state.name, &segments)?;
        let now = clock::now();
        let (command_id, by) = (self.key.id.clone(), self.origin.by.clone());
        let row = InboxRow { command_id, segments, by, at: now, steers, blobs };
        let receipt = self.receipt(now, state.pod.head);
        let extras = Extras { inbox_put: Some(row.clone()), ..self.extras("input", now, &receipt) };
        if let Some(first) = self.commit(None, extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, .. } = &mut *self.actor;
        state.queue.put(row);
        actors.list.tell_changed(&state.worker_id);
        if state.pod.state == PodState::Paused {
            // A message to a paused Pod resumes it, and the queue keeps its order.
            self.actor.begin_next().await?;
        }
        Ok(answer_of(&receipt))
    }

    /// Removes a queued input from the queue and returns it. The same task begins inputs, one at a time, so an input is
    /// either taken back or begun, never both.
    async fn take_back(&mut self, id: &CommandId) -> Result<String, ApiError> {
        let Some(row) = self.actor.state.queue.find(id).cloned() else {
            return Err(self.not_queued(id).await?);
        };
        let queued = view::queued(row);
        let extras = Extras { inbox_taken: vec![id.clone()], ..self.extras("input", clock::now(), &queued) };
        if let Some(first) = self.commit(None, extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, .. } = &mut *self.actor;
        state.queue.forget(id);
        actors.list.tell_changed(&state.worker_id);
        Ok(answer_of(&queued))
    }

    /// Refuses work when a budget is spent.
    pub(super) async fn check_budgets(&mut self) -> Result<(), ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let Some(budgets) = Budgets::of(actors, state) else { return Ok(()) };
        match budgets.look().await?.spent {
            Some(sentence) => Err(budgets::refused(sentence)),
            None => Ok(()),
        }
    }

    /// Why an input is not in the queue: it has begun, was taken back, or never existed.
    async fn not_queued(&mut self, id: &CommandId) -> Result<ApiError, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let command = actors.store.commands().find(id).await?;
        let receipt = command.and_then(|row| serde_json::from_str::<Receipt>(&row.answer).ok());
        if let Some(receipt) = receipt {
            let records = actors.store.journals().turns(state.key, receipt.seq).await?;
            let is_it = |event: Event| matches!(event, Event::Turn(TurnEvent::UserMessage { command_id, .. }) if command_id == *id);
            if records
                .iter()
                .any(|row| serde_json::from_slice(&row.body).is_ok_and(|record: Record| is_it(record.event)))
            {
                let sentence =
                    format!("the message {id} has begun, so it cannot be taken back; cancel the run instead");
                return Ok(ApiError::new(ErrorCode::AlreadyAnswered, sentence));
            }
        }
        let sentence = format!("pod \"{}\" has no queued message {id}; GET the Pod to see its queue", state.name);
        Ok(ApiError::new(ErrorCode::NotFound, sentence))
    }

    async fn control(&mut self, verb: ControlVerb) -> Result<String, ApiError> {
        let input = match verb {
            ControlVerb::Pause => Input::Pause,
            ControlVerb::Resume => Input::Resume { command_id: Some(self.key.id.clone()) },
            ControlVerb::Cancel => Input::Cancel,
            ControlVerb::Stop => Input::Stop,
            ControlVerb::Restore => Input::Restore,
            ControlVerb::Compact => Input::Compact,
            ControlVerb::Retry => return self.retry().await,
        };
        if matches!(verb, ControlVerb::Pause | ControlVerb::Cancel | ControlVerb::Stop) {
            self.record_written().await?;
        }
        self.enter(input, verb.as_str(), |_| false).await
    }

    /// Records what running commands have written until now: their calls are about to be ended.
    async fn record_written(&mut self) -> Result<(), ApiError> {
        let written = self.actor.calls.drain().await;
        if !written.is_empty() {
            Box::pin(self.actor.advance(written, Extras::default())).await?;
        }
        Ok(())
    }

    /// Carries out a command that is nothing but an input. The receipt points at the last event of the given kind or,
    /// if there is none, at the last record of all.
    pub(super) async fn enter(
        &mut self,
        input: Input,
        action: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<String, ApiError> {
        self.enter_with(input, Vec::new(), action, wanted).await
    }

    /// The same, with notes for people after it.
    pub(super) async fn enter_with(
        &mut self,
        input: Input,
        notes: Vec<ControlEvent>,
        action: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<String, ApiError> {
        let now = clock::now();
        let receipt = self.receipt_after(now, &input, wanted)?;
        let notes = (!notes.is_empty()).then_some(Input::Note(notes));
        let inputs = std::iter::once(input).chain(notes);
        let first = self.commit(inputs, self.extras(action, now, &receipt)).await?;
        Ok(first.unwrap_or_else(|| answer_of(&receipt)))
    }

    /// The receipt of a command that is this input.
    fn receipt_after(&self, now: Timestamp, input: &Input, wanted: impl Fn(&str) -> bool) -> Result<Receipt, ApiError> {
        let Actor { actors, state, exchange, .. } = &*self.actor;
        let seq = state.seq_after(input.clone(), wanted)?;
        let owes = ends_exchange(input) && exchange.owed(actors).is_some();
        Ok(self.receipt(now, if owes { seq.next() } else { seq }))
    }

    /// Ends the run and empties the queue in one commit, so that nothing of the queue begins and nothing of it is lost:
    /// the answer, which is stored with the command, has all of it.
    async fn interrupt(&mut self) -> Result<String, ApiError> {
        self.record_written().await?;
        let now = clock::now();
        let receipt = self.receipt_after(now, &Input::Cancel, |_| false)?;
        let rows = self.actor.state.queue.rows();
        let inbox_taken = rows.iter().map(|row| row.command_id.clone()).collect();
        let answer = Interrupted { receipt, queued: rows.into_iter().map(view::queued).collect() };
        let extras = Extras { inbox_taken, ..self.extras(ControlVerb::Cancel.as_str(), now, &answer) };
        if let Some(first) = self.commit([Input::Cancel], extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, .. } = &mut *self.actor;
        state.queue.clear();
        actors.list.tell_changed(&state.worker_id);
        Ok(answer_of(&answer))
    }

    /// Stops everything and deletes the Pod with all its data.
    async fn delete(&mut self) -> Result<String, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        // Its peers are told before it is deleted. While this runs it cannot get new ones.
        if actors.above()?.knows_anybody(state.key).await? {
            let sentence = format!("pod \"{}\" has just become a peer of another Pod; try again", state.name);
            return Err(ApiError::new(ErrorCode::Busy, sentence));
        }
        if !self.actor.end_work().await {
            self.actor.read_again(true).await;
            return Err(error::does_not_end(&self.actor.state.name));
        }
        let extras = Extras { delete: true, ..self.extras("delete", clock::now(), &()) };
        if let Some(first) = self.commit(None, extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, feed, .. } = &mut *self.actor;
        state.is_deleted = true;
        actors.equipment.background.forget(&state.worker_id);
        state.queue.clear();
        feed.tell_gone();
        // The long outputs of a deleted Pod. What cannot be removed only takes up space.
        match tokio::fs::remove_dir_all(actors.outputs_of(&state.worker_id)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "the long outputs of a deleted Pod stay behind");
            }
            _ => (),
        }
        match tokio::fs::remove_dir_all(actors.snapshots_of(&state.worker_id)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "the snapshots of a deleted Pod stay behind until the next start");
            }
            _ => (),
        }
        actors.shown.forget(&state.worker_id);
        actors.failed.lock().expect("no holder of this list panics").remove(state.name.as_str());
        trees::leave(actors, state.key, &state.spec).await;
        Ok(answer_of(&()))
    }
}

pub(super) fn encoded(spec: &PodSpec) -> String {
    serde_json::to_string(spec).expect("a recipe always encodes")
}

/// Checks that there is something to say, in segments of known types and within the size limits.
fn check_segments(segments: &[Segment]) -> Result<(), ApiError> {
    if segments.iter().any(|segment| matches!(segment, Segment::Unknown(_))) {
        return Err(ApiError::invalid("a segment is of type text, paste, file_ref, image or file"));
    }
    let is_blank = |segment: &Segment| match segment {
        Segment::FileRef { path } => path.trim().is_empty(),
        other => other.as_text().trim().is_empty(),
    };
    if segments.iter().all(is_blank) {
        return Err(ApiError::invalid("the message is empty; write something"));
    }
    let bytes = Segment::bytes(segments);
    match bytes > protocol::INPUT_BYTES_MAX {
        true => Err(ApiError::input_too_large(bytes)),
        false => Ok(()),
    }
}
