//! The runtime inside this process: direct calls.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, ControlVerb, ErrorCode, Gathered, Listing, OpenApproval, PodName, PodRef, RuleItem, RuntimeId,
    RuntimeKind, RuntimeState, RuntimeView, WorkerId, open_cursor,
    operations::{Answer, Audit, Command, Query},
};
use runtime::{
    AuditFilter, CommandKey, Export, Host, Observation, Origin, PodsObservation, RecordForm, RecordPage, SearchQuery,
};

use crate::{
    RuntimePort,
    port::{pod_query, second, whole},
};

/// The embedded runtime as a port.
#[derive(Debug)]
pub(crate) struct Embedded {
    host: Host,
}

impl Embedded {
    pub(crate) fn new(host: Host) -> Self {
        Self { host }
    }

    async fn control(
        &self,
        key: CommandKey,
        origin: &Origin,
        pod: &PodRef,
        verb: ControlVerb,
    ) -> Result<Answer, ApiError> {
        Ok(self.host.pods().control(key, origin, &pod.worker_id, verb).await?.into())
    }

    async fn audit(&self, audit: Audit) -> Result<Answer, ApiError> {
        let after = match &audit.after.0 {
            None => None,
            // Rows are numbered from 1.
            Some(text) => {
                let row = open_cursor(text).and_then(|place| place.parse().ok()).filter(|row: &i64| *row > 0);
                Some(row.ok_or_else(|| {
                    ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
                })?)
            }
        };
        let filter = AuditFilter { action: audit.action.0, result: audit.result.0, target: audit.target.0 };
        Ok(gathered(self.host.audit().find(&filter, after, audit.limit.0).await?).into())
    }
}

/// One runtime's part of a merged list.
fn gathered<T>(Listing { items, next }: Listing<T>) -> Gathered<T> {
    Gathered { items, next, absent: Vec::new() }
}

#[async_trait]
impl RuntimePort for Embedded {
    fn view(&self, since: Timestamp) -> RuntimeView {
        RuntimeView {
            runtime_id: RuntimeId::local(),
            kind: RuntimeKind::Embedded,
            state: RuntimeState::Live,
            since,
            detail: self.host.health().outage(),
        }
    }

    async fn carry_out(&self, key: CommandKey, origin: &Origin, command: Command) -> Result<Answer, ApiError> {
        let host = &self.host;
        Ok(match command {
            Command::Create(it) => host.pods().create(key, origin, it.body).await?.into(),
            Command::Import(it) => host.pods().import(key, origin, it.body).await?.into(),
            Command::Fork(it) => host.pods().fork(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::Patch(it) => host.pods().patch(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::Delete(it) => {
                host.pods().delete(key, origin, &it.pod.worker_id, it.confirm.as_deref()).await?.into()
            }
            Command::Input(it) => host.work().input(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::TakeBack(it) => {
                host.work().take_back(key, origin, &it.pod.worker_id, &it.command_id).await?.into()
            }
            Command::Interrupt(it) => host.work().interrupt(key, origin, &it.pod.worker_id).await?.into(),
            Command::Pause(it) => self.control(key, origin, &it.pod, ControlVerb::Pause).await?,
            Command::Resume(it) => self.control(key, origin, &it.pod, ControlVerb::Resume).await?,
            Command::Cancel(it) => self.control(key, origin, &it.pod, ControlVerb::Cancel).await?,
            Command::Stop(it) => self.control(key, origin, &it.pod, ControlVerb::Stop).await?,
            Command::Compact(it) => self.control(key, origin, &it.pod, ControlVerb::Compact).await?,
            Command::Retry(it) => self.control(key, origin, &it.pod, ControlVerb::Retry).await?,
            Command::Restore(it) => host.pods().restore(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::Rewind(it) => host.work().rewind(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::ChangeWorktree(it) => {
                host.work().change_worktree(key, origin, &it.pod.worker_id, it.body).await?.into()
            }
            Command::CommitChanges(it) => {
                host.work().commit_changes(key, origin, &it.pod.worker_id, it.body).await?.into()
            }
            Command::Revert(it) => host.work().revert(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::UndoRevert(it) => host.work().undo_revert(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::Review(it) => host.work().review(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::KeepDrafts(it) => host.work().keep_drafts(key, origin, &it.pod.worker_id, it.body).await?.into(),
            Command::RunTool(it) => {
                host.work().run_tool(key, origin, &it.pod.worker_id, &it.name, it.body).await?.into()
            }
            Command::StopCommand(it) => host.work().stop_command(key, origin, &it.pod.worker_id, it.id).await?.into(),
            Command::AnswerApproval(it) => {
                host.approvals().answer(key, origin, &it.pod.worker_id, &it.id, it.body).await?.into()
            }
            Command::AnswerApprovals(_) => return Err(ApiError::invalid("each question is answered by itself")),
            Command::RemoveRule(it) => host.rules().remove(key, origin, RuleItem::place_of(&it.id).1).await?.into(),
            Command::Introduce(it) => {
                let target = second(&it.body.target)?;
                host.peers().introduce(key, origin, &it.pod.worker_id, &target, it.body.note).await?.into()
            }
            Command::Unlink(it) => host.peers().unlink(key, origin, &it.pod.worker_id, &it.peer).await?.into(),
            Command::DecideRequest(it) => host
                .peers()
                .decide_request(key, origin, &it.pod.worker_id, &it.request_id, it.body.decision)
                .await?
                .into(),
            Command::SendMessage(it) => {
                let to = second(&it.body.to)?;
                host.peers().send(key, origin, &it.pod.worker_id, &to, &it.body.text).await?.into()
            }
            Command::DecideHeld(it) => {
                host.peers().decide_held(key, origin, &it.pod.worker_id, &it.message_id, it.body.decision).await?.into()
            }
        })
    }

    async fn read(&self, query: Query) -> Result<Answer, ApiError> {
        let host = &self.host;
        Ok(match query {
            Query::Pods(it) => host.pods().list(&pod_query(it)).await?.into(),
            Query::Resolve(it) => return Err(ApiError::invalid(format!("no runtime alone resolves {:?}", it.target))),
            Query::Pod(it) => host.pods().get(&it.pod.worker_id).await?.into(),
            Query::Approvals(it) => whole(host.approvals().of_pod(&it.pod.worker_id, it.all).await?).into(),
            Query::OwnCommands(it) => whole(host.work().own_commands(&it.pod.worker_id).await?).into(),
            Query::OwnMessageOf(it) => {
                let arguments = it.arguments.0.unwrap_or_default();
                host.work().own_message(&it.pod.worker_id, &it.name, &arguments).await?.into()
            }
            Query::Commands(it) => whole(host.work().commands(&it.pod.worker_id).await?).into(),
            Query::CommandOutput(it) => {
                host.work().command_output(&it.pod.worker_id, &it.id, it.after.0.unwrap_or(0)).await?.into()
            }
            Query::Visible(it) => whole(host.pods().visible(&it.pod.worker_id).await?).into(),
            Query::Files(it) => whole(host.work().files(&it.pod.worker_id, &it.q.0.unwrap_or_default()).await?).into(),
            Query::Prompts(it) => whole(host.work().prompts(&it.pod.worker_id).await?).into(),
            Query::PromptMade(it) => {
                let given = match it.arguments.0 {
                    None => Err(it.words.0.unwrap_or_default()),
                    Some(text) => Ok(arguments(&text)?),
                };
                host.work().prompt(&it.pod.worker_id, it.name, given).await?.into()
            }
            Query::Resources(it) => {
                let begun = it.q.0.unwrap_or_default();
                whole(host.work().resources(&it.pod.worker_id, begun).await?).into()
            }
            Query::ResourceContent(it) => {
                let (server, uri) = (it.server.0.unwrap_or_default(), it.uri.0.unwrap_or_default());
                host.work().resource(&it.pod.worker_id, server, uri).await?.into()
            }
            Query::ChangesOf(it) => {
                host.work().changes(&it.pod.worker_id, it.since.0.unwrap_or_default()).await?.into()
            }
            Query::DraftsOf(it) => host.work().drafts(&it.pod.worker_id).await?.into(),
            Query::PreviewRewind(it) => host.work().preview_rewind(&it.pod.worker_id, it.to_seq).await?.into(),
            Query::Folders(it) => host.settings().folders(it.prefix.0.as_deref()).await?.into(),
            Query::Peers(it) => whole(host.peers().of_pod(&it.pod.worker_id).await?).into(),
            Query::Exchange(it) => {
                let (pod, peer) = (&it.pod.worker_id, &it.peer.worker_id);
                host.peers().exchange(pod, peer, it.before.0.as_deref(), it.limit.0).await?.into()
            }
            Query::OpenRequests(_) => whole(host.peers().open_requests().await?).into(),
            Query::HistoryOf(it) => host.journals().history(&it.pod.worker_id).await?.into(),
            Query::PreviewCompaction(it) => host.journals().compaction_preview(&it.pod.worker_id).await?.into(),
            Query::Search(it) => {
                let (pod, after) = (it.pod.0.map(|pod| pod.worker_id), it.after.0);
                let query = SearchQuery { words: it.q.unwrap_or_default(), pod, after, limit: it.limit.0 };
                gathered(host.journals().search(&query).await?).into()
            }
            Query::Usage(_) => host.journals().usage().await?.into(),
            Query::Audit(it) => self.audit(it).await?,
            Query::Rules(_) => gathered(whole(host.rules().list().await?)).into(),
        })
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        self.host.pods().named(name).await
    }

    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        self.host.approvals().open().await
    }

    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        self.host.journals().page(worker_id, before, limit, form).await
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        self.host.journals().export(worker_id).await
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        self.host.journals().observe(worker_id, after, tail).await
    }

    fn observe_pods(&self) -> PodsObservation {
        self.host.pods().observe()
    }
}

/// Reads the arguments of a prompt.
fn arguments(text: &str) -> Result<serde_json::Map<String, serde_json::Value>, ApiError> {
    let arguments: Option<serde_json::Map<_, _>> = serde_json::from_str(text).ok();
    arguments
        .filter(|arguments| arguments.values().all(serde_json::Value::is_string))
        .ok_or_else(|| ApiError::invalid("`arguments` is a JSON object of texts, such as {\"topic\":\"tests\"}"))
}
