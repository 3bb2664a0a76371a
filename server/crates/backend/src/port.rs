//! What the backend needs of a runtime, wherever it is.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, ApprovalCommand, AuditRow, Candidate, CommandId, CompactionPreview, ControlVerb, CreatePod,
    ExchangeMessage, HeldDecision, History, ImportCommand, InputCommand, Listing, MessageAnswer, OpenApproval,
    OpenRequest, PatchPod, PeerAnswer, PeerView, PodDetail, PodName, PodRef, PodRules, PodSummary, QueuedInput,
    Receipt, RequestDecision, RestoreCommand, RewindCommand, RuntimeView, SearchHit, ToolAnswer, ToolCommand,
    UsageReport, VisiblePod, WorkerId,
};
use runtime::{
    AuditFilter, CommandKey, Export, Introduced, Observation, Origin, PodQuery, PodsObservation, RecordForm,
    RecordPage, SearchQuery,
};

/// What can be asked of a runtime, and is refused by one that cannot do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Create,
    Input,
    TakeBack,
    Files,
    Control,
    Restore,
    Rewind,
    RunTool,
    Answer,
    Patch,
    Delete,
    Introduce,
    Unlink,
    DecideRequest,
    SendMessage,
    DecideHeld,
    Peers,
    Exchange,
    Transcript,
    History,
    CompactionPreview,
    Approvals,
    Visible,
    Search,
    Usage,
    Rules,
    Audit,
    Export,
    Import,
}

/// One runtime: the one inside this process, or one that is reached over a wire. What a port does not forward itself is
/// refused by [`RuntimePort::refuse`].
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
    /// A Pod as it was told of last, without asking anybody; also while its runtime does not answer.
    fn pod_seen(&self, _worker_id: &WorkerId) -> Option<PodSummary> {
        None
    }
    /// Pods that are called nearly so, the nearest first, of those that are known without asking anybody.
    fn near_names(&self, _name: &PodName) -> Vec<Candidate> {
        Vec::new()
    }

    /// Why this runtime cannot do something; of a Pod that is not there, that it is not.
    async fn refuse(&self, _verb: Verb, _worker_id: Option<&WorkerId>) -> ApiError {
        ApiError::invalid("this runtime cannot do that")
    }

    /// Whether it is of any use to send a command there now. One that is refused here was not sent.
    async fn ready(&self) -> Result<(), ApiError> {
        Ok(())
    }

    async fn create(&self, _key: CommandKey, _origin: &Origin, _create: CreatePod) -> Result<PodSummary, ApiError> {
        Err(self.refuse(Verb::Create, None).await)
    }
    async fn input(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        Err(self.refuse(Verb::Input, Some(worker_id)).await)
    }
    /// Takes a queued input back; one that has begun is `already_answered`.
    async fn take_back(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        Err(self.refuse(Verb::TakeBack, Some(worker_id)).await)
    }
    /// Files that the Pod may read and that fit what was begun, the best first.
    async fn files(&self, worker_id: &WorkerId, _begun: &str) -> Result<Vec<String>, ApiError> {
        Err(self.refuse(Verb::Files, Some(worker_id)).await)
    }
    async fn control(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        Err(self.refuse(Verb::Control, Some(worker_id)).await)
    }
    async fn restore(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        Err(self.refuse(Verb::Restore, Some(worker_id)).await)
    }
    async fn rewind(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        Err(self.refuse(Verb::Rewind, Some(worker_id)).await)
    }
    async fn run_tool(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _name: &str,
        _command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        Err(self.refuse(Verb::RunTool, Some(worker_id)).await)
    }
    async fn answer(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _approval: &str,
        _command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        Err(self.refuse(Verb::Answer, Some(worker_id)).await)
    }
    async fn patch(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        Err(self.refuse(Verb::Patch, Some(worker_id)).await)
    }
    async fn delete(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        Err(self.refuse(Verb::Delete, Some(worker_id)).await)
    }

    /// Both Pods live in this runtime.
    async fn introduce(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _target: &WorkerId,
        _note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        Err(self.refuse(Verb::Introduce, Some(worker_id)).await)
    }
    /// `peer` may be a Pod of another runtime, or one that is gone.
    async fn unlink(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _peer: &PodRef,
    ) -> Result<(), ApiError> {
        Err(self.refuse(Verb::Unlink, Some(worker_id)).await)
    }
    async fn decide_request(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _request_id: &str,
        _decision: RequestDecision,
    ) -> Result<PeerAnswer, ApiError> {
        Err(self.refuse(Verb::DecideRequest, Some(worker_id)).await)
    }
    async fn send_message(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _peer: &WorkerId,
        _text: &str,
    ) -> Result<MessageAnswer, ApiError> {
        Err(self.refuse(Verb::SendMessage, Some(worker_id)).await)
    }
    async fn decide_held(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        worker_id: &WorkerId,
        _message_id: &str,
        _decision: HeldDecision,
    ) -> Result<MessageAnswer, ApiError> {
        Err(self.refuse(Verb::DecideHeld, Some(worker_id)).await)
    }

    async fn peers(&self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        Err(self.refuse(Verb::Peers, Some(worker_id)).await)
    }
    /// Of every Pod, oldest first.
    async fn open_requests(&self) -> Result<Vec<OpenRequest>, ApiError> {
        Ok(Vec::new())
    }
    async fn exchange(
        &self,
        worker_id: &WorkerId,
        _peer: &WorkerId,
        _before: Option<&str>,
        _limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        Err(self.refuse(Verb::Exchange, Some(worker_id)).await)
    }

    /// The newest records, or those before a seq: at most `limit` of them and about [`protocol::PAGE_BYTES_MAX`], but one if there
    /// is any.
    async fn transcript(
        &self,
        worker_id: &WorkerId,
        _before: Option<&str>,
        _limit: u32,
        _form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        Err(self.refuse(Verb::Transcript, Some(worker_id)).await)
    }
    async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError> {
        Err(self.refuse(Verb::History, Some(worker_id)).await)
    }
    async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        Err(self.refuse(Verb::CompactionPreview, Some(worker_id)).await)
    }
    async fn approvals(&self, worker_id: &WorkerId, _all: bool) -> Result<Vec<Approval>, ApiError> {
        Err(self.refuse(Verb::Approvals, Some(worker_id)).await)
    }
    /// Of every Pod, oldest first.
    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        Ok(Vec::new())
    }
    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        Err(self.refuse(Verb::Visible, Some(worker_id)).await)
    }

    /// Where words were said in this runtime, newest first.
    async fn search(&self, _query: SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        Err(self.refuse(Verb::Search, None).await)
    }

    /// What was used there.
    async fn usage(&self) -> Result<UsageReport, ApiError> {
        Err(self.refuse(Verb::Usage, None).await)
    }

    /// The Pods there that have rules of their own.
    async fn rules(&self) -> Result<Vec<PodRules>, ApiError> {
        Err(self.refuse(Verb::Rules, None).await)
    }

    /// What was done there, newest first. A Pod's address in the filter is in our terms.
    async fn audit(
        &self,
        _filter: AuditFilter,
        _after: Option<String>,
        _limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        Err(self.refuse(Verb::Audit, None).await)
    }

    /// The whole journal, a page at a time.
    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        Err(self.refuse(Verb::Export, Some(worker_id)).await)
    }
    /// A stopped Pod with that history.
    async fn import(
        &self,
        _key: CommandKey,
        _origin: &Origin,
        _command: ImportCommand,
    ) -> Result<PodSummary, ApiError> {
        Err(self.refuse(Verb::Import, None).await)
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation;
    /// The whole list at once, as far as it is known, then its changes.
    fn observe_pods(&self) -> PodsObservation;
}
