//! What is known of another runtime without asking: its state and its list of Pods.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use protocol::{
    ApiError, Candidate, ErrorCode, Listing, PodName, PodRef, PodState, PodSummary, RuntimeKind, RuntimeState,
    RuntimeView, WorkerId, open_cursor, seal_cursor,
};
use runtime::{PodQuery, PodsItem, PodsObservation};
use tokio::{
    sync::{Notify, broadcast, watch},
    time::{error::Elapsed, timeout},
};

use crate::Terms;

/// How many changes a slow reader of the list may be behind before it has to read all of it again.
const BEHIND_MAX: usize = 4_096;
const PAGE_DEFAULT: u32 = 500;
const PAGE_MAX: u32 = 1_000;
const NEAR_MAX: usize = 5;

/// What has changed in the list.
#[derive(Debug, Clone)]
enum Change {
    One(WorkerId),
    All,
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) terms: Arc<Terms>,
    state: watch::Sender<State>,
    /// In our terms, each as its server last described it.
    pods: Mutex<BTreeMap<WorkerId, PodSummary>>,
    /// If the list was restored from the file, the time it is from.
    restored: Mutex<Option<Timestamp>>,
    /// Whose list it is, once known.
    store_id: Mutex<Option<String>>,
    changed: broadcast::Sender<Change>,
    /// Signalled when a viewer has gone.
    pub(super) left: Arc<Notify>,
}

#[derive(Debug, Clone)]
struct State {
    state: RuntimeState,
    since: Timestamp,
    detail: Option<String>,
}

impl Known {
    pub(super) fn new(terms: Arc<Terms>) -> Self {
        let state = State { state: RuntimeState::Connecting, since: Timestamp::now(), detail: None };
        Self {
            terms,
            state: watch::Sender::new(state),
            pods: Mutex::default(),
            restored: Mutex::default(),
            store_id: Mutex::default(),
            changed: broadcast::Sender::new(BEHIND_MAX),
            left: Arc::default(),
        }
    }

    pub(super) fn view(&self) -> RuntimeView {
        let State { state, since, detail } = self.state.borrow().clone();
        RuntimeView { runtime_id: self.terms.id().clone(), kind: RuntimeKind::Remote, state, since, detail }
    }

    pub(super) fn is_live(&self) -> bool {
        self.state.borrow().state == RuntimeState::Live
    }

    /// Sets its state, which the list shows with each Pod.
    pub(super) fn set_state(&self, state: RuntimeState, detail: Option<String>) {
        let is_new = self.state.send_if_modified(|known| {
            let is_new = known.state != state;
            if is_new {
                *known = State { state, since: Timestamp::now(), detail };
            } else if known.detail != detail {
                known.detail = detail;
            }
            is_new
        });
        if is_new {
            tracing::info!(runtime_id = %self.terms.id(), ?state, "another runtime");
            self.tell(Change::All);
        }
    }

    /// Waits until it is known whether the server answers.
    pub(super) async fn settled(&self, limit: Duration) -> Result<RuntimeState, Elapsed> {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|known| known.state != RuntimeState::Connecting);
        Ok(timeout(limit, settled).await?.map_or(RuntimeState::Unreachable, |known| known.state))
    }

    pub(super) fn unavailable(&self) -> ApiError {
        let State { state, since, .. } = self.state.borrow().clone();
        let id = self.terms.id();
        let sentence = match state {
            RuntimeState::Unauthorized => {
                format!("the runtime \"{id}\" refuses our token; remove it, and add it again with its present one")
            }
            RuntimeState::Incompatible => {
                format!("the runtime \"{id}\" cannot be spoken with; GET /api/v1/runtimes says why")
            }
            RuntimeState::Connecting => format!("the runtime \"{id}\" has not answered yet; try again"),
            RuntimeState::Unreachable | RuntimeState::Live => {
                format!("the runtime \"{id}\" does not answer since {since:.0}; its Pods are shown as they were last")
            }
        };
        ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
    }

    fn pods(&self) -> MutexGuard<'_, BTreeMap<WorkerId, PodSummary>> {
        self.pods.lock().expect("no holder of the list panics")
    }

    fn tell(&self, change: Change) {
        // Having no listeners is not an error.
        let _ = self.changed.send(change);
    }

    /// Sets its list as an earlier process last saw it, until the server sends its own.
    pub(super) fn restore(&self, summaries: Vec<PodSummary>, at: Timestamp) {
        self.set_pods(summaries);
        *self.restored() = Some(at);
    }

    fn restored(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.restored.lock().expect("no holder of a time panics")
    }

    pub(super) fn set_store(&self, store_id: &str) {
        *self.store_id.lock().expect("no holder of an id panics") = Some(store_id.to_owned());
    }

    pub(super) fn store_id(&self) -> Option<String> {
        self.store_id.lock().expect("no holder of an id panics").clone()
    }

    /// Its list as the server sent it.
    pub(super) fn as_told(&self) -> Vec<PodSummary> {
        self.pods().values().cloned().collect()
    }

    /// Listens for changes without keeping a removed runtime alive.
    pub(super) fn listen(&self) -> Changes {
        Changes(self.changed.subscribe())
    }

    /// Sets its whole list, in our terms.
    pub(super) fn set_pods(&self, summaries: Vec<PodSummary>) {
        *self.restored() = None;
        *self.pods() = summaries.into_iter().map(|summary| (summary.pod.worker_id.clone(), summary)).collect();
        self.tell(Change::All);
    }

    pub(super) fn put_pod(&self, summary: PodSummary) {
        let worker_id = summary.pod.worker_id.clone();
        self.pods().insert(worker_id.clone(), summary);
        self.tell(Change::One(worker_id));
    }

    pub(super) fn remove_pod(&self, worker_id: &WorkerId) {
        if self.pods().remove(worker_id).is_some() {
            self.tell(Change::One(worker_id.clone()));
        }
    }

    /// A summary as it is shown now: if the runtime does not answer, the Pod may have changed since.
    fn shown(&self, summary: &PodSummary) -> PodSummary {
        let mut summary = summary.clone();
        let state = self.state.borrow().state;
        let restored = *self.restored();
        if restored.is_none() && matches!(state, RuntimeState::Live | RuntimeState::Connecting) {
            return summary;
        }
        let (id, was) = (self.terms.id(), summary.state.as_str());
        let seen = restored.map(|at| format!(" when it was last seen, {at:.0}")).unwrap_or_default();
        let away = if state == RuntimeState::Connecting { "has not answered yet" } else { "does not answer" };
        summary.state_reason = Some(format!("the runtime \"{id}\" {away}; it was {was}{seen}"));
        summary.state = PodState::Unreachable;
        summary.activity = None;
        summary
    }

    pub(super) fn pod(&self, worker_id: &WorkerId) -> Option<PodSummary> {
        let pods = self.pods();
        pods.get(worker_id).map(|summary| self.shown(summary))
    }

    pub(super) fn named(&self, name: &PodName) -> Option<PodRef> {
        self.pods().values().find(|summary| summary.name == *name).map(|summary| summary.pod.clone())
    }

    /// The Pods that wait for a person.
    pub(super) fn waiting(&self) -> Vec<PodSummary> {
        self.pods().values().filter(|summary| summary.state == PodState::Waiting).cloned().collect()
    }

    pub(super) fn near_names(&self, name: &PodName) -> Vec<Candidate> {
        let wanted = name.as_str().to_lowercase();
        let is_near = |summary: &&PodSummary| {
            let known = summary.name.as_str().to_lowercase();
            known == wanted || (wanted.len() >= 2 && known.contains(&wanted))
        };
        let pods = self.pods();
        let near = pods.values().filter(is_near).take(NEAR_MAX);
        near.map(|summary| Candidate { pod: summary.pod.clone(), name: summary.name.clone() }).collect()
    }

    /// One page, ordered by worker id, which on a yoi is the order of creation.
    pub(super) fn page(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        let id = self.terms.id();
        let limit = query.limit.unwrap_or(PAGE_DEFAULT).clamp(1, PAGE_MAX) as usize;
        let after = query.after.as_deref().map(|cursor| {
            let worker_id = open_cursor(cursor).and_then(|place| place.strip_prefix(id.as_str())?.strip_prefix('.'));
            worker_id.and_then(|worker_id| WorkerId::parse(worker_id).ok()).ok_or_else(|| {
                ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
            })
        });
        let after = after.transpose()?;
        let pods = self.pods();
        let later = pods.iter().filter(|(worker_id, _)| after.as_ref().is_none_or(|after| *worker_id > after));
        let mut found = later.map(|(_, summary)| self.shown(summary)).filter(|summary| query.selects(summary));
        let items: Vec<PodSummary> = found.by_ref().take(limit).collect();
        let next = match (found.next(), items.last()) {
            (Some(_), Some(last)) => Some(seal_cursor(&format!("{id}.{}", last.pod.worker_id))),
            _ => None,
        };
        Ok(Listing { items, next })
    }

    /// The list, then its changes.
    pub(super) fn observe(self: &Arc<Self>) -> PodsObservation {
        // Listening begins before the list is read, so a change in between may come twice but is never lost.
        let changes = self.changed.subscribe();
        // Weak, so that a reader does not keep a removed runtime alive: its list ends with it.
        let state = (Arc::downgrade(self), changes, true);
        stream::unfold(state, |(weak, mut changes, is_first)| async move {
            let changed = if is_first { None } else { gathered(&mut changes).await? };
            let known = weak.upgrade()?;
            let item = changed.map_or_else(|| known.whole(), |changed| known.some(changed));
            Some((item, (weak, changes, false)))
        })
        .boxed()
    }

    fn whole(&self) -> PodsItem {
        let upserts = self.pods().values().map(|summary| self.shown(summary)).collect();
        PodsItem { revision: 0, snapshot: true, upserts, removed: Vec::new() }
    }

    fn some(&self, changed: BTreeSet<WorkerId>) -> PodsItem {
        let mut item = PodsItem { revision: 0, snapshot: false, upserts: Vec::new(), removed: Vec::new() };
        for worker_id in changed {
            match self.pod(&worker_id) {
                Some(summary) => item.upserts.push(summary),
                None => item.removed.push(PodRef::new(self.terms.id().clone(), worker_id)),
            }
        }
        item
    }
}

/// Changes of the list, for readers that only want to know that there were some.
#[derive(Debug)]
pub(super) struct Changes(broadcast::Receiver<Change>);

impl Changes {
    /// Waits for a change. Returns false when the runtime is gone.
    pub(super) async fn again(&mut self) -> bool {
        gathered(&mut self.0).await.is_some()
    }

    /// Discards the changes so far.
    pub(super) fn forget(&mut self) {
        while !matches!(
            self.0.try_recv(),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed)
        ) {}
    }
}

/// Waits for a change and takes all that have accumulated; `Some(None)` means that everything has to be read again.
async fn gathered(changes: &mut broadcast::Receiver<Change>) -> Option<Option<BTreeSet<WorkerId>>> {
    use broadcast::error::{RecvError, TryRecvError};
    let mut changed = match changes.recv().await {
        Ok(Change::One(worker_id)) => BTreeSet::from([worker_id]),
        Ok(Change::All) | Err(RecvError::Lagged(_)) => return Some(None),
        Err(RecvError::Closed) => return None,
    };
    loop {
        match changes.try_recv() {
            Ok(Change::One(worker_id)) => changed.insert(worker_id),
            Ok(Change::All) | Err(TryRecvError::Lagged(_)) => return Some(None),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(Some(changed)),
        };
    }
}

#[cfg(test)]
mod tests;
