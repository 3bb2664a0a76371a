//! Two stores, each with its host, and the shuttle between them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use pod_store::{Batch, Database, FarChange, FarPeerRow, Faults, Store, StoreOptions};
use protocol::{
    ApiError, ControlEvent, CreatePod, Event, LinkCard, LinkItem, MessageAnswer, PeerLink, PeerPolicy, PeerView,
    PodRef, ReceiptState, Record, RuntimeId, ToolAnswer, ToolCommand, TurnEvent, WorkerId,
};
use provider::Providers;
use runtime::{CommandKey, FarName, FarPod, Host, HostOptions, Introduced};
use serde_json::Value;
use tempfile::TempDir;

use crate::stage::{key, named, origin, records_of, until_of};

/// One store and its host.
pub struct Side {
    pub host: Host,
    pub name: RuntimeId,
    store: Store,
    folder: TempDir,
}

impl Side {
    async fn new(name: &str, faults: Option<Arc<dyn Faults>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (host, store) = host_in(&folder, faults).await;
        Self { host, name: RuntimeId::parse(name).unwrap(), store, folder }
    }

    /// What another process finds that opens the same file. The previous host is not consulted.
    pub async fn reopen(&mut self, faults: Option<Arc<dyn Faults>>) {
        let (host, store) = host_in(&self.folder, faults).await;
        let dead = std::mem::replace(&mut self.host, host);
        self.store = store;
        // Its remaining writes are fenced.
        tokio::spawn(async move { dead.shutdown(Duration::from_millis(1)).await });
    }

    /// As if a day had passed since this Pod's peer requests began.
    pub async fn end_the_time_of_introductions(&self, pod: &WorkerId) {
        let key = self.store.pods().find(pod).await.unwrap().unwrap().key;
        let now = Some(jiff::Timestamp::now());
        let rows = self.store.far().peers(key).await.unwrap().into_iter();
        let far = rows.map(|row| FarChange::Put(FarPeerRow { expires_at: now, ..row })).collect();
        self.store.commit(Batch { far, ..Batch::default() }).await.unwrap();
    }

    pub fn id(&self) -> String {
        self.host.stores().own_id().to_owned()
    }

    pub async fn create(&self, name: &str) -> WorkerId {
        self.create_with(name, PeerPolicy::Open).await
    }

    pub async fn create_with(&self, name: &str, policy: PeerPolicy) -> WorkerId {
        let create = CreatePod { peer_policy: Some(policy), ..named(name) };
        self.host.pods().create(fresh_key(), &origin(), create).await.unwrap().pod.worker_id
    }

    pub async fn card(&self, pod: &WorkerId) -> LinkCard {
        let summary = self.host.pods().get(pod).await.unwrap().summary;
        LinkCard {
            worker_id: pod.clone(),
            name: summary.name,
            state: summary.state,
            state_reason: None,
            provider: summary.provider,
            model: summary.model,
            created_at: summary.created_at,
            needs_you: false,
            children: 0,
        }
    }

    pub async fn records(&self, pod: &WorkerId) -> Vec<Record> {
        records_of(&self.host, pod).await
    }

    pub async fn until(&self, pod: &WorkerId, is_it: impl Fn(&[Record]) -> bool) -> Vec<Record> {
        until_of(&self.host, pod, is_it).await
    }

    pub async fn until_receipt(&self, pod: &WorkerId, message: &str, state: ReceiptState) -> Vec<Record> {
        self.until(pod, |records| receipts(records, message).iter().any(|(known, _)| *known == state)).await
    }

    pub async fn peers(&self, pod: &WorkerId) -> Vec<PeerView> {
        self.host.peers().of_pod(pod).await.unwrap()
    }

    pub async fn call(&self, pod: &WorkerId, name: &str, arguments: Value) -> ToolAnswer {
        self.host.work().run_tool(fresh_key(), &origin(), pod, name, ToolCommand { arguments }).await.unwrap()
    }

    /// Waits until the Pod's list of peers is as given.
    pub async fn until_peers(&self, pod: &WorkerId, is_it: impl Fn(&[PeerView]) -> bool) -> Vec<PeerView> {
        testkit::until("the peers are so", async || Some(self.peers(pod).await).filter(|peers| is_it(peers))).await
    }
}

async fn host_in(folder: &TempDir, faults: Option<Arc<dyn Faults>>) -> (Host, Store) {
    let database = Database::Sqlite { path: folder.path().join("yoi.db") };
    let store = Store::open(StoreOptions { faults, ..StoreOptions::new(database) }).await.unwrap();
    let options = HostOptions::of(store.clone(), Providers::new(Vec::new()).unwrap(), "/", "/nowhere");
    (Host::start(options).await.unwrap(), store)
}

/// Both sides. Turning them round applies the same steps to the other side.
pub struct Two {
    pub a: Side,
    pub b: Side,
}

impl Two {
    pub async fn new() -> Self {
        Self::with_faults(None, None).await
    }

    pub async fn with_faults(a: Option<Arc<dyn Faults>>, b: Option<Arc<dyn Faults>>) -> Self {
        let two = Self { a: Side::new("abc", a).await, b: Side::new("bcd", b).await };
        two.name_each_other(true);
        two
    }

    pub fn name_each_other(&self, reachable: bool) {
        for (side, other) in [(&self.a, &self.b), (&self.b, &self.a)] {
            let name = FarName { runtime_id: other.name.clone(), reachable };
            side.host.stores().names().send_replace([(other.id(), name)].into());
        }
    }

    /// Two peers, and a shuttle that loses nothing.
    pub async fn linked(&self) -> (WorkerId, WorkerId, Shuttle) {
        let (ada, bob) = (self.a.create("ada").await, self.b.create("bob").await);
        let shuttle = Shuttle::start(self, 0);
        assert_eq!(self.introduce(&ada, &bob).await.unwrap().answer.state, PeerLink::Linked);
        (ada, bob, shuttle)
    }

    /// `ada` of this side requests `bob` of the other one as a peer.
    pub async fn introduce(&self, ada: &WorkerId, bob: &WorkerId) -> Result<Introduced, ApiError> {
        introduce(&self.a, &self.b, ada, bob, fresh_key()).await
    }

    pub fn of_b(&self, pod: &WorkerId) -> PodRef {
        PodRef::new(self.b.name.clone(), pod.clone())
    }

    pub fn of_a(&self, pod: &WorkerId) -> PodRef {
        PodRef::new(self.a.name.clone(), pod.clone())
    }

    pub async fn send(&self, ada: &WorkerId, bob: &WorkerId, text: &str) -> Result<MessageAnswer, ApiError> {
        self.a.host.peers().send_far(fresh_key(), &origin(), ada, &self.of_b(bob), text).await
    }

    pub async fn send_back(&self, bob: &WorkerId, ada: &WorkerId, text: &str) -> Result<MessageAnswer, ApiError> {
        self.b.host.peers().send_far(fresh_key(), &origin(), bob, &self.of_a(ada), text).await
    }

    /// Carries everything back and forth until nothing is left.
    pub async fn settle(&self) {
        for _ in 0..200 {
            let carried = carry(&self.a.host, &self.b.host).await.unwrap();
            if carried == 0 {
                return;
            }
        }
        panic!("there is always something more to tell");
    }

    /// Asserts that both sides are linked or neither is; returns what both say about it.
    pub async fn is_linked(&self, ada: &WorkerId, bob: &WorkerId) -> bool {
        let is = |views: Vec<PeerView>| views.iter().any(|view| view.link == PeerLink::Linked);
        let (here, there) = (is(self.a.peers(ada).await), is(self.b.peers(bob).await));
        assert_eq!(here, there, "{:?} {:?}", self.a.peers(ada).await, self.b.peers(bob).await);
        for (side, pod) in [(&self.a, ada), (&self.b, bob)] {
            let steps = steps(&side.records(pod).await);
            let is_linked = steps.iter().rev().find_map(|step| match step.as_str() {
                "peer_linked" => Some(true),
                "peer_unlinked" => Some(false),
                _ => None,
            });
            assert_eq!(is_linked.unwrap_or(false), here, "{steps:?}");
        }
        here
    }
}

pub async fn introduce(
    from: &Side,
    to: &Side,
    source: &WorkerId,
    target: &WorkerId,
    key: CommandKey,
) -> Result<Introduced, ApiError> {
    let target = FarPod { store: to.id(), card: to.card(target).await };
    from.host.peers().introduce_far(key, &origin(), source, target, None).await
}

/// `own` of one side is to become a peer of `source` of the other one, and is asked first.
pub async fn invite(
    at: &Side,
    from: &Side,
    own: &WorkerId,
    source: &WorkerId,
    key: CommandKey,
) -> Result<Introduced, ApiError> {
    let source = FarPod { store: from.id(), card: from.card(source).await };
    at.host.peers().invite_far(key, &origin(), own, source, None).await
}

/// One exchange in which nothing is lost; returns how many items it carried.
pub async fn carry(a: &Host, b: &Host) -> Result<usize, ApiError> {
    let (id_a, id_b) = (a.stores().own_id().to_owned(), b.stores().own_id().to_owned());
    let items = a.stores().outgoing(&id_b, b.stores().taken(&id_a).await?, Duration::ZERO).await?;
    let mut carried = items.len();
    b.stores().take_in(&id_a, items).await?;
    let items = b.stores().outgoing(&id_a, a.stores().taken(&id_b).await?, Duration::ZERO).await?;
    carried += items.len();
    a.stores().take_in(&id_b, items).await?;
    Ok(carried)
}

/// Carries items until it is dropped.
pub struct Shuttle {
    stop: Arc<AtomicBool>,
    pub lost: Arc<AtomicU64>,
    task: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl Shuttle {
    /// `percent` of the exchanges go wrong: a request is lost, an answer is lost, an exchange is repeated or late.
    pub fn start(two: &Two, percent: u64) -> Self {
        let (stop, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let trip = Trip { a: two.a.host.clone(), b: two.b.host.clone(), percent, lost: lost.clone(), old: Vec::new() };
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let mut trip = trip;
            while !stopped.load(Ordering::Acquire) {
                // A host that is being replaced does not answer; neither would a server.
                let _ = trip.once().await;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        Self { stop, lost, task: Mutex::new(Some(task)) }
    }

    pub async fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Release);
        let task = self.task.lock().unwrap().take();
        task.unwrap().await.unwrap();
        self.lost.load(Ordering::Acquire)
    }
}

impl Drop for Shuttle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

struct Trip {
    a: Host,
    b: Host,
    percent: u64,
    lost: Arc<AtomicU64>,
    /// What was carried once, and may arrive again.
    old: Vec<(bool, Vec<LinkItem>)>,
}

impl Trip {
    fn fails(&self) -> bool {
        let fails = u64::try_from(uuid::Uuid::new_v4().as_u128() % 100).unwrap() < self.percent;
        self.lost.fetch_add(u64::from(fails), Ordering::AcqRel);
        fails
    }

    async fn once(&mut self) -> Result<(), ApiError> {
        let (id_a, id_b) = (self.a.stores().own_id().to_owned(), self.b.stores().own_id().to_owned());
        // What the sender believes may be older than what the receiver knows: its answers were lost.
        let items = self.a.stores().outgoing(&id_b, self.a.stores().acked(&id_b).await?, Duration::ZERO).await?;
        if self.fails() {
            return Ok(());
        }
        if self.percent > 0 {
            self.old.push((true, items.clone()));
        }
        let taken = self.b.stores().take_in(&id_a, items).await?;
        let items = self.b.stores().outgoing(&id_a, self.a.stores().taken(&id_b).await?, Duration::ZERO).await?;
        if self.fails() {
            return Ok(());
        }
        if self.fails() {
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        if self.percent > 0 {
            self.old.push((false, items.clone()));
        }
        self.a.stores().outgoing(&id_b, taken, Duration::ZERO).await?;
        self.a.stores().take_in(&id_b, items).await?;
        if self.fails() && !self.old.is_empty() {
            let at = usize::try_from(uuid::Uuid::new_v4().as_u128() % self.old.len() as u128).unwrap();
            let (is_to_b, items) = self.old.swap_remove(at);
            match is_to_b {
                true => self.b.stores().take_in(&id_a, items).await?,
                false => self.a.stores().take_in(&id_b, items).await?,
            };
        }
        Ok(())
    }
}

pub fn fresh_key() -> CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

/// What happened between this Pod and others.
pub fn steps(records: &[Record]) -> Vec<String> {
    let kinds = records.iter().map(|record| record.event.kind());
    kinds.filter(|kind| kind.starts_with("peer_") && *kind != "peer_message").map(str::to_owned).collect()
}

/// The receipts of a message, according to a journal, and their reasons.
pub fn receipts(records: &[Record], message: &str) -> Vec<(ReceiptState, bool)> {
    let steps = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::MessageReceipt { message_id, state, reason, .. }) if message_id == message => {
            Some((*state, reason.is_some()))
        }
        _ => None,
    });
    steps.collect()
}

/// Received messages: id and text.
pub fn received(records: &[Record]) -> Vec<(String, String)> {
    let messages = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::PeerMessage { message_id, text, .. }) => Some((message_id.clone(), text.clone())),
        _ => None,
    });
    messages.collect()
}
