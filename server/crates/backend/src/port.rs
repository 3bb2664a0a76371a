//! What the backend needs of a runtime, wherever it is.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, ApprovalCommand, Candidate, CommandId, CompactionPreview, ControlVerb, CreatePod,
    ExchangeMessage, HeldDecision, History, ImportCommand, InputCommand, Listing, MessageAnswer, OpenApproval,
    OpenRequest, PatchPod, PeerAnswer, PeerView, PodDetail, PodName, PodRef, PodSummary, QueuedInput, Receipt,
    RequestDecision, RestoreCommand, RewindCommand, RuntimeView, SearchHit, ToolAnswer, ToolCommand, VisiblePod,
    WorkerId,
};
use runtime::{
    CommandKey, Export, Introduced, Observation, Origin, PodQuery, PodsObservation, RecordPage, SearchQuery,
};

/// One runtime: the one inside this process, or one that is reached over a wire.
///
/// In the one inside this process each command writes its own audit row when it is carried out, in the transaction that
/// carries it out. For the others [`crate::Backend`] writes it when the command has been answered.
#[async_trait]
pub trait RuntimePort: Send + Sync + fmt::Debug {
    fn view(&self, since: Timestamp) -> RuntimeView;

    /// One page. Its cursors, `query.after` too, begin with the runtime's own id and a dot.
    async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError>;
    async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError>;
    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError>;
    /// As [`RuntimePort::pod_named`], as far as it is known without asking anybody.
    async fn pod_known(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        self.pod_named(name).await
    }
    /// Pods that are called nearly so, the nearest first, of those that are known without asking anybody.
    fn near_names(&self, _name: &PodName) -> Vec<Candidate> {
        Vec::new()
    }

    async fn create(&self, key: CommandKey, origin: &Origin, create: CreatePod) -> Result<PodSummary, ApiError>;
    async fn input(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError>;
    /// Takes a queued input back; one that has begun is `already_answered`.
    async fn take_back(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError>;
    /// Files that the Pod may read and that fit what was begun, the best first.
    async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError>;
    async fn control(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError>;
    async fn restore(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError>;
    async fn rewind(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError>;
    async fn run_tool(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError>;
    async fn answer(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        approval: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError>;
    async fn patch(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError>;
    async fn delete(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError>;

    /// Both Pods live in this runtime.
    async fn introduce(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        target: &WorkerId,
        note: Option<String>,
    ) -> Result<Introduced, ApiError>;
    /// `peer` may be a Pod of another runtime, or one that is gone.
    async fn unlink(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &PodRef,
    ) -> Result<(), ApiError>;
    async fn decide_request(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        request_id: &str,
        decision: RequestDecision,
    ) -> Result<PeerAnswer, ApiError>;
    async fn send_message(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &WorkerId,
        text: &str,
    ) -> Result<MessageAnswer, ApiError>;
    async fn decide_held(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        message_id: &str,
        decision: HeldDecision,
    ) -> Result<MessageAnswer, ApiError>;
    /// What a command of this key was answered when it was carried out; none when it was not.
    async fn first_answer(&self, key: &CommandKey) -> Result<Option<String>, ApiError>;

    async fn peers(&self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError>;
    /// Of every Pod, oldest first.
    async fn open_requests(&self) -> Result<Vec<OpenRequest>, ApiError>;
    async fn exchange(
        &self,
        worker_id: &WorkerId,
        peer: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError>;

    async fn transcript(&self, worker_id: &WorkerId, before: Option<&str>, limit: u32) -> Result<RecordPage, ApiError>;
    async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError>;
    async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError>;
    async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError>;
    /// Of every Pod, oldest first.
    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError>;
    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError>;

    /// Where words were said in this runtime, newest first.
    async fn search(&self, _query: SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        Err(ApiError::invalid("the journals of this runtime cannot be searched from here"))
    }

    /// The whole journal, a page at a time.
    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError>;
    /// A stopped Pod with that history.
    async fn import(&self, key: CommandKey, origin: &Origin, command: ImportCommand) -> Result<PodSummary, ApiError>;

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation;
    /// The whole list at once, as far as it is known, then its changes.
    fn observe_pods(&self) -> PodsObservation;
}
