//! What a Pod does with a command. Each is committed with its key, its answer and its audit row, or not at all.

use jiff::Timestamp;
use pod::{Input, decide, rules_refusal};
use pod_store::{CommandRow, PodUpdate};
use protocol::{ApiError, ControlVerb, ErrorCode, InputCommand, PatchPod, PodState, Receipt, Segment, Seq};
use serde::Serialize;

use super::{
    PodCommand, PodTask,
    commit::{Extras, Outcome},
};
use crate::{CommandKey, Origin, clock, command::audit, error, view};

/// The answer that a known command got, if it is the same command.
pub(crate) fn repeated(row: CommandRow, key: &CommandKey) -> Result<String, ApiError> {
    match row.fingerprint == key.fingerprint {
        true => Ok(row.answer),
        false => Err(error::key_reused(&key.id)),
    }
}

impl PodTask {
    pub(super) async fn command(
        &mut self,
        command: PodCommand,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<String, ApiError> {
        if let Some(row) = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)? {
            return repeated(row, &key);
        }
        if self.is_deleted {
            return Err(error::no_such_pod(&self.worker_id));
        }
        match command {
            PodCommand::Input(input) => self.input(input, key, origin).await,
            PodCommand::TakeBack(id) => self.take_back(&id, key, origin).await,
            PodCommand::Control(verb) => self.control(verb, key, origin).await,
            PodCommand::Patch(patch) => self.patch(patch, key, origin).await,
            PodCommand::Rewind(rewind) => self.rewind(rewind, key, origin).await,
            PodCommand::Answer { id, command } => self.answer(id, command, key, origin).await,
            PodCommand::Delete => self.delete(key, origin).await,
        }
    }

    async fn input(&mut self, input: InputCommand, key: CommandKey, origin: &Origin) -> Result<String, ApiError> {
        check_segments(&input.segments)?;
        self.check_files(&input.segments).await?;
        let is_working = matches!(self.pod.state, PodState::Running | PodState::Waiting);
        let steers = is_working && input.steer;
        let is_next = self.pod.state != PodState::Paused || self.inbox.is_empty();
        if steers || (is_working && input.queue) || !is_next {
            return self.enqueue(input.segments, steers, key, origin).await;
        }
        let submit = Input::Submit { command_id: key.id.clone(), segments: input.segments, by: origin.by.clone() };
        let seq = self.seq_after(submit.clone(), |kind| kind == "user_message")?;
        self.carry_out(Some(submit), "input", key, origin, seq).await
    }

    /// Where the (last) event of a kind will be, once this input is committed.
    pub(super) fn seq_after(&self, input: Input, wanted: impl Fn(&str) -> bool) -> Result<Seq, ApiError> {
        let decision = decide(&self.pod, &self.spec, input).map_err(|refusal| error::refused(&self.name, refusal))?;
        let count = decision.steps.len();
        let place = decision.steps.iter().rposition(|step| wanted(step.event.kind())).map_or(count, |at| at + 1);
        Ok(Seq(self.pod.head.0 + place as i64))
    }

    async fn control(&mut self, verb: ControlVerb, key: CommandKey, origin: &Origin) -> Result<String, ApiError> {
        let input = match verb {
            ControlVerb::Pause => Input::Pause,
            ControlVerb::Resume => Input::Resume { command_id: Some(key.id.clone()) },
            ControlVerb::Cancel => Input::Cancel,
            ControlVerb::Stop => Input::Stop,
            ControlVerb::Restore => Input::Restore,
            ControlVerb::Compact => Input::Compact,
        };
        self.has_mail |= verb == ControlVerb::Restore;
        let seq = self.seq_after(input.clone(), |_| false)?;
        self.carry_out(Some(input), verb.as_str(), key, origin, seq).await
    }

    pub(super) async fn carry_out(
        &mut self,
        input: Option<Input>,
        action: &str,
        key: CommandKey,
        origin: &Origin,
        seq: Seq,
    ) -> Result<String, ApiError> {
        let now = clock::now();
        let receipt = Receipt { command_id: key.id.clone(), accepted_at: now, seq, report: Vec::new() };
        let extras = self.extras(&key, origin, action, now, &receipt);
        match self.advance(input, extras).await? {
            Outcome::Done => Ok(answer_of(&receipt)),
            Outcome::Repeated(row) => repeated(row, &key),
        }
    }

    /// Renames, or changes policies: the Pod's row, not its journal.
    async fn patch(&mut self, patch: PatchPod, key: CommandKey, origin: &Origin) -> Result<String, ApiError> {
        let now = clock::now();
        let mut spec = self.spec.clone();
        spec.peer_policy = patch.peer_policy.unwrap_or(spec.peer_policy);
        spec.wake_on_peer = patch.wake_on_peer.unwrap_or(spec.wake_on_peer);
        spec.network = patch.network.unwrap_or(spec.network);
        if let Some(permissions) = patch.permissions {
            if let Some(sentence) = rules_refusal(&permissions, &spec.permissions) {
                return Err(ApiError::invalid(sentence));
            }
            spec.permissions = self.given(permissions, &spec.permissions).await?;
        }
        let name = patch.name.unwrap_or_else(|| self.name.clone());
        let update = PodUpdate {
            name: (name != self.name).then(|| name.clone()),
            spec: Some(serde_json::to_string(&spec).expect("a recipe always encodes")),
            updated_at: Some(now),
            ..PodUpdate::default()
        };
        let detail = self.detail_with(&name, &spec, now).await?;
        let extras = Extras { update, ..self.extras(&key, origin, "rename", now, &detail) };
        let staged = self.stage();
        match self.commit(staged, extras).await? {
            Outcome::Repeated(row) => repeated(row, &key),
            Outcome::Done => {
                self.name = name;
                self.spec = spec;
                Ok(answer_of(&detail))
            }
        }
    }

    async fn detail_with(
        &mut self,
        name: &protocol::PodName,
        spec: &pod::PodSpec,
        now: Timestamp,
    ) -> Result<protocol::PodDetail, ApiError> {
        let row = self.inner.store.pod_find(&self.worker_id).await.map_err(error::store_failed)?;
        let mut row = row.ok_or_else(|| error::no_such_pod(&self.worker_id))?;
        row.name = name.clone();
        row.updated_at = now;
        row.spec = serde_json::to_string(spec).expect("a recipe always encodes");
        let children = self.inner.store.children(self.key).await.map_err(error::store_failed)?;
        Ok(view::detail(&row, self.inbox.iter().cloned().collect(), &children))
    }

    /// Stops what goes on, and removes the Pod with all that it holds.
    async fn delete(&mut self, key: CommandKey, origin: &Origin) -> Result<String, ApiError> {
        // Those who know it are told before it goes. While this runs nobody can be introduced to it.
        if self.inner.above()?.knows_anybody(self.key).await? {
            let sentence = format!("pod \"{}\" has come to know another Pod; try again", self.name);
            return Err(ApiError::new(ErrorCode::Busy, sentence));
        }
        if !self.work.end_all().await {
            self.read_again(true).await;
            return Err(error::does_not_end(&self.name));
        }
        let now = clock::now();
        let extras = Extras { delete: true, ..self.extras(&key, origin, "delete", now, &()) };
        let staged = self.stage();
        match self.commit(staged, extras).await? {
            Outcome::Repeated(row) => repeated(row, &key),
            Outcome::Done => {
                self.is_deleted = true;
                self.inbox.clear();
                self.feed.tell_gone();
                self.remove_outputs().await;
                self.inner.failed.lock().expect("no holder of this list panics").remove(self.name.as_str());
                Ok(answer_of(&()))
            }
        }
    }

    /// Long outputs of a Pod that is gone. What cannot be removed is only in the way.
    async fn remove_outputs(&mut self) {
        let folder = self.inner.outputs_of(&self.worker_id);
        match tokio::fs::remove_dir_all(&folder).await {
            Ok(()) => (),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
            Err(error) => tracing::warn!(%error, "the long outputs of a deleted Pod stay behind"),
        }
    }

    pub(super) fn extras(
        &self,
        key: &CommandKey,
        origin: &Origin,
        action: &str,
        now: Timestamp,
        answer: &impl Serialize,
    ) -> Extras {
        Extras {
            command: Some(CommandRow {
                id: key.id.clone(),
                fingerprint: key.fingerprint,
                answer: answer_of(answer),
                at: now,
            }),
            audit: Some(audit(now, origin, action, self.pod_ref().to_string())),
            ..Extras::default()
        }
    }
}

pub(super) fn answer_of(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("an answer always encodes")
}

/// Something to say, in segments of a kind that we know, and not too much of it.
fn check_segments(segments: &[Segment]) -> Result<(), ApiError> {
    if segments.iter().any(|segment| matches!(segment, Segment::Unknown(_))) {
        return Err(ApiError::invalid("a segment is of type text, paste or file_ref"));
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
