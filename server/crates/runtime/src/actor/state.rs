//! The current state of a Pod, from its row and its journal.

use pod::{Decision, Input, Pod, PodSpec, decide, recover};
use pod_store::{Checkpoint, ParentRow, PodKey, PodRow};
use protocol::{ApiError, ErrorCode, ModelName, PodLabel, PodName, PodRef, PodState, Record, RuntimeId, Seq, WorkerId};

use super::{Actors, queue::Queue, running};
use crate::{error, spans::RunSpan, view};

/// Records read at once while the journal's tail is folded in.
const CATCH_UP_RECORDS: u32 = 10_000;

/// One Pod. Uncommitted events are already folded in; if the commit fails, everything is read again.
pub(super) struct State {
    pub(super) key: PodKey,
    pub(super) worker_id: WorkerId,
    pub(super) name: PodName,
    pub(super) spec: PodSpec,
    pub(super) pod: Pod,
    /// The parent, which is told of this Pod's runs.
    pub(super) parent: Option<ParentRow>,
    pub(super) queue: Queue,
    pub(super) is_deleted: bool,
    /// The span of the current run.
    pub(super) span: RunSpan,
}

/// The folded state, as the store keeps it.
pub(crate) fn checkpoint(pod: &Pod) -> Checkpoint {
    Checkpoint {
        state: pod.shown_state(),
        open: pod.is_open(),
        json: serde_json::to_string(pod).expect("a Pod's state always encodes"),
        seq: pod.head,
    }
}

impl State {
    /// The Pod as of its checkpoint, and its row.
    pub(super) async fn read(actors: &Actors, worker_id: &WorkerId) -> Result<(Self, PodRow), ApiError> {
        let row = actors.patiently(|| actors.store.pods().find(worker_id)).await?;
        let row = row.ok_or_else(|| error::no_such_pod(worker_id))?;
        let opened = view::open(&row).map_err(|reason| {
            note_failure(actors, &row.name, &reason);
            ApiError::new(ErrorCode::NotRestorable, format!("pod \"{}\" cannot be used: {reason}", row.name))
        })?;
        let inbox = actors.patiently(|| actors.store.inboxes().inputs(row.key)).await?;
        let mut state = Self {
            key: row.key,
            worker_id: worker_id.clone(),
            name: row.name.clone(),
            spec: PodSpec {
                shell_is_unconfined: !actors.equipment.walls.hold_commands().await,
                server_rules: actors.equipment.server_rules.clone(),
                // An agent that is a program of its own is not sent on: its turns are its business.
                has_run_end_hooks: opened.spec.agent.is_none() && actors.equipment.hooks.has_run_end(),
                agent_is_confined: opened
                    .spec
                    .agent
                    .as_ref()
                    .is_some_and(|agent| actors.equipment.agents.is_confined(agent)),
                ..opened.spec
            },
            pod: opened.pod,
            parent: row.parent.clone(),
            queue: Queue::new(inbox),
            is_deleted: false,
            span: RunSpan::none(),
        };
        if state.is_running() {
            state.begin_span();
        }
        Ok((state, row))
    }

    /// Folds in what the journal holds beyond the checkpoint.
    pub(super) async fn fold_in_tail(&mut self, actors: &Actors) -> Result<(), ApiError> {
        loop {
            let (key, head) = (self.key, self.pod.head);
            let read = || actors.store.journals().after(key, head, CATCH_UP_RECORDS, usize::MAX);
            let rows = actors.patiently(read).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
            for row in &rows {
                match serde_json::from_slice::<Record>(&row.body) {
                    Ok(record) => self.pod.apply(&record),
                    Err(_) => self.pod.head = self.pod.head.max(row.seq),
                }
            }
            self.pod.head = self.pod.head.max(last);
            debug_assert!(last > Seq(0), "seqs begin at 1");
        }
    }

    /// The decision that closes everything a crash left open.
    pub(super) fn recovery(&self, actors: &Actors) -> Decision {
        let outputs = actors.outputs_of(&self.worker_id);
        let ended = |call_id: &str| actors.equipment.background.end_of(&self.worker_id, call_id);
        recover(&self.pod, |call_id| running::last_seen(&outputs, call_id), ended)
    }

    pub(super) fn decide(&self, input: Input) -> Result<Decision, ApiError> {
        decide(&self.pod, &self.spec, input).map_err(|refusal| error::refused(&self.name, refusal))
    }

    /// Where the last event of the wanted kind will be once this input is committed.
    pub(super) fn seq_after(&self, input: Input, wanted: impl Fn(&str) -> bool) -> Result<Seq, ApiError> {
        let steps = self.decide(input)?.steps;
        let place = steps.iter().rposition(|step| wanted(step.event.kind())).map_or(steps.len(), |at| at + 1);
        Ok(Seq(self.pod.head.0 + place as i64))
    }

    /// The journal's head once all these inputs are committed.
    pub(super) fn head_after(&self, inputs: &[Input]) -> Result<Seq, ApiError> {
        let mut pod = self.pod.clone();
        for input in inputs {
            let decision =
                decide(&pod, &self.spec, input.clone()).map_err(|refusal| error::refused(&self.name, refusal))?;
            decision.steps.iter().for_each(|step| pod.evolve(pod.head.next(), &step.event));
        }
        Ok(pod.head)
    }

    /// The provider and the model that are asked now.
    pub(super) fn asked(&self) -> (&str, &str) {
        match self.stand_in() {
            Some(ModelName { provider, model }) => (provider, model),
            None => (&self.spec.provider, &self.spec.model),
        }
    }

    /// True during a run that does not wait for a person.
    pub(super) fn is_running(&self) -> bool {
        self.pod.run.is_some() && self.pod.state == PodState::Running
    }

    /// Begins the span of the current run.
    pub(super) fn begin_span(&mut self) {
        self.span = RunSpan::begin(&self.worker_id, self.pod.runs, &self.spec, self.asked());
    }

    /// The fallback model in use, if the Pod's settings still list it.
    fn stand_in(&self) -> Option<&ModelName> {
        self.pod.stand_in.as_ref().filter(|name| self.spec.fallback.contains(name))
    }

    /// The fallback models that have not been tried yet, in order.
    pub(super) fn next_fallbacks(&self) -> &[ModelName] {
        let all = &self.spec.fallback;
        let tried = self.stand_in().and_then(|name| all.iter().position(|known| known == name));
        &all[tried.map_or(0, |at| at + 1)..]
    }

    /// True if the next input can begin.
    pub(super) fn is_idle(&self) -> bool {
        self.pod.state == PodState::Idle && !self.is_deleted
    }

    pub(super) fn pod_ref(&self) -> PodRef {
        PodRef::new(RuntimeId::local(), self.worker_id.clone())
    }

    pub(super) fn label(&self) -> PodLabel {
        PodLabel { pod: self.pod_ref(), name: self.name.clone() }
    }
}

fn note_failure(actors: &Actors, name: &PodName, reason: &str) {
    tracing::error!(pod = %name, reason, "a Pod could not be restored");
    actors.failed.lock().expect("no holder of this list panics").insert(name.to_string(), reason.to_owned());
}
