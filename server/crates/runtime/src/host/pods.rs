//! The Pods of this host and of those that share its store: listing, creating, stopping and deleting them.

use protocol::{
    ApiError, Candidate, ControlVerb, CreatePod, ErrorCode, ForkCommand, ImportCommand, Listing, PatchPod, PodDetail,
    PodName, PodRef, PodSummary, Receipt, RestoreCommand, VisiblePod, WorkerId,
};

use super::Inner;
use crate::{
    CommandKey, Origin, PodQuery, PodsObservation,
    actor::{PodCommand, with_use},
    agents,
    asked::Asked,
    create, error,
    family::{self, Stopper},
    find, git, import, names, peers, pod_tools, recipe, view,
};

/// The Pods of this host and of those that share its store: listing, creating, stopping and deleting them.
#[derive(Debug, Clone, Copy)]
pub struct Pods<'a> {
    pub(super) inner: &'a Inner,
}

impl Pods<'_> {
    pub async fn list(self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.inner.recovered().await;
        let Listing { items, next } = find::pods(&self.inner.cluster, query).await?;
        Ok(Listing { items: self.inner.cluster.with_places(items).await, next })
    }

    pub async fn get(self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        let key = self.inner.existing_row(worker_id).await?.key;
        // The queue is read before the state, so that a message that leaves the queue in between shows up as running
        // instead of as answered.
        let inbox = self.inner.store.inboxes().inputs(key).await?;
        let row = self.inner.existing_row(worker_id).await?;
        let children = self.inner.store.family().children(row.key).await?;
        let detail = with_use(&self.inner.store, row.key, view::detail(&row, inbox, &children)).await?;
        let summary = self.inner.cluster.with_places(vec![detail.summary.clone()]).await.pop();
        let detail = agents::with_limits(&self.inner.actors.equipment.agents, detail);
        Ok(self.inner.with_git(PodDetail { summary: summary.unwrap_or(detail.summary), ..detail }).await)
    }

    pub async fn named(self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        let row = self.inner.store.pods().find_by_name(name).await?;
        Ok(row.as_ref().map(view::pod_ref))
    }

    /// Names similar to this one, nearest first; at most 5.
    pub async fn near(self, name: &str) -> Result<Vec<Candidate>, ApiError> {
        names::near(self.inner, &self.inner.names, name).await
    }

    /// Exactly what ListPods tells this Pod's model.
    pub async fn visible(self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        pod_tools::visible(&self.inner.kin, worker_id).await
    }

    pub fn observe(self) -> PodsObservation {
        find::observe(self.inner.cluster.clone())
    }

    pub async fn create(self, key: CommandKey, origin: &Origin, create: CreatePod) -> Result<PodSummary, ApiError> {
        if self.inner.stopping.is_cancelled() {
            return Err(error::stopping());
        }
        create::create(self.inner, &self.inner.family.recipes, &Asked { key, origin }, create).await
    }

    /// Creates a stopped Pod with the journal of another one.
    pub async fn import(
        self,
        key: CommandKey,
        origin: &Origin,
        command: ImportCommand,
    ) -> Result<PodSummary, ApiError> {
        self.inner.count_command();
        import::import(self.inner, &self.inner.family.recipes, &Asked { key, origin }, command).await
    }

    /// Creates a Pod with another one's journal up to a record, and with its settings.
    pub async fn fork(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: ForkCommand,
    ) -> Result<PodSummary, ApiError> {
        self.inner.count_command();
        import::fork(self.inner, &Asked { key, origin }, worker_id, command).await
    }

    pub async fn patch(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        // A repeat gets the first answer, whatever has become of the profile or the folders that it names.
        let asked = Asked { key, origin };
        if let Some(first) = asked.first_answer(self.inner).await? {
            return Ok(self.inner.with_git(first).await);
        }
        let row = self.inner.existing_row(worker_id).await?;
        let patch = recipe::of_patch(&self.inner.family.recipes, &row, patch).await?;
        let patch = PodCommand::Patch(Box::new(patch));
        let detail = self.inner.cluster.command(asked.key, origin, worker_id, patch).await?;
        Ok(self.inner.with_git(detail).await)
    }

    pub async fn control(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        match verb {
            ControlVerb::Restore => self.restore(key, origin, worker_id, RestoreCommand::default()).await,
            ControlVerb::Stop if self.is_led(worker_id).await? => {
                self.inner.count_command();
                Ok(family::stop(&self.inner.family, worker_id, &Stopper::Person(Asked { key, origin })).await?.0)
            }
            verb => self.inner.cluster.command(key, origin, worker_id, PodCommand::Control(verb)).await,
        }
    }

    /// True if the Pod has a parent, so that stopping it also returns what it was lent.
    async fn is_led(self, worker_id: &WorkerId) -> Result<bool, ApiError> {
        Ok(self.inner.existing_row(worker_id).await?.parent.is_some())
    }

    /// Restores a stopped Pod, alone or with its descendants.
    pub async fn restore(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.count_command();
        family::restore_command(&self.inner.family, worker_id, key, origin, command.tree).await
    }

    pub async fn delete(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        // A repeat after the Pod has been deleted gets the first answer.
        if let Some(row) = self.inner.store.commands().find(&key.id).await? {
            return key.repeated(row).map(drop);
        }
        let row = self.inner.existing_row(worker_id).await?;
        match confirm {
            Some(name) if name == row.name.as_str() => {
                peers::end_all(&self.inner.peers, worker_id).await?;
                if row.parent.is_some() || row.children > 0 {
                    family::stop(&self.inner.family, worker_id, &Stopper::Deleter(origin)).await?;
                }
                loop {
                    let done = self.inner.cluster.command(key.clone(), origin, worker_id, PodCommand::Delete).await;
                    match done {
                        // It has got a new peer meanwhile.
                        Err(error) if error.code == ErrorCode::Busy => {
                            peers::end_all(&self.inner.peers, worker_id).await?
                        }
                        done => return done,
                    }
                }
            }
            _ => Err(ApiError::invalid(format!(
                "deleting cannot be undone: say ?confirm={} to delete this Pod",
                row.name
            ))),
        }
    }
}

impl Inner {
    /// Adds the state of the repository that the Pod's folder is in, as it is now.
    async fn with_git(&self, mut detail: PodDetail) -> PodDetail {
        let Ok(row) = self.existing_row(&detail.summary.pod.worker_id).await else { return detail };
        let Ok(opened) = view::open(&row) else { return detail };
        let state = git::state_of(&git::Spot::of(&opened.spec)).await.map(|state| git::owned(state, &opened.spec));
        if state != detail.summary.git {
            self.list.tell_changed(&row.worker_id);
        }
        detail.summary.git = state;
        detail
    }
}
