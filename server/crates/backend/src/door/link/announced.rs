//! A server that added this one, as a runtime: those of its Pods that are peers of Pods here, as it last described
//! them. It is reached over its own connection and only for what the line carries; everything else has to be asked of
//! that server directly.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use protocol::{
    ApiError, ErrorCode, LinkCard, OpenRequest, PodDetail, PodName, PodRef, PodState, PodSummary, Relations, RuntimeId,
    RuntimeKind, RuntimeState, RuntimeView, Seq, Usage, WorkerId,
    operations::{Answer, Command, Query},
};
use runtime::{
    CommandKey, Export, FeedItem, Host, Observation, Origin, PodQuery, PodsItem, PodsObservation, RecordForm,
    RecordPage,
};
use tokio::sync::watch;

use crate::{
    RuntimePort,
    lines::Lines,
    port::{pod_query, whole},
};

/// Changes within this time are merged.
const GATHER: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(super) struct Announced {
    host: Host,
    lines: Lines,
    store: String,
    runtime_id: RuntimeId,
}

impl Announced {
    pub(super) fn new(host: Host, lines: Lines, store: String, runtime_id: RuntimeId) -> Self {
        Self { host, lines, store, runtime_id }
    }

    async fn summaries(&self) -> Result<Vec<PodSummary>, ApiError> {
        let cards = self.host.stores().cards(&self.store).await?;
        let (is_up, _) = self.lines.state(&self.store);
        Ok(cards.into_iter().map(|(card, at)| self.summary(card, at, is_up)).collect())
    }

    fn summary(&self, card: LinkCard, at: Timestamp, is_up: bool) -> PodSummary {
        let LinkCard { worker_id, name, state, state_reason, provider, model, created_at, children, .. } = card;
        PodSummary {
            pod: PodRef::new(self.runtime_id.clone(), worker_id),
            name,
            state: if is_up { state } else { PodState::Unreachable },
            state_reason,
            provider,
            model,
            agent: None,
            cwd: String::new(),
            created_at,
            updated_at: at,
            head_seq: Seq(0),
            activity: None,
            // Its own server notifies its people.
            needs_you: false,
            nothing_to_retry: false,
            unread: 0,
            queued_count: 0,
            relations: Relations { parent: None, children, peers: 1 },
            usage: Usage::default(),
            budget: None,
            git: None,
        }
    }

    async fn known(&self, worker_id: &WorkerId) -> Result<PodSummary, ApiError> {
        let pods = self.summaries().await?;
        pods.into_iter().find(|pod| pod.pod.worker_id == *worker_id).ok_or_else(|| {
            let sentence = format!(
                "no Pod here has the Pod {worker_id} of the runtime \"{}\" as a peer; add it from its own server",
                self.runtime_id
            );
            ApiError::new(ErrorCode::PodNotFound, sentence)
        })
    }

    async fn detail(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        Ok(PodDetail {
            summary: self.known(worker_id).await?,
            profile: None,
            instructions: None,
            thinking: None,
            budget_used: None,
            fallback: Vec::new(),
            auto_resume: false,
            scope: Vec::new(),
            peer_policy: protocol::PeerPolicy::default(),
            wake_on_peer: true,
            permissions: Vec::new(),
            warnings: Vec::new(),
            network: protocol::NetworkPolicy::default(),
            mode: protocol::Mode::default(),
            reasoning: protocol::ReasoningPolicy::default(),
            queued: Vec::new(),
            children: Vec::new(),
            session: None,
            tasks: Vec::new(),
        })
    }

    /// Why something cannot be done; for an unknown Pod, that it is unknown.
    async fn refuse(&self, pod: Option<&PodRef>) -> ApiError {
        match pod {
            Some(pod) => self.refuse_of(&pod.worker_id).await,
            None => self.ask_there(),
        }
    }

    async fn refuse_of(&self, worker_id: &WorkerId) -> ApiError {
        self.known(worker_id).await.err().unwrap_or_else(|| self.ask_there())
    }

    fn ask_there(&self) -> ApiError {
        ApiError::invalid(format!(
            "the runtime \"{}\" has added this server, and not the other way round: for this, ask its own server",
            self.runtime_id
        ))
    }
}

#[async_trait]
impl RuntimePort for Announced {
    fn view(&self, since: Timestamp) -> RuntimeView {
        let (is_up, changed) = self.lines.state(&self.store);
        let (state, detail) = match is_up {
            true => (
                RuntimeState::Live,
                "it has added this server; those of its Pods that are peers of Pods here are shown",
            ),
            false => (RuntimeState::Unreachable, "it has added this server, and is silent at the moment"),
        };
        let since = changed.unwrap_or(since);
        let runtime_id = self.runtime_id.clone();
        RuntimeView { runtime_id, kind: RuntimeKind::Remote, state, since, detail: Some(detail.to_owned()) }
    }

    async fn carry_out(&self, _: CommandKey, _: &Origin, command: Command) -> Result<Answer, ApiError> {
        Err(self.refuse(command.pod()).await)
    }

    async fn read(&self, query: Query) -> Result<Answer, ApiError> {
        Ok(match query {
            // They fit into one page: only peers of Pods here are listed.
            Query::Pods(pods) => {
                let query = pod_query(pods);
                whole(self.summaries().await?.into_iter().filter(|pod| selects(&query, pod)).collect()).into()
            }
            Query::Pod(pod) => self.detail(&pod.pod.worker_id).await?.into(),
            Query::OpenRequests(_) => whole::<OpenRequest>(Vec::new()).into(),
            query => return Err(self.refuse(query.pod()).await),
        })
    }

    async fn transcript(&self, id: &WorkerId, _: Option<&str>, _: u32, _: RecordForm) -> Result<RecordPage, ApiError> {
        Err(self.refuse_of(id).await)
    }

    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        Err(self.refuse_of(worker_id).await)
    }

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        Ok(self.summaries().await?.into_iter().find(|pod| pod.name == *name).map(|pod| pod.pod))
    }

    async fn observe(&self, pod: &WorkerId, _: Option<String>, _: u32) -> Observation {
        let reason = match self.known(pod).await {
            Ok(_) => self.ask_there().detail,
            Err(error) => error.detail,
        };
        stream::iter([FeedItem::Closed { reason }]).boxed()
    }

    fn observe_pods(&self) -> PodsObservation {
        let watcher = Watcher {
            moved: self.host.stores().moved(),
            lines: self.lines.watch(),
            port: self.clone(),
            told: HashMap::new(),
            revision: 0,
        };
        stream::unfold(watcher, |mut watcher| async move {
            let item = watcher.next().await?;
            Some((item, watcher))
        })
        .boxed()
    }
}

fn selects(query: &PodQuery, pod: &PodSummary) -> bool {
    let wanted = query.q.as_deref().map(str::to_lowercase);
    let holds = |text: &str| wanted.as_deref().is_none_or(|wanted| text.to_lowercase().contains(wanted));
    query.name.as_ref().is_none_or(|name| *name == pod.name)
        && query.state.is_none_or(|state| state == pod.state)
        && (holds(pod.name.as_str()) || holds(&pod.model))
}

/// The whole list, then its changes.
struct Watcher {
    port: Announced,
    moved: watch::Receiver<()>,
    lines: watch::Receiver<()>,
    /// What the reader has been told.
    told: HashMap<PodRef, PodSummary>,
    revision: u64,
}

impl Watcher {
    async fn next(&mut self) -> Option<PodsItem> {
        loop {
            if self.revision > 0 {
                tokio::select! {
                    moved = self.moved.changed() => moved.ok()?,
                    changed = self.lines.changed() => changed.ok()?,
                }
                tokio::time::sleep(GATHER).await;
            }
            self.moved.mark_unchanged();
            self.lines.mark_unchanged();
            match self.port.summaries().await {
                Ok(pods) => {
                    if let Some(item) = self.tell(pods) {
                        return Some(item);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "what another server said of its Pods could not be read");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    /// `None` if nothing has changed.
    fn tell(&mut self, pods: Vec<PodSummary>) -> Option<PodsItem> {
        let now: HashMap<PodRef, PodSummary> = pods.into_iter().map(|pod| (pod.pod.clone(), pod)).collect();
        let upserts: Vec<_> = now.values().filter(|pod| self.told.get(&pod.pod) != Some(pod)).cloned().collect();
        let removed: Vec<_> = self.told.keys().filter(|pod| !now.contains_key(pod)).cloned().collect();
        let snapshot = self.revision == 0;
        if !snapshot && upserts.is_empty() && removed.is_empty() {
            return None;
        }
        self.revision += 1;
        self.told = now;
        Some(PodsItem { revision: self.revision, snapshot, upserts, removed })
    }
}
