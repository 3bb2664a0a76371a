//! Hosts on one fresh database.

use std::{path::Path, sync::Arc};

use futures_util::StreamExt;
use pod_store::{Database, Faults, HostIdentity, Store, StoreOptions};
use protocol::{CreatePod, InputCommand, PodState, Record, WorkerId};
use provider::Providers;
use runtime::{CommandKey, FeedItem, Host, HostOptions};
use tempfile::TempDir;
pub use testkit::{until_so as until, within};

use crate::stage::{key, named, origin, read_all, records_of, say};

pub struct Ground {
    pub url: String,
    pub folder: TempDir,
}

impl Ground {
    pub async fn new() -> Self {
        let url = testkit::postgres::fresh_database().await.unwrap();
        Self { url, folder: tempfile::tempdir().unwrap() }
    }

    pub async fn host(&self, name: &str) -> Host {
        self.host_in(name, self.folder.path()).await
    }

    /// A host that was started in a folder of its own.
    pub async fn host_in(&self, name: &str, cwd: &Path) -> Host {
        self.host_on(name, cwd, StoreOptions::new(Database::parse(&self.url).unwrap())).await
    }

    /// A host whose commits meet these faults.
    pub async fn host_with(&self, name: &str, faults: Arc<dyn Faults>) -> Host {
        let options = StoreOptions::new(Database::parse(&self.url).unwrap()).with_faults(faults);
        self.host_on(name, self.folder.path(), options).await
    }

    async fn host_on(&self, name: &str, cwd: &Path, options: StoreOptions) -> Host {
        let identity = HostIdentity { uid: format!("uid-of-{name}"), name: name.to_owned() };
        let store = Store::open_as(options, identity).await.unwrap();
        let cwd = cwd.canonicalize().unwrap().to_str().unwrap().to_owned();
        Host::start(HostOptions::of(store, Providers::new(Vec::new()).unwrap(), cwd, "/nowhere")).await.unwrap()
    }

    pub async fn run(&self, sql: &str) -> String {
        testkit::postgres::execute(&self.url, sql).await.unwrap()
    }
}

pub fn fresh_key() -> CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

pub async fn create(host: &Host, name: &str) -> WorkerId {
    create_as(host, named(name)).await
}

pub async fn create_as(host: &Host, create: CreatePod) -> WorkerId {
    host.pods().create(fresh_key(), &origin(), create).await.unwrap().pod.worker_id
}

pub async fn tell(host: &Host, pod: &WorkerId, text: &str) {
    let input = InputCommand { queue: true, ..say(text) };
    host.work().input(fresh_key(), &origin(), pod, input).await.unwrap();
}

/// What a viewer gets from a snapshot on, up to the last record that it wants.
pub async fn watch(host: &Host, pod: &WorkerId, is_last: impl Fn(&Record) -> bool) -> Vec<Record> {
    let mut seen = Vec::new();
    let mut viewer = host.journals().observe(pod, None, 2_000).await;
    let waited = within("the last record comes", async {
        loop {
            match viewer.next().await.expect("the stream goes on") {
                FeedItem::Snapshot { records, .. } | FeedItem::Records { records, .. } => {
                    let records = read_all(&records);
                    let is_over = records.iter().any(&is_last);
                    seen.extend(records);
                    if is_over {
                        return;
                    }
                }
                FeedItem::Diagnostic { code, detail } => panic!("{code:?} {detail}"),
                FeedItem::Closed { reason } => panic!("{reason}"),
            }
        }
    });
    waited.await;
    seen
}

pub async fn state(host: &Host, pod: &WorkerId) -> PodState {
    host.pods().get(pod).await.unwrap().summary.state
}

/// Asserts that the journal has only gaps that folding explains, and every seq once, in order.
pub async fn ordered(host: &Host, pod: &WorkerId) -> Vec<Record> {
    let records = records_of(host, pod).await;
    assert!(records.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{records:?}");
    records
}

pub fn is_finished(record: &Record) -> bool {
    record.event.kind() == "run_finished"
}
