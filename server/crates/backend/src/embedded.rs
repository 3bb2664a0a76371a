//! The runtime inside this process: direct calls.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, ApprovalCommand, CompactionPreview, ControlVerb, CreatePod, History, InputCommand, Listing,
    OpenApproval, PatchPod, PodDetail, PodName, PodRef, PodSummary, Receipt, RestoreCommand, RewindCommand, RuntimeId,
    RuntimeKind, RuntimeState, RuntimeView, ToolAnswer, ToolCommand, VisiblePod, WorkerId,
};
use runtime::{CommandKey, Host, Observation, Origin, PodQuery, PodsObservation, RecordPage};

use crate::RuntimePort;

/// The embedded runtime as a port.
#[derive(Debug)]
pub(crate) struct Embedded {
    host: Host,
}

impl Embedded {
    pub(crate) fn new(host: Host) -> Self {
        Self { host }
    }
}

#[async_trait]
impl RuntimePort for Embedded {
    fn view(&self, since: Timestamp) -> RuntimeView {
        RuntimeView {
            runtime_id: RuntimeId::local(),
            kind: RuntimeKind::Embedded,
            state: RuntimeState::Live,
            since,
            detail: None,
        }
    }

    async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.host.pods(query).await
    }

    async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        self.host.pod(worker_id).await
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        self.host.pod_named(name).await
    }

    async fn create(&self, key: CommandKey, origin: &Origin, create: CreatePod) -> Result<PodSummary, ApiError> {
        self.host.create(key, origin, create).await
    }

    async fn input(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        self.host.input(key, origin, worker_id, input).await
    }

    async fn control(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        self.host.control(key, origin, worker_id, verb).await
    }

    async fn restore(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        self.host.restore(key, origin, worker_id, command).await
    }

    async fn rewind(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.host.rewind(key, origin, worker_id, command).await
    }

    async fn run_tool(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        self.host.run_tool(key, origin, worker_id, name, command).await
    }

    async fn answer(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        approval: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        self.host.answer(key, origin, worker_id, approval, command).await
    }

    async fn patch(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        self.host.patch(key, origin, worker_id, patch).await
    }

    async fn delete(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        self.host.delete(key, origin, worker_id, confirm).await
    }

    async fn transcript(&self, worker_id: &WorkerId, before: Option<&str>, limit: u32) -> Result<RecordPage, ApiError> {
        self.host.transcript(worker_id, before, limit).await
    }

    async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError> {
        self.host.history(worker_id).await
    }

    async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        self.host.compaction_preview(worker_id).await
    }

    async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        self.host.approvals(worker_id, all).await
    }

    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        self.host.open_approvals().await
    }

    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        self.host.visible(worker_id).await
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        self.host.observe(worker_id, after, tail).await
    }

    fn observe_pods(&self) -> PodsObservation {
        self.host.observe_pods()
    }
}
