//! The older Pods as a runtime: what they can do, and for all else the reason why not.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use protocol::{
    ApiError, Approval, Candidate, CompactionPreview, ControlVerb, InputCommand, Listing, PeerLink, PeerView,
    PodDetail, PodName, PodRef, PodSummary, Receipt, RestoreCommand, RuntimeKind, RuntimeState, RuntimeView, Seq,
    Visibility, VisiblePod, WorkerId,
};
use runtime::{
    CommandKey, Export, FeedItem, Introduced, Observation, Origin, PodQuery, PodsObservation, RecordForm, RecordPage,
};

use super::{CompatSockets, commands, list, listed::ListedPod, names, viewer};
use crate::{RuntimePort, port::Verb};

const PAGE_MAX: u32 = 1_000;
/// Records of one page of an export.
const EXPORT_RECORDS: usize = 1_000;

/// What the older protocol has no word for.
fn cannot(what: &str) -> ApiError {
    ApiError::invalid(format!("older Pods cannot do this: {what}"))
}

/// Why they cannot do what this port does not forward.
fn why_not(verb: Verb) -> &'static str {
    match verb {
        Verb::Create | Verb::Import => "a Pod is made by its own program, not over a socket",
        Verb::TakeBack => "they keep no queue, so there is nothing to take back",
        Verb::Rewind => "they go back to an input of their own log, not to a record; use their own console",
        Verb::RunTool => "their tools are run by their models alone",
        Verb::Answer => "they ask nobody before a tool runs",
        Verb::Patch => "their name and policies cannot be changed",
        Verb::Delete => "they are not deleted over their socket; stop them, and remove their files by hand",
        Verb::Unlink => "a peer cannot be removed",
        Verb::DecideRequest => "there are no peer requests",
        Verb::SendMessage => "a peer message is sent by their models alone",
        Verb::DecideHeld => "they hold no messages",
        Verb::Exchange => "what they wrote to each other is in their transcripts, and nowhere else",
        Verb::History => "they do not tell what their model would be sent",
        _ => "their protocol has no word for it",
    }
}

impl CompatSockets {
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

    async fn refuse(&self, verb: Verb, worker_id: Option<&WorkerId>) -> ApiError {
        match worker_id.map(|worker_id| self.folder.pod(worker_id)) {
            Some(Err(error)) => error,
            _ => cannot(why_not(verb)),
        }
    }

    async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        list::page(&self.folder, query)
    }

    async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        Ok(self.folder.pod(worker_id)?.detail())
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        Ok(self.folder.named(name).map(|pod| pod.pod_ref()))
    }

    fn near_names(&self, name: &PodName) -> Vec<Candidate> {
        list::near_names(&self.folder, name)
    }

    async fn input(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        let pod = self.folder.pod(worker_id)?;
        let command = commands::input(pod, key.id.clone(), origin.by.clone(), input);
        self.answers.once(key, command).await
    }

    async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        commands::files(&*self.folder.pod(worker_id)?, begun).await
    }

    async fn control(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        let command = commands::control(self.folder.pod(worker_id)?, key.id.clone(), verb);
        self.answers.once(key, command).await
    }

    async fn restore(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        let pod = self.folder.pod(worker_id)?;
        if command.tree {
            return Err(cannot("a tree is not restored at once; restore its Pods one by one"));
        }
        let command = commands::restore(self.folder.clone(), pod, key.id.clone());
        self.answers.once(key, command).await
    }

    async fn introduce(
        &self,
        key: CommandKey,
        _: &Origin,
        worker_id: &WorkerId,
        target: &WorkerId,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        let (pod, peer) = (self.folder.pod(worker_id)?, self.folder.pod(target)?);
        if note.is_some() {
            return Err(cannot("a peer request has no note"));
        }
        self.answers.once(key, commands::introduce(pod, peer)).await
    }

    async fn peers(&self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        let pod = self.folder.pod(worker_id)?;
        let since = pod.summary().created_at;
        let listed = commands::listed(&pod).await?;
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

    async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        self.folder.pod(worker_id)?;
        Ok(None)
    }

    async fn approvals(&self, worker_id: &WorkerId, _: bool) -> Result<Vec<Approval>, ApiError> {
        self.folder.pod(worker_id)?;
        Ok(Vec::new())
    }

    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        let listed = commands::listed(&*self.folder.pod(worker_id)?).await?;
        Ok(listed.0.into_iter().map(|pod| self.visible_pod(pod)).collect())
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
