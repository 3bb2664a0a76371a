//! The runtime inside this process: direct calls.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, ApprovalCommand, AuditRow, CommandId, CompactionPreview, ControlVerb, CreatePod, ErrorCode,
    ExchangeMessage, HeldDecision, History, ImportCommand, InputCommand, Listing, MessageAnswer, OpenApproval,
    OpenRequest, PatchPod, PeerAnswer, PeerView, PodDetail, PodName, PodRef, PodRules, PodSummary, QueuedInput,
    Receipt, RequestDecision, RestoreCommand, RewindCommand, RuntimeId, RuntimeKind, RuntimeState, RuntimeView,
    SearchHit, ToolAnswer, ToolCommand, UsageReport, VisiblePod, WorkerId, open_cursor,
};
use runtime::{
    AuditFilter, CommandKey, Export, Host, Introduced, Observation, Origin, PodQuery, PodsObservation, RecordForm,
    RecordPage, SearchQuery,
};

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
            detail: self.host.outage(),
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

    async fn take_back(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        self.host.take_back(key, origin, worker_id, queued).await
    }

    async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        self.host.files(worker_id, begun).await
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

    async fn introduce(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        target: &WorkerId,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        self.host.introduce(key, origin, worker_id, target, note).await
    }

    async fn unlink(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &PodRef,
    ) -> Result<(), ApiError> {
        self.host.unlink(key, origin, worker_id, peer).await
    }

    async fn decide_request(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        request_id: &str,
        decision: RequestDecision,
    ) -> Result<PeerAnswer, ApiError> {
        self.host.decide_request(key, origin, worker_id, request_id, decision).await
    }

    async fn send_message(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &WorkerId,
        text: &str,
    ) -> Result<MessageAnswer, ApiError> {
        self.host.send_message(key, origin, worker_id, peer, text).await
    }

    async fn decide_held(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        message_id: &str,
        decision: HeldDecision,
    ) -> Result<MessageAnswer, ApiError> {
        self.host.decide_held(key, origin, worker_id, message_id, decision).await
    }

    async fn peers(&self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        self.host.peers(worker_id).await
    }

    async fn open_requests(&self) -> Result<Vec<OpenRequest>, ApiError> {
        self.host.open_requests().await
    }

    async fn exchange(
        &self,
        worker_id: &WorkerId,
        peer: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        self.host.exchange(worker_id, peer, before, limit).await
    }

    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        self.host.transcript(worker_id, before, limit, form).await
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

    async fn search(&self, query: SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        self.host.search(&query).await
    }

    async fn usage(&self) -> Result<UsageReport, ApiError> {
        self.host.usage().await
    }

    async fn rules(&self) -> Result<Vec<PodRules>, ApiError> {
        self.host.rules().await
    }

    async fn audit(
        &self,
        filter: AuditFilter,
        after: Option<String>,
        limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        let after = match after {
            None => None,
            // Rows are numbered from 1.
            Some(text) => {
                let row = open_cursor(&text).and_then(|place| place.parse().ok()).filter(|row: &i64| *row > 0);
                Some(row.ok_or_else(|| {
                    ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
                })?)
            }
        };
        self.host.audit_find(&filter, after, limit).await
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        self.host.export(worker_id).await
    }

    async fn import(&self, key: CommandKey, origin: &Origin, command: ImportCommand) -> Result<PodSummary, ApiError> {
        self.host.import(key, origin, command).await
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        self.host.observe(worker_id, after, tail).await
    }

    fn observe_pods(&self) -> PodsObservation {
        self.host.observe_pods()
    }
}
