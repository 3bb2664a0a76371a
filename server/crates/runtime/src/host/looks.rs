//! What there is to see of Pods: lists, one of them, its records and what it would do.

use std::sync::atomic::Ordering;

use protocol::{
    ApiError, CompactionPreview, History, Listing, PodDetail, PodName, PodRef, PodSummary, VisiblePod, WorkerId,
};

use super::Host;
use crate::{
    Figures, Observation, PodQuery, PodsObservation, Readiness, RecordForm, RecordPage, actor::viewer, error, find,
    ground, history, names, pod_tools, view,
};

impl Host {
    pub async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.inner.recovered().await;
        let Listing { items, next } = find::pods(&self.inner.cluster, query).await?;
        Ok(Listing { items: self.inner.cluster.with_places(items).await, next })
    }

    pub async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        let key = self.inner.existing_row(worker_id).await?.key;
        // The queue before the state: a message that leaves the queue in between is then seen at work, and not as answered.
        let inbox = self.inner.store.inbox(key).await.map_err(error::store_failed)?;
        let row = self.inner.existing_row(worker_id).await?;
        let children = self.inner.store.children(row.key).await.map_err(error::store_failed)?;
        let detail = view::detail(&row, inbox, &children);
        let summary = self.inner.cluster.with_places(vec![detail.summary.clone()]).await.pop();
        Ok(PodDetail { summary: summary.unwrap_or(detail.summary), ..detail })
    }

    pub async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        let row = self.inner.store.pod_find_by_name(name).await.map_err(error::store_failed)?;
        Ok(row.as_ref().map(view::pod_ref))
    }

    /// Names that are spelled much like this one, nearest first; at most 5.
    pub async fn near_names(&self, name: &str) -> Result<Vec<protocol::Candidate>, ApiError> {
        names::near(&self.inner, &self.inner.names, name).await
    }

    /// Exactly what ListPods tells this Pod's model.
    pub async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        pod_tools::visible(&self.inner.kin, worker_id).await
    }

    /// What compacting would do now; none when there is nothing to drop.
    pub async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        history::compaction_preview(&self.inner, worker_id).await
    }

    pub async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        history::page(&self.inner, worker_id, before, limit, form).await
    }

    pub async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError> {
        history::history(&self.inner, worker_id).await
    }

    pub async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        viewer::observe(self.inner.actors.clone(), worker_id.clone(), after, tail).await
    }

    pub fn observe_pods(&self) -> PodsObservation {
        find::observe(self.inner.cluster.clone())
    }

    /// Names the database, for other servers; it stays as long as the database does.
    pub fn store_id(&self) -> &str {
        self.inner.store.epoch()
    }

    pub async fn readiness(&self) -> Readiness {
        let database = self.inner.look_at_database().await;
        let is_usable = database.reads.is_none() && database.writes.is_none();
        let recovering = self.inner.recovering.borrow().len();
        let failed = self.inner.failed.lock().expect("no holder of this list panics");
        Readiness {
            ready: is_usable && recovering == 0 && !self.inner.stopping.is_cancelled(),
            recovering: recovering.try_into().unwrap_or(u32::MAX),
            failed: failed.iter().map(|(name, reason)| (name.clone(), reason.clone())).collect(),
            database,
        }
    }

    /// What keeps this host from writing, while something does.
    pub fn outage(&self) -> Option<String> {
        self.inner.store.outage().borrow().as_ref().map(ground::reason)
    }

    /// Figures for `/metrics`.
    pub fn figures(&self) -> Figures {
        let failures = self.inner.store.failures();
        Figures {
            longest_step: crate::watchdog::longest_step(),
            reads_failed_total: failures.reads,
            writes_failed_total: failures.writes,
            records_damaged: failures.damaged,
            is_out: self.inner.store.is_out(),
            is_lost: self.inner.store.is_lost(),
            active_pods: self.inner.actors.tasks_count() as u64,
            records_total: self.inner.records.load(Ordering::Relaxed),
            commands_total: self.inner.commands.load(Ordering::Relaxed),
            viewers: self.inner.viewers.load(Ordering::Relaxed),
        }
    }
}
