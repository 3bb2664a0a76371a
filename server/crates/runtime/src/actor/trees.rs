//! What people want done with the Pod's own work tree, and with what is changed in its folder.

use pod::{Input, PodSpec, WorkTree};
use pod_store::{PodKey, PodUpdate};
use protocol::{
    Access, AlertLevel, ApiError, CommitAnswer, CommitCommand, ControlEvent, ErrorCode, PodState, WorktreeAnswer,
    WorktreeCommand, WorktreeDone, WorktreeVerb,
};

use super::{
    Actor, Actors,
    commands::{Carrying, encoded},
    commit::Extras,
    place,
};
use crate::{clock, command::answer_of, git, trees::Discarded, view};

/// How many Pods are read at once.
const PODS_AT_ONCE: u32 = 1_000;
/// How many digits of a commit are told.
const SHORT_CHARS: usize = 8;

impl Carrying<'_> {
    /// Merges or removes the Pod's own work tree.
    pub(super) async fn change_worktree(&mut self, command: WorktreeCommand) -> Result<String, ApiError> {
        let state = &self.actor.state;
        let Some(tree) = state.spec.worktree.clone() else {
            let sentence =
                format!("pod \"{}\" has no work tree of its own; create a Pod with `worktree` to have one", state.name);
            return Err(ApiError::new(ErrorCode::NoWorktree, sentence));
        };
        self.check_rests("its work tree")?;
        let Actor { actors, state, .. } = &*self.actor;
        let answer = match command.verb {
            WorktreeVerb::Merge => merge(actors, &tree, command.into.as_deref()).await?,
            WorktreeVerb::Discard => discard(actors, state.key, &tree, command.force).await?,
        };
        let mut spec = self.actor.state.spec.clone();
        if answer.done == WorktreeDone::Discarded {
            spec.worktree = None;
        }
        let at = answer.commit.as_deref().map(|commit| format!(" (at {})", short(commit))).unwrap_or_default();
        self.told(format!("{}{at}", answer.words()), "worktree", &answer, spec).await
    }

    /// Commits what is changed in the Pod's folder.
    pub(super) async fn commit_changes(&mut self, command: CommitCommand) -> Result<String, ApiError> {
        let Actor { actors, state, calls, .. } = &*self.actor;
        let changes = |tool: &str| protocol::tool::facts(tool).changes != protocol::tool::Changes::Nothing;
        if calls.runs(&state.pod, changes) {
            let sentence = format!(
                "a call of pod \"{}\" is changing something now; wait until it has ended, or pause the Pod",
                state.name
            );
            return Err(ApiError::new(ErrorCode::Busy, sentence));
        }
        let scope = place::scope(actors, state.key, &state.spec).await?;
        let answer = actors.equipment.trees.commit(&state.spec.cwd, &scope, &command, &self.key.id).await?;
        let told = words_of(&answer, &command.message);
        let spec = state.spec.clone();
        self.told(told, "commit", &answer, spec).await
    }

    /// Writes what was done into the journal, where everybody sees it.
    async fn told(
        &mut self,
        text: String,
        action: &str,
        answer: &impl serde::Serialize,
        spec: PodSpec,
    ) -> Result<String, ApiError> {
        git::touched(&spec);
        let now = clock::now();
        let is_new = spec != self.actor.state.spec;
        let update = PodUpdate { spec: is_new.then(|| encoded(&spec)), updated_at: Some(now), ..PodUpdate::default() };
        let extras = Extras { update, ..self.extras(action, now, answer) };
        let note = ControlEvent::Alert { level: AlertLevel::Note, source: "git".to_owned(), text, model: None };
        if let Some(first) = self.commit(Some(Input::Note(vec![note])), extras).await? {
            return Ok(first);
        }
        self.actor.state.spec = spec;
        Ok(answer_of(answer))
    }

    fn check_rests(&self, what: &str) -> Result<(), ApiError> {
        let state = &self.actor.state;
        let is_working = matches!(state.pod.state, PodState::Running | PodState::Waiting)
            || !self.actor.is_idle()
            || self.actor.actors.equipment.background.runs(&state.worker_id);
        if !is_working {
            return Ok(());
        }
        let sentence =
            format!("pod \"{}\" is working in {what}; wait until it is idle, or pause or stop it", state.name);
        Err(ApiError::new(ErrorCode::Busy, sentence))
    }
}

async fn merge(actors: &Actors, tree: &WorkTree, into: Option<&str>) -> Result<WorktreeAnswer, ApiError> {
    if into.is_some_and(|into| into.trim().is_empty()) {
        return Err(ApiError::invalid(
            "`into` is empty; name the branch to merge into, or leave it out for the one that the work tree came from",
        ));
    }
    let Some(into) = into.or(tree.from.as_deref()) else {
        let sentence = format!(
            "the work tree began with the commit {} and not with a branch; name the branch to merge into with `into`",
            short(&tree.start)
        );
        return Err(ApiError::invalid(sentence));
    };
    actors.equipment.trees.merge(tree, into).await
}

async fn discard(actors: &Actors, own: PodKey, tree: &WorkTree, is_forced: bool) -> Result<WorktreeAnswer, ApiError> {
    if let Some(other) = used_by(actors, own, tree).await? {
        let sentence = format!("{other} works in this work tree, too; stop it first");
        return Err(ApiError::new(ErrorCode::Busy, sentence));
    }
    let kept_in = match actors.equipment.trees.discard(tree, is_forced).await? {
        Discarded::Not(losses) => return Err(losses.error(tree)),
        Discarded::Yes { kept_in } => kept_in.map(|folder| folder.display().to_string()),
    };
    let branch = tree.branch.clone();
    Ok(WorktreeAnswer { done: WorktreeDone::Discarded, branch, into: None, commit: None, kept_in })
}

/// Another Pod that is not stopped and works in the work tree, or to which a part of it is lent.
async fn used_by(actors: &Actors, own: PodKey, tree: &WorkTree) -> Result<Option<String>, ApiError> {
    let loans = place::loans(actors, own).await?;
    let is_in = |path: &str| std::path::Path::new(path).starts_with(&tree.path);
    if loans.iter().any(|loan| loan.access != Access::Deny && is_in(&loan.path)) {
        return Ok(Some("a child".to_owned()));
    }
    let mut after = None;
    loop {
        let rows = actors.store.pods().page(after, PODS_AT_ONCE).await?;
        after = rows.last().map(|row| row.key);
        for row in rows.iter().filter(|row| row.key != own && row.state != PodState::Stopped) {
            if view::open(row).is_ok_and(|opened| is_in(&opened.spec.cwd)) {
                return Ok(Some(format!("pod \"{}\"", row.name)));
            }
        }
        if rows.len() < PODS_AT_ONCE as usize {
            return Ok(None);
        }
    }
}

/// Removes the work tree of a Pod that was deleted, if nothing is lost by it. Otherwise it stays, and the log says so.
pub(super) async fn leave(actors: &Actors, key: PodKey, spec: &PodSpec) {
    let Some(tree) = &spec.worktree else { return };
    let removing = async {
        if let Some(other) = used_by(actors, key, tree).await? {
            return Ok(Some(format!("{other} works in it")));
        }
        match actors.equipment.trees.discard(tree, false).await? {
            Discarded::Not(losses) => Ok(Some(format!("it has {}", losses.words()))),
            Discarded::Yes { .. } => Ok(None),
        }
    };
    let kept = removing.await.unwrap_or_else(|error: ApiError| Some(error.detail));
    if let Some(why) = kept {
        tracing::warn!(path = tree.path, branch = tree.branch, "the work tree of a deleted Pod stays: {why}");
    }
}

/// The beginning of a commit's id.
fn short(commit: &str) -> &str {
    commit.get(..SHORT_CHARS).unwrap_or(commit)
}

/// `committed 2 files on refunds as 1a2b3c4d: Round refunds`.
fn words_of(answer: &CommitAnswer, message: &str) -> String {
    const SUBJECT_CHARS_MAX: usize = 100;
    let plural = if answer.files.len() == 1 { "file" } else { "files" };
    let on = answer.branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    let subject = message.trim().lines().next().unwrap_or_default();
    let subject: String = subject.chars().take(SUBJECT_CHARS_MAX).collect();
    format!("committed {} {plural}{on} as {}: {subject}", answer.files.len(), short(&answer.commit))
}
