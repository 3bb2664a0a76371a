//! Shared by the tests of the host.

#![allow(dead_code, unreachable_pub, missing_debug_implementations, clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use pod::ToolOutcome;
use pod_store::{Store, StoreOptions};
use protocol::{CommandId, CreatePod, InputCommand, PodName, PodState, Record, Segment, WorkerId};
use provider::Providers;
use runtime::{CommandKey, FeedItem, Host, HostOptions, Origin};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::WAIT_MAX;
use tools::{Output, Place, Tool, Toolbox};

/// A Pod that does this waits for a person.
pub const CALL_ASKED: &str = "call Asked {}";

/// A tool without an entry in the table and without facts of its own, so its calls need an approval.
#[derive(Debug)]
pub struct Asked;

#[async_trait::async_trait]
impl Tool for Asked {
    fn name(&self) -> &'static str {
        "Asked"
    }

    fn description(&self) -> &'static str {
        "Does nothing, once a person has allowed it."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, _: &Place, _: Value, _: Output) -> ToolOutcome {
        ToolOutcome::done("it was allowed")
    }
}

/// Tools whose calls all need an approval.
pub fn asked() -> [Arc<dyn Tool>; 1] {
    [Arc::new(Asked)]
}

pub struct Stage {
    pub host: Host,
    pub folder: TempDir,
}

impl Stage {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = host_in(&folder).await;
        Self { host, folder }
    }

    pub async fn create(&self, name: &str) -> WorkerId {
        let key = key(&format!("create-{name}-{}", uuid::Uuid::now_v7()));
        self.host.pods().create(key, &origin(), named(name)).await.unwrap().pod.worker_id
    }

    /// Every record of a Pod, oldest first.
    pub async fn records(&self, pod: &WorkerId) -> Vec<Record> {
        records_of(&self.host, pod).await
    }

    pub async fn state(&self, pod: &WorkerId) -> PodState {
        self.host.pods().get(pod).await.unwrap().summary.state
    }

    /// Waits until a run has ended and none is in progress. What comes from outside a run may follow it.
    pub async fn until_idle(&self, pod: &WorkerId) -> Vec<Record> {
        let is_over = |records: &[Record]| {
            let kinds = kinds(records);
            let place = |kind: &str| kinds.iter().rposition(|known| known == kind);
            place("run_finished").is_some() && place("run_finished") < place("status")
        };
        self.until(pod, is_over).await
    }

    /// Waits for the stream to bring a state of the journal; it waits for records, never for a time.
    pub async fn until(&self, pod: &WorkerId, is_it: impl Fn(&[Record]) -> bool) -> Vec<Record> {
        until_of(&self.host, pod, is_it).await
    }
}

/// Every record of a Pod, oldest first.
pub async fn records_of(host: &Host, pod: &WorkerId) -> Vec<Record> {
    let page = host.journals().page(pod, None, 1_000, runtime::RecordForm::Whole).await.unwrap();
    read_all(&page.items)
}

/// Like [`Stage::until`].
pub async fn until_of(host: &Host, pod: &WorkerId, is_it: impl Fn(&[Record]) -> bool) -> Vec<Record> {
    let mut viewer = host.journals().observe(pod, None, 1).await;
    let waited = tokio::time::timeout(WAIT_MAX, async {
        loop {
            let records = records_of(host, pod).await;
            if is_it(&records) {
                return records;
            }
            match viewer.next().await.expect("the Pod is there") {
                FeedItem::Closed { reason } => panic!("{reason}"),
                _ => continue,
            }
        }
    });
    match waited.await {
        Ok(records) => records,
        Err(_) => panic!("it did not come within {WAIT_MAX:?}; there is {:?}", kinds(&records_of(host, pod).await)),
    }
}

pub async fn host_in(folder: &TempDir) -> Host {
    let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
    host_on(store).await
}

pub async fn host_on(store: Store) -> Host {
    let options = HostOptions::of(store, Providers::new(Vec::new()).unwrap(), "/", "/nowhere");
    Host::start(HostOptions { toolbox: Toolbox::new(asked()), ..options }).await.unwrap()
}

pub fn key(id: &str) -> CommandKey {
    key_for(id, 1)
}

/// A key for a body of its own.
pub fn key_for(id: &str, body: u8) -> CommandKey {
    CommandKey { id: CommandId::parse(id).unwrap(), fingerprint: [body; 32] }
}

pub fn origin() -> Origin {
    Origin { by: "operator".to_owned(), client: "test".to_owned() }
}

pub fn named(name: &str) -> CreatePod {
    CreatePod::named(PodName::parse(name).unwrap())
}

pub fn say(text: &str) -> InputCommand {
    InputCommand { segments: vec![Segment::text(text)], queue: false, steer: false }
}

pub fn read_all(records: &[Bytes]) -> Vec<Record> {
    records.iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
}

pub fn kinds(records: &[Record]) -> Vec<String> {
    records.iter().map(|record| record.event.kind().to_owned()).collect()
}
