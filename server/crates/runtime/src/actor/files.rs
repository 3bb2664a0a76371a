//! The Pod's files: snapshots around what it does, and what people do about its changes.

use std::sync::Arc;

use pod::Input;
use protocol::{
    AlertLevel, ApiError, COMMENT_BYTES_MAX, COMMENTS_MAX, ControlEvent, ErrorCode, InputCommand, RevertCommand,
    Reverted, ReviewCommand, RewindCommand, Segment, Since, UndoCommand, tool,
};

use super::{Actor, Actors, calls::Call, commands::Carrying, place, state::State};
use crate::{
    changes::{self, Archive, Base, Folders, Plan, Shelf, Step},
    clock,
    command::answer_of,
};

/// The Pod's folders as they are given to it now.
async fn folders(actors: &Actors, state: &State) -> Result<Folders, ApiError> {
    let State { key, spec, worker_id, .. } = state;
    let scope = place::scope(actors, *key, spec).await?;
    Ok(Folders { cwd: spec.cwd.clone(), scope, snapshots: actors.snapshots_of(worker_id), also: Vec::new() })
}

/// The snapshots around a turn of the Pod's agent. Without them, the turn continues all the same.
pub(super) async fn step_of_turn(actors: &Actors, state: &State, shelf: &Arc<Shelf>) -> Option<Step> {
    match folders(actors, state).await {
        Ok(folders) => Some(Step::new(shelf.clone(), folders)),
        Err(error) => {
            tracing::warn!(%error, "there is no snapshot of an agent's turn");
            None
        }
    }
}

impl Actor {
    /// Takes the snapshot after its agent's turn, if one has ended.
    pub(super) fn end_turn(&mut self) {
        if self.exchange.is_going_on() {
            return;
        }
        if let Some(step) = self.exchange.end_step() {
            let after = self.state.pod.head.next();
            self.actors.tracker.spawn(crate::watched(step.end(after)));
        }
    }
}

/// Whether a call may change files: around it, snapshots are taken. What an agent asks for in its turn is part of that turn.
pub(super) fn may_change(call: &Call) -> bool {
    let changes = tool::facts(&call.name).changes;
    matches!(changes, tool::Changes::Files | tool::Changes::Anything) && call.wanted.is_none()
}

/// The file that a call changes, if it is a tool for that.
pub(super) fn changed_file(call: &Call) -> Option<String> {
    let is_it = tool::facts(&call.name).changes == tool::Changes::Files;
    let asked = || call.arguments.get("path").and_then(|path| path.as_str()).map(str::to_owned);
    is_it.then(|| call.leads.clone().or_else(asked)).flatten()
}

impl Carrying<'_> {
    /// Reverts a change of a file. The disk is written before the record: what a kill leaves in between is a file
    /// that is reverted already.
    pub(super) async fn revert(&mut self, command: RevertCommand) -> Result<String, ApiError> {
        let folders = self.folders().await?;
        let base = self.base(&folders, command.since).await?;
        let path = tools::files::named(&folders.cwd, &command.path).unwrap_or_default();
        let shown = || self.actor.actors.shown.version(&self.actor.state.worker_id, &path);
        let mut seen = command.version.clone().or_else(shown);
        if seen.is_none() && command.hunk.is_none() {
            // Before the next snapshot counts what somebody else has just done as known.
            let folders = folders.clone();
            seen = changes::blocking(move || changes::left_by_pod(&folders, &path)).await?;
        }
        let what = if command.hunk.is_some() { "a change in " } else { "" };
        self.change_file("revert", format!("reverted {what}"), folders, move |folders, archive| {
            changes::revert(folders, archive, &base, &command, seen.as_deref())
        })
        .await
    }

    /// Undoes a revert.
    pub(super) async fn undo(&mut self, command: UndoCommand) -> Result<String, ApiError> {
        let folders = self.folders().await?;
        let said = "undid the revert of ".to_owned();
        self.change_file("revert", said, folders, move |folders, archive| changes::undo(folders, archive, &command))
            .await
    }

    /// Changes a file between two snapshots, and notes it.
    async fn change_file(
        &mut self,
        action: &str,
        said: String,
        folders: Folders,
        change: impl FnOnce(&Folders, &Archive) -> Result<Reverted, ApiError> + Send + 'static,
    ) -> Result<String, ApiError> {
        let head = self.actor.state.pod.head;
        let mut step = Step::new(self.actor.shelf.clone(), folders.clone());
        step.begin(head).await;
        let done = changes::blocking(move || change(&folders, &Archive::read(&folders.snapshots)?)).await;
        step.end(head.next()).await;
        let done = done?;
        self.actor.actors.shown.became(&self.actor.state.worker_id, &done.path, &done.after);
        let note = note(format!("{said}{}", done.path));
        let extras = self.extras(action, clock::now(), &done);
        let first = self.commit(Some(Input::Note(vec![note])), extras).await?;
        Ok(first.unwrap_or_else(|| answer_of(&done)))
    }

    async fn folders(&mut self) -> Result<Folders, ApiError> {
        folders(&self.actor.actors, &self.actor.state).await
    }

    /// What the files are compared with.
    async fn base(&mut self, folders: &Folders, since: Since) -> Result<Base, ApiError> {
        let Actor { actors, state, .. } = &mut *self.actor;
        changes::base(actors, state.key, folders, since).await
    }

    /// Sends comments on the changes as one message.
    pub(super) async fn review(&mut self, review: ReviewCommand) -> Result<String, ApiError> {
        check_review(&review)?;
        let folders = self.folders().await?;
        self.drafts = self.drafts_without(&review.comments).await?;
        let text = changes::blocking(move || changes::message(&folders, &review)).await?;
        self.input(InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false }).await
    }

    /// Rewinds the context, and undoes what the Pod's calls have changed on the disk since. The files come first: what a
    /// kill leaves in between is done by repeating the command.
    pub(super) async fn rewind_with_files(&mut self, command: RewindCommand, input: Input) -> Result<String, ApiError> {
        // Refuses whatever the Pod would refuse, before a file is touched.
        self.actor.state.seq_after(input.clone(), |_| false)?;
        let RewindCommand { to_seq, overwrite, .. } = command;
        let folders = self.folders().await?;
        let head = self.actor.state.pod.head;
        // Keeps what is there now, also what others have made of it.
        self.actor.shelf.take(&folders, head).await?;
        let mut step = Step::new(self.actor.shelf.clone(), folders.clone());
        step.begin(head).await;
        let restoring = changes::blocking(move || {
            let archive = Archive::read(&folders.snapshots)?;
            let plan = Plan::of(&folders, &archive, to_seq)?;
            let others = plan.others();
            if !others.is_empty() && !overwrite {
                return Err(files_changed(others));
            }
            changes::restore(&folders, &archive, &plan)?;
            Ok(plan)
        });
        let restored = restoring.await;
        step.end(head.next()).await;
        let plan = restored?;
        let files: Vec<String> = plan.listed().into_iter().map(|file| file.path).collect();
        let mut notes = plan.notes();
        if !files.is_empty() {
            notes.insert(0, format!("brought back {}: {}", counted(files.len()), listed(&files)));
        }
        let notes: Vec<ControlEvent> = notes.into_iter().take(NOTES_MAX).map(note).collect();
        self.enter_with(input, notes, "rewind", |kind| kind == "rewound").await
    }
}

/// The most notes of one rewind.
const NOTES_MAX: usize = 20;
/// How many paths one sentence names.
const LISTED_MAX: usize = 20;

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

fn listed(files: &[String]) -> String {
    let more = files.len().saturating_sub(LISTED_MAX);
    let named = files.iter().take(LISTED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

fn files_changed(paths: Vec<String>) -> ApiError {
    let sentence = format!(
        "{} changed by somebody else since: {}; set `overwrite` to bring the former state back all the same, or rewind \
         without `files`",
        if paths.len() == 1 { "a file was" } else { "files were" },
        listed(&paths)
    );
    ApiError::new(ErrorCode::FilesChanged, sentence).with_paths(paths)
}

fn note(text: String) -> ControlEvent {
    ControlEvent::Alert { level: AlertLevel::Note, source: "changes".to_owned(), text, model: None }
}

fn check_review(review: &ReviewCommand) -> Result<(), ApiError> {
    let has_text = review.text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if review.comments.is_empty() && !has_text {
        return Err(ApiError::invalid("the review is empty; write a comment or a text"));
    }
    if review.comments.len() > COMMENTS_MAX {
        return Err(ApiError::invalid(format!("a review has at most {COMMENTS_MAX} comments; send it in parts")));
    }
    for comment in &review.comments {
        if comment.text.trim().is_empty() {
            let sentence =
                format!("the comment on {}:{} is empty; write it, or leave it out", comment.path, comment.line);
            return Err(ApiError::invalid(sentence));
        }
        if comment.text.len() > COMMENT_BYTES_MAX {
            let sentence = format!("a comment has at most {COMMENT_BYTES_MAX} bytes; shorten that on {}", comment.path);
            return Err(ApiError::invalid(sentence));
        }
        if comment.line == 0 {
            return Err(ApiError::invalid("`line` is the number of a line, from 1"));
        }
    }
    Ok(())
}
