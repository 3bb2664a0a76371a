//! A host whose store can be examined directly, with restarts in between.

use std::{sync::Arc, time::Duration};

use pod_store::{Batch, Database, Faults, PodKey, Store, StoreOptions};
use protocol::{
    ApiError, ControlEvent, ControlVerb, CreatePod, Event, HeldDecision, InputCommand, MessageAnswer, PeerLink,
    PeerPolicy, PeerView, PodRef, PodState, ReceiptState, Record, RuntimeId, ToolAnswer, ToolCommand, Trigger,
    TurnEvent, Visibility, WorkerId,
};
use provider::Providers;
use runtime::{CommandKey, Host, HostOptions, Introduced};
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::Toolbox;

use crate::stage::{self, Stage, key, named, origin, say};

const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);

pub struct Ground {
    pub stage: Stage,
    pub store: Store,
    database: Database,
    faults: Option<Arc<dyn Faults>>,
}

impl Ground {
    pub async fn new() -> Self {
        Self::with_faults(None).await
    }

    pub async fn with_faults(faults: Option<Arc<dyn Faults>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = StoreOptions::sqlite(folder.path().join("yoi.db")).database;
        Self::over(folder, database, faults).await
    }

    pub async fn on_postgres() -> Self {
        let database = Database::parse(&testkit::postgres::fresh_database().await.unwrap()).unwrap();
        Self::over(tempfile::tempdir().unwrap(), database, None).await
    }

    async fn over(folder: TempDir, database: Database, faults: Option<Arc<dyn Faults>>) -> Self {
        let store =
            Store::open(StoreOptions { faults: faults.clone(), ..StoreOptions::new(database.clone()) }).await.unwrap();
        let cwd = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        let options = HostOptions {
            toolbox: Toolbox::new(stage::asked()),
            ..HostOptions::of(store.clone(), Providers::new(Vec::new()).unwrap(), cwd, "/nowhere")
        };
        let host = Host::start(options).await.unwrap();
        Self { stage: Stage { host, folder }, store, database, faults }
    }

    /// The same folder and database under another host, as after a restart.
    pub async fn restarted(self) -> Self {
        self.host().shutdown(SHUTDOWN_WAIT).await;
        let Self { stage, database, faults, .. } = self;
        Self::over(stage.folder, database, faults).await
    }

    pub fn host(&self) -> &Host {
        &self.stage.host
    }

    pub async fn create(&self, name: &str) -> WorkerId {
        self.stage.create(name).await
    }

    pub async fn create_with(&self, name: &str, policy: PeerPolicy, wakes: bool) -> WorkerId {
        let create = CreatePod { peer_policy: Some(policy), wake_on_peer: Some(wakes), ..named(name) };
        self.host().pods().create(fresh_key(), &origin(), create).await.unwrap().pod.worker_id
    }

    /// Two peers.
    pub async fn pair(&self) -> (WorkerId, WorkerId) {
        let (ada, bob) = (self.create("ada").await, self.create("bob").await);
        self.link(&ada, &bob).await;
        (ada, bob)
    }

    pub async fn link(&self, one: &WorkerId, other: &WorkerId) {
        assert_eq!(self.introduce(one, other).await.unwrap().answer.state, PeerLink::Linked);
    }

    pub async fn introduce(&self, source: &WorkerId, target: &WorkerId) -> Result<Introduced, ApiError> {
        self.host().peers().introduce(fresh_key(), &origin(), source, target, None).await
    }

    pub async fn unlink(&self, one: &WorkerId, other: &WorkerId) -> Result<(), ApiError> {
        self.host().peers().unlink(fresh_key(), &origin(), one, &pod_ref(other)).await
    }

    pub async fn tell(&self, pod: &WorkerId, text: &str) {
        let input = InputCommand { queue: true, ..say(text) };
        self.host().work().input(fresh_key(), &origin(), pod, input).await.unwrap();
    }

    pub async fn control(&self, pod: &WorkerId, verb: ControlVerb) {
        self.host().pods().control(fresh_key(), &origin(), pod, verb).await.unwrap();
    }

    pub async fn send(&self, from: &WorkerId, to: &WorkerId, text: &str) -> Result<MessageAnswer, ApiError> {
        self.host().peers().send(fresh_key(), &origin(), from, to, text).await
    }

    pub async fn decide(&self, pod: &WorkerId, id: &str, decision: HeldDecision) -> Result<MessageAnswer, ApiError> {
        self.host().peers().decide_held(fresh_key(), &origin(), pod, id, decision).await
    }

    /// Runs a tool as the Pod would.
    pub async fn call(&self, pod: &WorkerId, name: &str, arguments: Value) -> ToolAnswer {
        self.host().work().run_tool(fresh_key(), &origin(), pod, name, ToolCommand { arguments }).await.unwrap()
    }

    pub async fn refused(&self, pod: &WorkerId, name: &str, arguments: Value) -> String {
        let answer = self.call(pod, name, arguments.clone()).await;
        assert!(answer.is_error, "{name} {arguments}: {answer:?}");
        answer.code.unwrap()
    }

    pub async fn write(&self, pod: &WorkerId, name: &str, message: &str) -> ToolAnswer {
        self.call(pod, "SendToPeerPod", json!({ "name": name, "message": message })).await
    }

    pub async fn records(&self, pod: &WorkerId) -> Vec<Record> {
        self.stage.records(pod).await
    }

    pub async fn until(&self, pod: &WorkerId, is_it: impl Fn(&[Record]) -> bool) -> Vec<Record> {
        self.stage.until(pod, is_it).await
    }

    pub async fn until_state(&self, pod: &WorkerId, state: PodState) -> Vec<Record> {
        self.until(pod, |records| last_state(records) == Some(state)).await
    }

    pub async fn until_receipt(&self, pod: &WorkerId, message: &str, state: ReceiptState) -> Vec<Record> {
        self.until(pod, |records| receipts(records, message).iter().any(|(known, _)| *known == state)).await
    }

    pub async fn peers(&self, pod: &WorkerId) -> Vec<PeerView> {
        self.host().peers().of_pod(pod).await.unwrap()
    }

    pub async fn visibility(&self, pod: &WorkerId, name: &str) -> Vec<Visibility> {
        let seen = self.host().pods().visible(pod).await.unwrap();
        seen.into_iter().find(|seen| seen.name.as_str() == name).map(|seen| seen.visibility).unwrap_or_default()
    }

    pub async fn history(&self, pod: &WorkerId) -> String {
        serde_json::to_string(&self.host().journals().history(pod).await.unwrap()).unwrap()
    }

    pub async fn row_key(&self, pod: &WorkerId) -> PodKey {
        self.store.pods().find(pod).await.unwrap().unwrap().key
    }

    /// Writes directly into the store.
    pub async fn put(&self, batch: Batch) {
        self.store.commit(batch).await.unwrap();
    }

    /// What the two journals and the store say about a pair; they have to agree.
    pub async fn relation(&self, one: &WorkerId, other: &WorkerId) -> Vec<String> {
        let (of_one, of_other) = (self.records(one).await, self.records(other).await);
        let steps = steps(&of_one, other);
        assert_eq!(steps, self::steps(&of_other, one), "the two journals differ");
        let is_linked = steps.last().is_some_and(|step| step == "peer_linked");
        for (pod, peer) in [(one, other), (other, one)] {
            let views = self.peers(pod).await;
            let linked: Vec<_> = views.iter().filter(|view| view.link == PeerLink::Linked).collect();
            assert_eq!(linked.iter().any(|view| view.pod == pod_ref(peer)), is_linked, "{steps:?} {views:?}");
        }
        steps
    }
}

pub fn fresh_key() -> CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

pub fn pod_ref(worker_id: &WorkerId) -> PodRef {
    PodRef::new(RuntimeId::local(), worker_id.clone())
}

/// What happened between this Pod and a peer.
pub fn steps(records: &[Record], peer: &WorkerId) -> Vec<String> {
    let of_peer = |record: &&Record| match &record.event {
        Event::Control(
            ControlEvent::PeerLinked { peer: label, .. }
            | ControlEvent::PeerUnlinked { peer: label, .. }
            | ControlEvent::PeerRequested { peer: label, .. }
            | ControlEvent::PeerDeclined { peer: label, .. },
        ) => label.worker_id == *peer,
        _ => false,
    };
    records.iter().filter(of_peer).map(|record| record.event.kind().to_owned()).collect()
}

/// The receipts of a message, according to a journal.
pub fn receipts(records: &[Record], message: &str) -> Vec<(ReceiptState, Option<u64>)> {
    let steps = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::MessageReceipt { message_id, state, turn, .. }) if message_id == message => {
            Some((*state, *turn))
        }
        _ => None,
    });
    steps.collect()
}

/// Received messages: text and hops.
pub fn received(records: &[Record]) -> Vec<(String, u32)> {
    let messages = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::PeerMessage { text, hops, .. }) => Some((text.clone(), *hops)),
        _ => None,
    });
    messages.collect()
}

pub fn triggers(records: &[Record]) -> Vec<Trigger> {
    let begun = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::RunStarted { trigger, .. }) => Some(*trigger),
        _ => None,
    });
    begun.collect()
}

pub fn last_state(records: &[Record]) -> Option<PodState> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Control(ControlEvent::Status { state, .. }) => Some(*state),
        _ => None,
    })
}

pub fn is_at_rest(records: &[Record]) -> bool {
    !matches!(last_state(records), Some(PodState::Running))
}

pub fn count(records: &[Record], kind: &str) -> usize {
    records.iter().filter(|record| record.event.kind() == kind).count()
}
