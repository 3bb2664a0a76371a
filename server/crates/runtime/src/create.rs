//! Making a Pod.

use jiff::Timestamp;
use pod::{Pod, PodSpec, Step};
use pod_store::{Batch, CommandRow, Committed, NewPod, NewRecord, PodChange, PodUpdate};
use protocol::{
    ApiError, AuditEntry, ControlEvent, CreatePod, ErrorCode, PodName, PodState, PodSummary, Seq, WorkerId,
};

use crate::{
    CommandKey, Origin,
    actor::{checkpoint, repeated},
    clock,
    command::audit,
    encode, error,
    ground::Ground,
    recipe::{self, Recipes},
    view,
};

/// Makes a Pod, or gives the first answer again when the command is known.
pub(crate) async fn create(
    ground: &Ground,
    recipes: &Recipes,
    key: CommandKey,
    origin: &Origin,
    create: CreatePod,
) -> Result<PodSummary, ApiError> {
    if let Some(summary) = first_answer(ground, &key).await? {
        return Ok(summary);
    }
    let spec = recipe::of_person(recipes, &create)?;
    let _seat = ground.seat().await?;
    let now = clock::now();
    let newborn = Newborn::of(spec, create.name.clone(), now);
    newborn.commit(ground, &key, audit(now, origin, "pod_create", create.name.to_string())).await
}

impl Newborn {
    /// Writes it, or gives the first answer again when the command is known by now.
    pub(crate) async fn commit(
        self,
        ground: &Ground,
        key: &CommandKey,
        audit: AuditEntry,
    ) -> Result<PodSummary, ApiError> {
        let answer = serde_json::to_string(&self.summary).expect("a summary always encodes");
        let command = CommandRow { id: key.id.clone(), fingerprint: key.fingerprint, answer, at: audit.at };
        let batch =
            Batch { command: Some(command), changes: vec![self.change], audit: vec![audit], ..Batch::default() };
        match ground.store.commit(batch).await.map_err(error::store_failed)? {
            Committed::Done { .. } => {
                ground.list.tell_changed(&self.summary.pod.worker_id);
                Ok(self.summary)
            }
            Committed::Repeated(row) => read_answer(&repeated(row, key)?),
        }
    }
}

/// A Pod that is about to be.
pub(crate) struct Newborn {
    pub(crate) change: PodChange,
    pub(crate) summary: PodSummary,
}

impl Newborn {
    pub(crate) fn of(spec: PodSpec, name: PodName, now: Timestamp) -> Self {
        let status = ControlEvent::Status { state: PodState::Idle, state_reason: None };
        let step = Step { run_id: None, event: status.into() };
        let record = encode::record(Seq(1), &encode::timestamp(now), &step, spec.reasoning);
        let mut pod = Pod::default();
        pod.evolve(Seq(1), &step.event);
        Self::with(&spec, name, now, &pod, vec![record])
    }

    /// A Pod with a journal, and what that comes to.
    pub(crate) fn with(spec: &PodSpec, name: PodName, now: Timestamp, pod: &Pod, records: Vec<NewRecord>) -> Self {
        let checkpoint = checkpoint(pod);
        let new = NewPod {
            worker_id: WorkerId::from(uuid::Uuid::now_v7()),
            name,
            spec: serde_json::to_string(spec).expect("a recipe always encodes"),
            checkpoint: checkpoint.json.clone(),
            state: pod.state,
            created_at: now,
        };
        let summary = summary_of(&new, pod);
        let change = PodChange {
            records,
            update: Some(PodUpdate { checkpoint: Some(checkpoint), ..PodUpdate::default() }),
            ..PodChange::creating(new)
        };
        Self { change, summary }
    }
}

/// The summary that a command of this key was answered with when it made a Pod.
pub(crate) async fn first_answer(ground: &Ground, key: &CommandKey) -> Result<Option<PodSummary>, ApiError> {
    let row = ground.store.command_find(&key.id).await.map_err(error::store_failed)?;
    row.map(|row| read_answer(&repeated(row, key)?)).transpose()
}

fn read_answer(answer: &str) -> Result<PodSummary, ApiError> {
    serde_json::from_str(answer)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
}

fn summary_of(new: &NewPod, pod: &Pod) -> PodSummary {
    view::summary(&pod_store::PodRow {
        key: pod_store::PodKey(0),
        worker_id: new.worker_id.clone(),
        name: new.name.clone(),
        created_at: new.created_at,
        updated_at: new.created_at,
        state: new.state,
        open: false,
        spec: new.spec.clone(),
        checkpoint: new.checkpoint.clone(),
        head: pod.head,
        unread: 0,
        parent: None,
        children: 0,
        peers: 0,
        queued: 0,
    })
}
