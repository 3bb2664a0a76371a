//! One older Pod as this server knows it: its name, its records, and a way to send it requests while its socket
//! answers.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use protocol::{
    Access, ApiError, ErrorCode, PeerPolicy, PodDetail, PodName, PodRef, PodState, PodSummary, ReasoningPolicy,
    Relations, ScopeRule, WorkerId,
};
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::{Instant, timeout},
};

use crate::{
    ask::{ANSWER_MAX, Answered, Ask, Request},
    journal::Journal,
    listed::Listed,
    names,
    once::Failure,
    scrub::Scrub,
    translate::{Face, Sent},
    values,
};

/// Callers wait slightly longer than [`ANSWER_MAX`].
const SLACK: Duration = Duration::from_millis(500);
/// The maximum number of peers remembered.
const PEERS_MAX: usize = 1_000;

/// Shared by the Pod's task, its viewers, and whoever commands it.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) name: PodName,
    pub(crate) worker_id: WorkerId,
    /// Distinguishes this process's cursors from another's.
    pub(crate) instance: String,
    pub(crate) scrub: Arc<Scrub>,
    pub(crate) journal: Journal,
    pub(crate) viewers: AtomicU32,
    /// The path of its socket, while there is one. Never leaves the server.
    pub(crate) socket: watch::Sender<Option<PathBuf>>,
    /// Notified to try connecting now.
    pub(crate) poke: Notify,
    /// Whether the first attempt to connect has ended.
    pub(crate) is_settled: watch::Sender<bool>,
    /// Changes when something in a list has changed.
    list: Arc<watch::Sender<u64>>,
    card: Mutex<Card>,
}

#[derive(Debug)]
struct Card {
    face: Face,
    greeting: Greeting,
    /// Why it does not answer.
    reason: Option<String>,
    requests: Option<mpsc::Sender<Request>>,
    peers: BTreeSet<PodName>,
    children: u32,
    created_at: Timestamp,
    /// How many of its answers have been seen.
    answers_seen: u32,
}

/// What a Pod sends on connecting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Greeting {
    provider: String,
    model: String,
    cwd: String,
    scope: Vec<ScopeRule>,
}

impl Greeting {
    pub(crate) fn read(greeting: &Value, scrub: &Scrub) -> Self {
        let text = |name| scrub.said(values::text(greeting, name));
        let scope = scope_of(values::text(greeting, "scope_summary"), scrub);
        Self { provider: text("provider"), model: text("model"), cwd: text("cwd"), scope }
    }
}

/// Parses a summary, which lists paths under "Readable:" and "Writable:".
fn scope_of(summary: &str, scrub: &Scrub) -> Vec<ScopeRule> {
    let mut access = Access::Read;
    let mut rules = Vec::new();
    for line in summary.lines().map(str::trim) {
        match line.strip_prefix("- ") {
            Some(path) if path.starts_with('/') && scrub.said(path) == path => {
                rules.push(ScopeRule { path: path.to_owned(), access, recursive: true });
            }
            None if line.starts_with("Readable") => access = Access::Read,
            None if line.starts_with("Writable") => access = Access::Write,
            _ => (),
        }
    }
    rules
}

impl Pod {
    pub(crate) fn new(name: PodName, instance: String, scrub: Arc<Scrub>, list: Arc<watch::Sender<u64>>) -> Self {
        let card = Card {
            face: Face::default(),
            greeting: Greeting::default(),
            reason: Some("its socket has not answered yet".to_owned()),
            requests: None,
            peers: BTreeSet::new(),
            children: 0,
            created_at: Timestamp::now(),
            answers_seen: 0,
        };
        Self {
            worker_id: names::worker_id(&name),
            name,
            instance,
            scrub,
            journal: Journal::default(),
            viewers: AtomicU32::new(0),
            socket: watch::Sender::new(None),
            poke: Notify::new(),
            is_settled: watch::Sender::new(false),
            list,
            card: Mutex::new(card),
        }
    }

    fn card(&self) -> MutexGuard<'_, Card> {
        self.card.lock().expect("no holder of the card panics")
    }

    /// Changes the card and notifies the lists.
    fn change(&self, change: impl FnOnce(&mut Card)) {
        change(&mut self.card());
        self.tell_changed();
    }

    pub(crate) fn tell_changed(&self) {
        self.list.send_modify(|revision| *revision += 1);
    }

    /// Its snapshot has arrived: it accepts requests from now on.
    pub(crate) fn reached(&self, face: Face, greeting: Greeting, first: Timestamp, requests: mpsc::Sender<Request>) {
        self.change(|card| {
            card.answers_seen = face.answers;
            card.created_at = card.created_at.min(first);
            (card.face, card.greeting, card.reason, card.requests) = (face, greeting, None, Some(requests));
        });
        self.is_settled.send_replace(true);
    }

    pub(crate) fn shows(&self, face: Face) {
        let is_seen = self.viewers.load(Ordering::Acquire) > 0;
        self.change(|card| {
            // After a restarted view there are fewer answers than were seen.
            card.answers_seen = if is_seen { face.answers } else { card.answers_seen.min(face.answers) };
            card.face = face;
        });
    }

    /// Its socket does not answer. `face`: what it last showed, if anything.
    pub(crate) fn lost(&self, face: Option<Face>, reason: String) {
        self.change(|card| {
            card.face = face.unwrap_or_else(|| card.face.clone());
            (card.reason, card.requests) = (Some(reason), None);
        });
        self.is_settled.send_replace(true);
    }

    /// Someone is viewing it: unread answers count as seen.
    pub(crate) fn mark_read(&self) {
        self.change(|card| card.answers_seen = card.face.answers);
    }

    /// Records what it reports about the Pods that it knows.
    pub(crate) fn knows(&self, listed: &Listed) {
        self.change(|card| {
            card.peers = listed.peers().take(PEERS_MAX).cloned().collect();
            card.children = listed.children_of(&self.name);
        });
    }

    /// Adds a peer; returns whether it was new.
    pub(crate) fn add_peer(&self, peer: &PodName) -> bool {
        let mut card = self.card();
        card.peers.len() < PEERS_MAX && card.peers.insert(peer.clone())
    }

    pub(crate) fn pod_ref(&self) -> PodRef {
        names::pod_ref(&self.name)
    }

    pub(crate) fn state(&self) -> PodState {
        self.card().face.state
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.card().requests.is_some()
    }

    pub(crate) fn summary(&self) -> PodSummary {
        let card = self.card();
        let unread = card.face.answers.saturating_sub(card.answers_seen);
        let peers = u32::try_from(card.peers.len()).unwrap_or(u32::MAX);
        PodSummary {
            pod: self.pod_ref(),
            name: self.name.clone(),
            state: card.face.state,
            state_reason: card.reason.clone(),
            provider: card.greeting.provider.clone(),
            model: card.greeting.model.clone(),
            agent: None,
            cwd: card.greeting.cwd.clone(),
            created_at: card.created_at,
            updated_at: self.journal.updated_at().unwrap_or(card.created_at),
            head_seq: self.journal.position().head,
            activity: card.face.activity.clone().filter(|_| card.face.state.is_live()),
            needs_you: card.face.has_failed,
            nothing_to_retry: false,
            unread,
            queued_count: 0,
            relations: Relations { parent: None, children: card.children, peers },
            usage: card.face.usage,
            budget: None,
            git: None,
        }
    }

    pub(crate) fn detail(&self) -> PodDetail {
        PodDetail {
            summary: self.summary(),
            profile: None,
            instructions: None,
            thinking: None,
            budget_used: None,
            fallback: Vec::new(),
            auto_resume: false,
            scope: self.card().greeting.scope.clone(),
            peer_policy: PeerPolicy::Open,
            wake_on_peer: true,
            permissions: Vec::new(),
            warnings: Vec::new(),
            network: protocol::NetworkPolicy::default(),
            mode: protocol::Mode::default(),
            reasoning: ReasoningPolicy::Full,
            queued: Vec::new(),
            children: Vec::new(),
            session: None,
            tasks: Vec::new(),
        }
    }

    /// The error for why it cannot be asked anything.
    pub(crate) fn unreachable(&self) -> ApiError {
        let card = self.card();
        let reason = card.reason.as_deref().unwrap_or("its socket does not answer");
        match card.face.state {
            PodState::Stopped => {
                let sentence = format!("pod \"{}\" is stopped; restore it first", self.name);
                ApiError::new(ErrorCode::NotLive, sentence)
            }
            _ => {
                let sentence = format!("pod \"{}\" is unreachable: {reason}", self.name);
                ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
            }
        }
    }

    /// Sends it a request and waits for the answer, with a time limit.
    pub(crate) async fn ask(&self, ask: Ask, sent: Option<Sent>) -> Result<Answered, Failure> {
        let Some(requests) = self.card().requests.clone() else { return Err(self.unreachable().into()) };
        let method = ask.method();
        let (answer, answered) = oneshot::channel();
        let deadline = Instant::now() + ANSWER_MAX;
        let request = Request { ask, sent, deadline, answer };
        match timeout(ANSWER_MAX, requests.send(request)).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) => return Err(self.unreachable().into()),
            Err(_) => return Err(Failure::Refused(self.silent(method))),
        }
        match timeout(ANSWER_MAX + SLACK, answered).await {
            Ok(Ok(answered)) => answered,
            // The connection was lost before the request was taken.
            Ok(Err(_)) => Err(self.unreachable().into()),
            Err(_) => Err(Failure::Unknown(self.silent(method))),
        }
    }

    pub(crate) fn silent(&self, method: &str) -> ApiError {
        let sentence = format!(
            "pod \"{}\" did not answer `{method}` within {} s; its transcript shows whether it took it",
            self.name,
            ANSWER_MAX.as_secs()
        );
        ApiError::new(ErrorCode::Timeout, sentence)
    }
}
