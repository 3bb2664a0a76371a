//! The port: each call as the client makes it, with every address in the terms of whoever reads it.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, ApprovalCommand, AuditRow, Candidate, CommandId, CompactionPreview, ControlVerb, CreatePod,
    ExchangeMessage, HeldCommand, HeldDecision, History, ImportCommand, InputCommand, Listing, MessageAnswer,
    MessageCommand, OpenApproval, OpenRequest, PatchPod, PeerAnswer, PeerCommand, PeerView, PodDetail, PodName, PodRef,
    PodRules, PodSummary, QueuedInput, Receipt, RequestCommand, RequestDecision, RestoreCommand, RewindCommand,
    RuntimeView, SearchHit, ToolAnswer, ToolCommand, UsageReport, VisiblePod, WorkerId,
};
use runtime::{
    AuditFilter, CommandKey, Export, Introduced, Observation, Origin, PodQuery, PodsObservation, RecordForm,
    RecordPage, SearchQuery,
};

use super::Remote;
use crate::RuntimePort;

#[async_trait]
impl RuntimePort for Remote {
    fn view(&self, _: Timestamp) -> RuntimeView {
        self.known.view()
    }

    async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.known.page(query)
    }

    async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        let pod = Self::there(worker_id);
        self.read(self.client.pod(&pod)).await.map(|detail| self.known.terms.answer(detail))
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        if let Some(pod) = self.known.named(name) {
            return Ok(Some(pod));
        }
        if !self.known.is_live() {
            return Ok(None);
        }
        // It may have been made a moment ago, and the list be on its way.
        match self.read(self.client.resolve(&format!("{name}@local"))).await {
            Ok(pod) => Ok(Some(self.known.terms.answer(pod))),
            Err(error) if error.code == protocol::ErrorCode::PodNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn pod_known(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        Ok(self.known.named(name))
    }

    fn pod_seen(&self, worker_id: &WorkerId) -> Option<PodSummary> {
        self.known.pod(worker_id)
    }

    fn near_names(&self, name: &PodName) -> Vec<Candidate> {
        self.known.near_names(name)
    }

    async fn ready(&self) -> Result<(), ApiError> {
        self.reachable().await
    }

    async fn create(&self, key: CommandKey, _: &Origin, mut create: CreatePod) -> Result<PodSummary, ApiError> {
        create.runtime_id = None;
        let summary = self.command(self.client.create(&key.id, &create)).await?;
        let summary = self.known.terms.summary(summary);
        self.known.put_pod(summary.clone());
        Ok(summary)
    }

    async fn input(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        self.command(self.client.input(&key.id, &Self::there(worker_id), &input)).await
    }

    async fn take_back(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        self.command(self.client.take_back(&key.id, &Self::there(worker_id), queued)).await
    }

    async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        Ok(self.read(self.client.files(&Self::there(worker_id), begun)).await?.items)
    }

    async fn control(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        self.command(self.client.control(&key.id, &Self::there(worker_id), verb)).await
    }

    async fn restore(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        let receipt = self.command(self.client.restore(&key.id, &Self::there(worker_id), &command)).await?;
        Ok(self.known.terms.answer(receipt))
    }

    async fn rewind(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.command(self.client.rewind(&key.id, &Self::there(worker_id), &command)).await
    }

    async fn run_tool(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        self.command(self.client.run_tool(&key.id, &Self::there(worker_id), name, &command)).await
    }

    async fn answer(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        approval: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        self.command(self.client.answer(&key.id, &Self::there(worker_id), approval, &command)).await
    }

    async fn patch(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        let detail = self.command(self.client.patch(&key.id, &Self::there(worker_id), &patch)).await?;
        let detail = self.known.terms.answer(detail);
        self.known.put_pod(detail.summary.clone());
        Ok(detail)
    }

    async fn delete(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        let confirm = confirm.unwrap_or_default();
        self.command(self.client.delete(&key.id, &Self::there(worker_id), confirm)).await?;
        self.known.remove_pod(worker_id);
        Ok(())
    }

    async fn introduce(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        target: &WorkerId,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        let command = PeerCommand { target: Self::there(target).to_string(), note };
        let pod = Self::there(worker_id);
        let (answer, stood) = self.command(self.client.introduce_told(&key.id, &pod, &command)).await?;
        Ok(Introduced { answer: self.known.terms.answer(answer), stood })
    }

    async fn unlink(&self, key: CommandKey, _: &Origin, worker_id: &WorkerId, peer: &PodRef) -> Result<(), ApiError> {
        // Whom its server does not know by any name, its Pods do not know.
        let Some(peer) = self.known.terms.to_theirs(peer) else { return Ok(()) };
        self.command(self.client.unlink(&key.id, &Self::there(worker_id), &peer)).await
    }

    async fn decide_request(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        request_id: &str,
        decision: RequestDecision,
    ) -> Result<PeerAnswer, ApiError> {
        let (pod, command) = (Self::there(worker_id), RequestCommand { decision });
        let answer = self.command(self.client.decide_request(&key.id, &pod, request_id, command)).await?;
        Ok(self.known.terms.answer(answer))
    }

    async fn send_message(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        peer: &WorkerId,
        text: &str,
    ) -> Result<MessageAnswer, ApiError> {
        let command = MessageCommand { to: Self::there(peer).to_string(), text: text.to_owned() };
        self.command(self.client.send_message(&key.id, &Self::there(worker_id), &command)).await
    }

    async fn decide_held(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        message_id: &str,
        decision: HeldDecision,
    ) -> Result<MessageAnswer, ApiError> {
        let (pod, command) = (Self::there(worker_id), HeldCommand { decision });
        self.command(self.client.decide_held(&key.id, &pod, message_id, command)).await
    }

    async fn peers(&self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        let listing = self.read(self.client.peers(&Self::there(worker_id))).await?;
        Ok(self.known.terms.answer(listing.items))
    }

    async fn open_requests(&self) -> Result<Vec<OpenRequest>, ApiError> {
        self.own_open_requests().await
    }

    async fn exchange(
        &self,
        worker_id: &WorkerId,
        peer: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        let (pod, peer) = (Self::there(worker_id), Self::there(peer));
        let listing = self.read(self.client.exchange(&pod, &peer, before, limit)).await?;
        Ok(self.known.terms.answer(listing))
    }

    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        let (pod, is_whole) = (Self::there(worker_id), form == RecordForm::Whole);
        let page = self.read(self.client.raw_transcript(&pod, before, limit, is_whole)).await?;
        let terms = &self.known.terms;
        Ok(RecordPage { items: page.items.into_iter().map(|record| terms.record(record)).collect(), next: page.next })
    }

    async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError> {
        self.read(self.client.history(&Self::there(worker_id))).await
    }

    async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        self.read(self.client.compaction_preview(&Self::there(worker_id))).await
    }

    async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        Ok(self.read(self.client.approvals(&Self::there(worker_id), all)).await?.items)
    }

    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        self.all_open_approvals().await
    }

    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        let listing = self.read(self.client.visible(&Self::there(worker_id))).await?;
        Ok(self.known.terms.answer(listing.items))
    }

    async fn search(&self, query: SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        self.search_hits(query).await
    }

    async fn usage(&self) -> Result<UsageReport, ApiError> {
        self.usage_report().await
    }

    async fn rules(&self) -> Result<Vec<PodRules>, ApiError> {
        self.own_rules().await
    }

    async fn audit(
        &self,
        filter: AuditFilter,
        after: Option<String>,
        limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        self.audit_rows(filter, after, limit).await
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        self.journal(worker_id).await
    }

    async fn import(&self, key: CommandKey, _: &Origin, command: ImportCommand) -> Result<PodSummary, ApiError> {
        let summary = self.command(self.client.import(&key.id, &command)).await?;
        let summary = self.known.terms.summary(summary);
        self.known.put_pod(summary.clone());
        Ok(summary)
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        self.watch(worker_id.clone(), after, tail).await
    }

    fn observe_pods(&self) -> PodsObservation {
        self.known.observe()
    }
}
