//! Creating a Pod.

use jiff::Timestamp;
use pod::{Pod, PodSpec, Step};
use pod_store::{Batch, Committed, NewPod, NewRecord, PodChange, PodUpdate};
use protocol::{ApiError, ControlEvent, CreatePod, PodName, PodState, PodSummary, Seq, WorkerId};

use crate::{
    actor::checkpoint,
    asked::Asked,
    clock, encode, git,
    ground::Ground,
    hold::Together,
    recipe::{self, Recipes},
    view,
};

/// Creates a Pod, or returns the first answer if the command was carried out before.
pub(crate) async fn create(
    ground: &Ground,
    recipes: &Recipes,
    asked: &Asked<'_>,
    create: CreatePod,
) -> Result<PodSummary, ApiError> {
    let _turn = match &create.worktree {
        Some(_) => Some(recipes.trees.turn_of(&create.name).await),
        None => None,
    };
    if let Some(summary) = asked.first_answer(ground).await? {
        return Ok(summary);
    }
    if create.worktree.is_some() && ground.store.pods().find_by_name(&create.name).await?.is_some() {
        return Err(pod_store::StoreError::NameTaken(create.name).into());
    }
    let recipe::Asked { spec, grown } = recipe::of_person(recipes, &create).await?;
    if grown.is_some() {
        // Its answer tells the state of the work tree.
        git::state_of(&git::Spot::of(&spec)).await;
    }
    let making = async {
        let _seat = ground.seat().await?;
        let target = create.name.to_string();
        Newborn::of(recipes, spec, create.name, clock::now()).commit(ground, asked, "pod_create", target).await
    };
    let made = making.await;
    // The same command may have been carried out meanwhile, with a work tree of its own.
    let is_new = |summary: &PodSummary| grown.as_ref().is_none_or(|grown| grown.cwd == summary.cwd);
    if let Some(grown) = grown.as_ref().filter(|_| !made.as_ref().is_ok_and(is_new)) {
        recipes.trees.undo(grown).await;
    }
    made
}

/// A Pod that is about to be created.
pub(crate) struct Newborn {
    pub(crate) change: PodChange,
    pub(crate) summary: PodSummary,
}

impl Newborn {
    /// Commits it, or returns the first answer if the command has been carried out meanwhile.
    pub(crate) async fn commit(
        self,
        ground: &Ground,
        asked: &Asked<'_>,
        action: &str,
        target: String,
    ) -> Result<PodSummary, ApiError> {
        let Together { command, audit, .. } = asked.together(action, target, &self.summary);
        let batch = Batch { command, changes: vec![self.change], audit, ..Batch::default() };
        match ground.store.commit(batch).await? {
            Committed::Done { .. } => {
                ground.list.tell_changed(&self.summary.pod.worker_id);
                Ok(self.summary)
            }
            Committed::Repeated(row) => asked.repeated(row),
        }
    }

    pub(crate) fn of(recipes: &Recipes, spec: PodSpec, name: PodName, now: Timestamp) -> Self {
        let status = ControlEvent::Status { state: PodState::Idle, state_reason: None };
        let step = Step { run_id: None, event: status.into() };
        let record = encode::record(Seq(1), &encode::timestamp(now), &step, spec.reasoning);
        let mut pod = Pod::default();
        pod.evolve(Seq(1), &step.event);
        // The known context size is shown before the model is asked for the first time.
        pod.usage.context_limit = recipes.providers.facts(&spec.provider, &spec.model).context_limit.unwrap_or(0);
        Self::with(&spec, name, now, &pod, vec![record])
    }

    /// A new Pod with the given journal and state.
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
