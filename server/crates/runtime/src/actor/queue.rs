//! Accepted inputs that have not begun: they wait, go on, and can be taken back. One that waits is a row of the inbox and
//! no record, so each of its ends is one transaction with what comes of it.

use pod::{Input, decide};
use pod_store::InboxRow;
use protocol::{ApiError, CommandId, ErrorCode, Event, PodState, QueuedInput, Receipt, Record, Segment, TurnEvent};

use super::{
    PodTask,
    commands::{answer_of, repeated},
    commit::{Extras, Outcome, Staged},
    place,
};
use crate::{CommandKey, Origin, clock, error, view};

/// Inputs that may wait in one Pod.
const QUEUED_MAX: usize = 1_000;
/// Bytes of text in all of them.
const QUEUED_BYTES_MAX: usize = 32 * 1024 * 1024;

impl PodTask {
    /// Keeps an accepted input until its turn comes.
    pub(super) async fn enqueue(
        &mut self,
        segments: Vec<Segment>,
        steers: bool,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<String, ApiError> {
        if self.inbox.len() >= QUEUED_MAX {
            let sentence = format!("pod \"{}\" has {QUEUED_MAX} inputs queued; wait until some are done", self.name);
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let waiting = self.inbox.iter().map(|row| &row.segments).chain([&segments]);
        if waiting.map(|segments| Segment::bytes(segments)).sum::<usize>() > QUEUED_BYTES_MAX {
            let mebibytes = QUEUED_BYTES_MAX >> 20;
            let sentence = format!(
                "the inputs that are queued for pod \"{}\" have {mebibytes} MiB at most; wait until some are done",
                self.name
            );
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let now = clock::now();
        let row = InboxRow { command_id: key.id.clone(), segments, by: origin.by.clone(), at: now, steers };
        let receipt = Receipt { command_id: key.id.clone(), accepted_at: now, seq: self.pod.head, report: Vec::new() };
        let extras = Extras { inbox_put: Some(row.clone()), ..self.extras(&key, origin, "input", now, &receipt) };
        let staged = self.stage();
        let answer = answer_of(&receipt);
        match self.commit(staged, extras).await? {
            Outcome::Repeated(known) => repeated(known, &key),
            Outcome::Done => {
                self.inbox.push_back(row);
                self.inner.list.tell_changed(&self.worker_id);
                if self.pod.state == PodState::Paused {
                    // A message to a paused Pod goes on from there, and the queue keeps its order.
                    self.begin_next().await?;
                }
                Ok(answer)
            }
        }
    }

    /// Begins queued inputs while the Pod is idle.
    pub(super) async fn start_next(&mut self) {
        while self.pod.state == PodState::Idle && !self.work.is_answering() && !self.is_deleted {
            match self.begin_next().await {
                Ok(true) => (),
                Ok(false) => return,
                Err(error) => {
                    tracing::error!(%error, pod = %self.name, "a queued input could not begin; it stays queued");
                    return;
                }
            }
        }
    }

    /// Begins a run for the next queued input: one that was meant for the run before goes first, then the oldest. False
    /// when nothing waits.
    async fn begin_next(&mut self) -> Result<bool, ApiError> {
        let at = self.inbox.iter().position(|row| row.steers).unwrap_or(0);
        let Some(next) = self.inbox.remove(at) else { return Ok(false) };
        let taken = Extras { inbox_taken: vec![next.command_id.clone()], ..Extras::default() };
        let submit = Input::Submit { command_id: next.command_id, segments: next.segments, by: next.by };
        self.advance([submit], taken).await.map(|_| true)
    }

    /// The model is about to be asked in the run that goes on: what was sent for that run goes with the question.
    pub(super) fn steer(&mut self, staged: &mut Staged, extras: &mut Extras) -> Result<(), ApiError> {
        while let Some(at) = self.inbox.iter().position(|row| row.steers) {
            let row = self.inbox.remove(at).expect("its position was just found");
            extras.inbox_taken.push(row.command_id.clone());
            let input = Input::Steer { command_id: row.command_id, segments: row.segments, by: row.by };
            let decided = decide(&self.pod, &self.spec, input);
            let steps = decided.map_err(|refusal| error::refused(&self.name, refusal))?.steps;
            self.add(staged, steps);
        }
        Ok(())
    }

    /// Takes a queued input out of the queue and gives it back. This task also begins inputs, one thing at a time: it
    /// is either taken back or begun, never both.
    pub(super) async fn take_back(
        &mut self,
        id: &CommandId,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<String, ApiError> {
        let Some(row) = self.inbox.iter().find(|row| row.command_id == *id).cloned() else {
            return Err(self.not_queued(id).await?);
        };
        let queued: QueuedInput = view::queued(row);
        let extras = self.extras(&key, origin, "input", clock::now(), &queued);
        let extras = Extras { inbox_taken: vec![id.clone()], ..extras };
        let staged = self.stage();
        match self.commit(staged, extras).await? {
            Outcome::Repeated(known) => repeated(known, &key),
            Outcome::Done => {
                self.inbox.retain(|row| row.command_id != *id);
                self.inner.list.tell_changed(&self.worker_id);
                Ok(answer_of(&queued))
            }
        }
    }

    /// Why an input is not in the queue: it has begun, or nothing of it is here (any more).
    async fn not_queued(&mut self, id: &CommandId) -> Result<ApiError, ApiError> {
        let command = self.inner.store.command_find(id).await.map_err(error::store_failed)?;
        let receipt = command.and_then(|row| serde_json::from_str::<Receipt>(&row.answer).ok());
        if let Some(receipt) = receipt {
            let records = self.inner.store.turn_records(self.key, receipt.seq).await.map_err(error::store_failed)?;
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
        let sentence = format!("pod \"{}\" has no queued message {id}; GET the Pod to see what waits", self.name);
        Ok(ApiError::new(ErrorCode::NotFound, sentence))
    }

    /// Files that a message refers to have to be in the scope: the model is told that it may look at them. Compared as
    /// text; whoever opens one checks what it really is.
    pub(super) async fn check_files(&mut self, segments: &[Segment]) -> Result<(), ApiError> {
        let paths = segments.iter().filter_map(|segment| match segment {
            Segment::FileRef { path } => Some(path.as_str()),
            _ => None,
        });
        let mut scope = None;
        for path in paths {
            let scope = match &scope {
                Some(scope) => scope,
                None => scope.insert(place::scope(&self.inner, self.key, &self.spec).await?),
            };
            let absolute = tools::files::absolute(&self.spec.cwd, path).map_err(ApiError::invalid)?;
            scope.may_read(&absolute).map_err(|refusal| {
                ApiError::new(ErrorCode::ScopeNotHeld, format!("{path} {refusal}; take it out of the message"))
            })?;
        }
        Ok(())
    }
}
