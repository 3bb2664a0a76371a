//! The port: each operation as a client call, with every address translated into the reader's terms.

use async_trait::async_trait;
use client::Reply;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use protocol::{
    ApiError, AuditRow, Candidate, ErrorCode, OpenApproval, OpenRequest, PodName, PodRef, PodSummary, RuleItem,
    RuntimeId, RuntimeState, RuntimeView, Target, WorkerId,
    operation::Filled,
    operations::{Answer, Approvals, Audit, Command, Folders, OpenRequests, Query, Resolve, Rules, Search, Usage},
};
use runtime::{CommandKey, Export, Observation, Origin, PodsObservation, RecordForm, RecordPage};

use super::Remote;
use crate::{
    RuntimePort,
    port::{pod_query, whole},
};

/// How many Pods are asked for their approvals at once.
const ASKED_AT_ONCE: usize = 8;

impl Remote {
    /// The command with every address as the other server knows it. `None` if that server has no name for one of them.
    fn command_there(&self, mut command: Command) -> Option<Command> {
        let there = |target: &mut String| {
            if let Ok(Target::Ref(pod)) = target.parse() {
                *target = Self::there(&pod.worker_id).to_string();
            }
        };
        match &mut command {
            Command::Create(create) => create.body.runtime_id = None,
            Command::RemoveRule(remove) => remove.id = RuleItem::place_of(&remove.id).1.to_owned(),
            Command::Introduce(introduce) => there(&mut introduce.body.target),
            Command::SendMessage(send) => there(&mut send.body.to),
            Command::Unlink(unlink) => unlink.peer = self.known.terms.to_theirs(&unlink.peer)?,
            _ => (),
        }
        if let Some(pod) = command.pod_mut() {
            *pod = Self::there(&pod.worker_id);
        }
        Some(command)
    }

    /// The query in the other server's terms, limited to its own runtime: what it reaches itself is not its own, and
    /// may be us.
    fn query_there(&self, mut query: Query) -> Query {
        let own = || Filled(Some(RuntimeId::local()));
        match &mut query {
            Query::Exchange(exchange) => exchange.peer = Self::there(&exchange.peer.worker_id),
            Query::OpenRequests(OpenRequests { runtime, .. }) => *runtime = own(),
            Query::Folders(Folders { runtime, .. }) => *runtime = own(),
            Query::Usage(Usage { runtime }) | Query::Rules(Rules { runtime, .. }) => *runtime = own(),
            Query::Search(Search { pod: Filled(Some(pod)), runtime, .. }) => {
                *pod = Self::there(&pod.worker_id);
                *runtime = Filled(None);
            }
            Query::Search(Search { runtime, .. }) => *runtime = own(),
            Query::Audit(Audit { runtime, target, .. }) => {
                *runtime = own();
                target.0 = target.0.take().map(|target| self.known.terms.target_to_theirs(&target));
            }
            _ => (),
        }
        if let Some(pod) = query.pod_mut() {
            *pod = Self::there(&pod.worker_id);
        }
        query
    }

    /// A server's answer in our terms. Audit targets are translated separately, because they are plain text.
    fn answer_here(&self, answer: Answer) -> Answer {
        let terms = &self.known.terms;
        match answer {
            Answer::Audit(mut rows) => {
                let ours = |mut row: AuditRow| {
                    row.runtime_id = terms.to_ours(&row.runtime_id);
                    row.entry.target = row.entry.target.map(|target| terms.target_to_ours(&target));
                    row
                };
                rows.items = rows.items.into_iter().map(ours).collect();
                Answer::Audit(rows)
            }
            answer => answer,
        }
    }

    /// The reply with every address in our terms.
    fn reply_here(&self, Reply { status, body }: Reply) -> Reply {
        Reply { status, body: self.known.terms.record(body) }
    }

    /// Applies a command's result to the known list, before the server's own list reports it.
    fn note(&self, command: &Command, answer: &Answer) {
        match (command, answer) {
            (Command::Delete(delete), _) => self.known.remove_pod(&delete.pod.worker_id),
            (_, Answer::Summary(summary)) => self.known.put_pod(summary.clone()),
            (_, Answer::Detail(detail)) => self.known.put_pod(detail.summary.clone()),
            _ => (),
        }
    }
}

#[async_trait]
impl RuntimePort for Remote {
    fn view(&self, _: Timestamp) -> RuntimeView {
        self.known.view()
    }

    async fn carry_out(&self, key: CommandKey, _: &Origin, command: Command) -> Result<Answer, ApiError> {
        // A Pod that its server has no name for cannot be known to its Pods either.
        let Some(command) = self.command_there(command) else { return Ok(Answer::Nothing(())) };
        let reply = self.command(self.client.send(command.request(), Some(&key.id))).await?;
        let Reply { status, body } = self.reply_here(reply);
        let answer = command.answered(status, &body).map_err(|_| self.strange())?;
        self.note(&command, &answer);
        Ok(answer)
    }

    async fn read(&self, query: Query) -> Result<Answer, ApiError> {
        match &query {
            Query::Pods(pods) => return self.known.page(&pod_query(pods.clone())).map(Answer::from),
            // A runtime that does not answer delays no list of open requests.
            Query::OpenRequests(_) if !self.known.is_live() => return Ok(whole::<OpenRequest>(Vec::new()).into()),
            _ => (),
        }
        let query = self.query_there(query);
        let reply = self.asked(self.client.send(query.request(), None)).await?;
        // What a model is sent is passed on unchanged, byte for byte.
        let is_sent = matches!(query, Query::HistoryOf(_));
        let Reply { status, body } = if is_sent { reply } else { self.reply_here(reply) };
        query.answered(status, &body).map(|answer| self.answer_here(answer)).map_err(|_| self.strange())
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        if let Some(pod) = self.known.named(name) {
            return Ok(Some(pod));
        }
        if !self.known.is_live() {
            return Ok(None);
        }
        // The Pod may be brand new, with the list update still on its way.
        let there = Resolve { target: Some(format!("{name}@local")) };
        match self.asked(self.client.read(&there)).await {
            Ok(pod) => Ok(Some(self.known.terms.answer(pod))),
            Err(error) if error.code == ErrorCode::PodNotFound => Ok(None),
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

    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        if self.known.view().state != RuntimeState::Live {
            return Ok(Vec::new());
        }
        let asked = stream::iter(self.known.waiting()).map(|summary| async move {
            let query = Approvals { pod: summary.pod.clone(), all: false, page: Default::default() };
            let items = match self.read(query.into()).await {
                Ok(Answer::Approvals(asked)) => asked.items,
                _ => Vec::new(),
            };
            let open = items.into_iter().map(move |approval| OpenApproval {
                pod: summary.pod.clone(),
                name: summary.name.clone(),
                parent: summary.relations.parent.clone(),
                approval,
            });
            open.collect::<Vec<_>>()
        });
        Ok(asked.buffered(ASKED_AT_ONCE).concat().await)
    }

    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        let (pod, is_whole) = (Self::there(worker_id), form == RecordForm::Whole);
        let page = self.asked(self.client.raw_transcript(&pod, before, limit, is_whole)).await?;
        let terms = &self.known.terms;
        Ok(RecordPage { items: page.items.into_iter().map(|record| terms.record(record)).collect(), next: page.next })
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        self.journal(worker_id).await
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        self.watch(worker_id.clone(), after, tail).await
    }

    fn observe_pods(&self) -> PodsObservation {
        self.known.observe()
    }
}
