//! The older Pods as a runtime: what they support, and for everything else the reason why not.

use async_trait::async_trait;
use backend::{RuntimePort, pod_query, second, whole};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, Candidate, CompactionPreview, ControlVerb, OpenRequest, PeerLink, PeerView, PodName, PodRef,
    RuntimeKind, RuntimeState, RuntimeView, Seq, Visibility, VisiblePod, WorkerId,
    operations::{Answer, Command, Query},
};
use runtime::{CommandKey, Export, FeedItem, Observation, Origin, PodsObservation, RecordForm, RecordPage};
use serde::{Serialize, de::DeserializeOwned};

use crate::{CompatSockets, commands, list, listed::ListedPod, names, once::Failure, pod::Pod, viewer};

const PAGE_MAX: u32 = 1_000;
/// How many records an export reads at once.
const EXPORT_RECORDS: usize = 1_000;

const MADE_ELSEWHERE: &str = "a Pod is made by its own program, not over a socket";

/// The error for what the older protocol does not support.
fn cannot(what: &str) -> ApiError {
    ApiError::invalid(format!("older Pods cannot do this: {what}"))
}

impl CompatSockets {
    async fn once<T>(
        &self,
        key: CommandKey,
        command: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<Answer, ApiError>
    where
        T: Serialize + DeserializeOwned + Send + Into<Answer> + 'static,
    {
        self.answers.once(key, command).await.map(T::into)
    }

    async fn peers(&self, pod: &Pod) -> Result<Vec<PeerView>, ApiError> {
        let since = pod.summary().created_at;
        let listed = commands::listed(pod).await?;
        let peers = listed.0.into_iter().filter(|listed| listed.visibility == Visibility::Peer);
        let view = |peer: ListedPod| PeerView {
            pod: names::pod_ref(&peer.name),
            state: self.folder.named(&peer.name).map_or(peer.state, |known| known.state()),
            name: peer.name,
            link: PeerLink::Linked,
            request_id: None,
            is_asked: false,
            note: None,
            since,
            by: "operator".to_owned(),
        };
        Ok(peers.map(view).collect())
    }

    fn visible_pod(&self, listed: ListedPod) -> VisiblePod {
        let ListedPod { name, visibility, state, is_restorable, reason, children } = listed;
        let pod = names::pod_ref(&name);
        let visibility = vec![visibility];
        VisiblePod { name, pod, visibility, state, restorable: is_restorable, reason, scope: Vec::new(), children }
    }
}

#[async_trait]
impl RuntimePort for CompatSockets {
    fn view(&self, since: Timestamp) -> RuntimeView {
        let pods = self.folder.pods();
        let reached = pods.iter().filter(|pod| pod.is_reached()).count();
        let (state, detail) = match self.folder.trouble() {
            None => (RuntimeState::Live, format!("debug mode: {reached} of {} older Pods are reachable", pods.len())),
            Some(error) => {
                (RuntimeState::Unreachable, format!("debug mode: the folder of the sockets cannot be read ({error})"))
            }
        };
        let (runtime_id, kind, detail) = (names::runtime_id(), RuntimeKind::Compat, Some(detail));
        RuntimeView { runtime_id, kind, state, since, detail }
    }

    async fn carry_out(&self, key: CommandKey, origin: &Origin, command: Command) -> Result<Answer, ApiError> {
        let pod = command.pod().map(|pod| self.folder.pod(&pod.worker_id)).transpose()?;
        let (Some(pod), id) = (pod, key.id.clone()) else {
            return Err(cannot(MADE_ELSEWHERE));
        };
        let control = |verb| commands::control(pod.clone(), id.clone(), verb);
        Err(cannot(match command {
            Command::Input(it) => {
                return self.once(key, commands::input(pod, id, origin.by.clone(), it.body)).await;
            }
            Command::Pause(_) => return self.once(key, control(ControlVerb::Pause)).await,
            Command::Resume(_) => return self.once(key, control(ControlVerb::Resume)).await,
            Command::Cancel(_) => return self.once(key, control(ControlVerb::Cancel)).await,
            Command::Stop(_) => return self.once(key, control(ControlVerb::Stop)).await,
            Command::Compact(_) => return self.once(key, control(ControlVerb::Compact)).await,
            Command::Restore(it) if !it.body.tree => {
                return self.once(key, commands::restore(self.folder.clone(), pod, id)).await;
            }
            Command::Introduce(it) if it.body.note.is_none() => {
                let peer = second(&it.body.target)?;
                return self.once(key, commands::introduce(pod, self.folder.pod(&peer)?)).await;
            }
            Command::Restore(_) => "a whole tree cannot be restored; restore its Pods one by one",
            Command::Introduce(_) => "a peer request has no note",
            Command::Create(_) | Command::Import(_) => MADE_ELSEWHERE,
            Command::Fork(_) => "they keep their history themselves; export it and import it here",
            Command::Interrupt(_) => "they keep no queue; cancel the run",
            Command::TakeBack(_) => "they keep no queue, so there is nothing to take back",
            Command::Retry(_) => "they cannot ask their model again; send the message once more",
            Command::Rewind(_) => "they go back to an input of their own log, not to a record; use their own console",
            Command::StopCommand(_) => "they do not tell what their commands run",
            Command::ChangeWorktree(_) | Command::CommitChanges(_) => {
                "they know nothing of git; use it in their folder"
            }
            Command::Revert(_) | Command::UndoRevert(_) | Command::Review(_) | Command::KeepDrafts(_) => {
                "what they changed is not known here; look at it with git"
            }
            Command::RunTool(_) => "only their models can run their tools",
            Command::AnswerApproval(_) | Command::AnswerApprovals(_) => "they do not ask before a tool runs",
            Command::Patch(_) => "their name and policies cannot be changed",
            Command::Delete(_) => "they are not deleted over their socket; stop them, and remove their files by hand",
            Command::Unlink(_) => "a peer cannot be removed",
            Command::DecideRequest(_) => "there are no peer requests",
            Command::SendMessage(_) => "only their models can send peer messages",
            Command::RemoveRule(_) => "they have no rules",
            Command::DecideHeld(_) => "they hold no messages",
        }))
    }

    async fn read(&self, query: Query) -> Result<Answer, ApiError> {
        if let Query::Pods(pods) = query {
            return list::page(&self.folder, &pod_query(pods)).map(Answer::from);
        }
        if let Query::OpenRequests(_) = query {
            return Ok(whole::<OpenRequest>(Vec::new()).into());
        }
        let Some(pod) = query.pod().map(|pod| self.folder.pod(&pod.worker_id)).transpose()? else {
            return Err(cannot("their protocol does not support it"));
        };
        Ok(match query {
            Query::Pod(_) => pod.detail().into(),
            Query::Files(it) => whole(commands::files(&pod, &it.q.0.unwrap_or_default()).await?).into(),
            Query::Peers(_) => whole(self.peers(&pod).await?).into(),
            Query::PreviewCompaction(_) => None::<CompactionPreview>.into(),
            Query::Approvals(_) => whole(Vec::<Approval>::new()).into(),
            Query::Visible(_) => {
                let listed = commands::listed(&pod).await?;
                whole(listed.0.into_iter().map(|pod| self.visible_pod(pod)).collect()).into()
            }
            Query::Exchange(_) => {
                return Err(cannot("what they wrote to each other is in their transcripts, and nowhere else"));
            }
            Query::HistoryOf(_) => return Err(cannot("they do not tell what their model would be sent")),
            _ => return Err(cannot("their protocol does not support it")),
        })
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        Ok(self.folder.named(name).map(|pod| pod.pod_ref()))
    }

    fn near_names(&self, name: &PodName) -> Vec<Candidate> {
        list::near_names(&self.folder, name)
    }

    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        let pod = self.folder.pod(worker_id)?;
        let limit = limit.clamp(1, PAGE_MAX) as usize;
        let page = match before {
            None => pod.journal.newest(limit, form),
            Some(text) => {
                let seq = text.parse().ok().filter(|seq: &i64| *seq > 0);
                let before = seq.ok_or_else(|| ApiError::invalid("`before` is a seq of this transcript"))?;
                pod.journal.before(Seq(before), limit, form)
            }
        };
        let next = page.has_more.then(|| page.first.to_string());
        Ok(RecordPage { items: page.records, next })
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        let pod = self.folder.pod(worker_id)?;
        let records = pod.journal.all();
        let pages: Vec<Result<Vec<Bytes>, ApiError>> =
            records.chunks(EXPORT_RECORDS).map(|page| Ok(page.to_vec())).collect();
        Ok(Export { name: pod.name.clone(), pages: stream::iter(pages).boxed() })
    }

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        match self.folder.pod(worker_id) {
            Ok(pod) => viewer::observe(pod, after, tail),
            Err(error) => {
                let code = protocol::DiagnosticCode::PodNotFound;
                let closed = FeedItem::Closed { reason: code.as_str().to_owned() };
                stream::iter([FeedItem::Diagnostic { code, detail: error.detail }, closed]).boxed()
            }
        }
    }

    fn observe_pods(&self) -> PodsObservation {
        list::observe(self.folder.clone())
    }
}
