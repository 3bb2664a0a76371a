//! A host with a folder whose content can be lent, with restarts in between, and tools that look from inside.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use pod_store::{Database, Faults, Store, StoreOptions};
use protocol::{
    Access, ApiError, ControlEvent, ControlVerb, CreatePod, Event, InputCommand, PodLimits, PodRef, PodState, Receipt,
    Record, RestoreCommand, RuntimeId, ScopeRule, ToolAnswer, ToolCommand, Trigger, TurnEvent, VisiblePod, WorkerId,
};
use provider::{ProviderConfig, ProviderKind, ProviderSource, Providers};
use runtime::{CommandKey, Host, HostOptions, Profile};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::scripted_model::ScriptedModel;
use tools::{Tool, Toolbox};

use crate::{
    probes::{Linger, Meet, Probe},
    stage::{self, Stage, key, named, origin, say},
};

/// How long a host may take to reach a committed point.
pub const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);

pub struct Ground {
    pub stage: Stage,
    database: Database,
    providers: Providers,
}

impl Ground {
    pub async fn new() -> Self {
        Self::with_faults(None).await
    }

    pub async fn with_faults(faults: Option<Arc<dyn Faults>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = sqlite(&folder);
        Self::over(folder, database, Providers::new(Vec::new()).unwrap(), faults).await
    }

    /// The maximum number of children of a Pod.
    pub async fn with_limits(limits: PodLimits) -> Self {
        let Self { stage, database, providers } = Self::new().await;
        stage.host.shutdown(SHUTDOWN_WAIT).await;
        let options = options(&stage.folder, &database, &providers, None).await;
        let host = Host::start(HostOptions { limits, ..options }).await.unwrap();
        Self { stage: Stage { host, folder: stage.folder }, database, providers }
    }

    /// Pods use this model; those with the profile `child` rehearse.
    pub async fn with_model(model: &ScriptedModel) -> Self {
        let config = ProviderConfig {
            name: "scripted".to_owned(),
            kind: ProviderKind::OpenAiCompatible,
            base_url: Some(model.base_url()),
            api_key: None,
            models: vec!["scripted".to_owned()],
            source: ProviderSource::Configuration,
        };
        let folder = tempfile::tempdir().unwrap();
        let database = sqlite(&folder);
        Self::over(folder, database, Providers::new(vec![config]).unwrap(), None).await
    }

    pub async fn on_postgres() -> Self {
        let database = Database::parse(&testkit::postgres::fresh_database().await.unwrap()).unwrap();
        Self::over(tempfile::tempdir().unwrap(), database, Providers::new(Vec::new()).unwrap(), None).await
    }

    async fn over(folder: TempDir, database: Database, providers: Providers, faults: Option<Arc<dyn Faults>>) -> Self {
        for name in ["a/deep", "b", "c", "outside"] {
            std::fs::create_dir_all(work(&folder).join(name)).unwrap();
        }
        std::fs::create_dir_all(ours(&folder)).unwrap();
        let host = host(&folder, &database, &providers, faults).await;
        Self { stage: Stage { host, folder }, database, providers }
    }

    /// The same folder and database under another host, as after a restart.
    pub async fn restarted(self) -> Self {
        self.host().shutdown(SHUTDOWN_WAIT).await;
        let Self { stage, database, providers } = self;
        let host = host(&stage.folder, &database, &providers, None).await;
        Self { stage: Stage { host, folder: stage.folder }, database, providers }
    }

    pub fn host(&self) -> &Host {
        &self.stage.host
    }

    /// A path that a Pod may have in its scope.
    pub fn path(&self, name: &str) -> String {
        work(&self.stage.folder).join(name).to_str().unwrap().to_owned()
    }

    /// Where this host keeps its own data; no tool tells anyone.
    pub fn own_folder(&self) -> String {
        ours(&self.stage.folder).to_str().unwrap().to_owned()
    }

    /// A Pod with write access to a, b and c.
    pub async fn lead(&self, name: &str) -> WorkerId {
        let rules = ["a", "b", "c"].map(|folder| write(&self.path(folder)));
        self.create(name, rules.to_vec()).await
    }

    pub async fn create(&self, name: &str, scope: Vec<ScopeRule>) -> WorkerId {
        let create = CreatePod { cwd: Some(self.path("")), scope: Some(scope), ..named(name) };
        self.host().pods().create(fresh_key(), &origin(), create).await.unwrap().pod.worker_id
    }

    pub async fn tell(&self, pod: &WorkerId, text: &str) -> Receipt {
        self.host().work().input(fresh_key(), &origin(), pod, InputCommand { queue: true, ..say(text) }).await.unwrap()
    }

    pub async fn control(&self, pod: &WorkerId, verb: ControlVerb) -> Result<Receipt, ApiError> {
        self.host().pods().control(fresh_key(), &origin(), pod, verb).await
    }

    pub async fn restore_tree(&self, pod: &WorkerId, key: CommandKey) -> Result<Receipt, ApiError> {
        self.host().pods().restore(key, &origin(), pod, RestoreCommand { tree: true }).await
    }

    /// Runs a tool as the Pod would.
    pub async fn call(&self, pod: &WorkerId, name: &str, arguments: Value) -> ToolAnswer {
        self.host().work().run_tool(fresh_key(), &origin(), pod, name, ToolCommand { arguments }).await.unwrap()
    }

    /// Runs a tool that has to succeed; returns its output.
    pub async fn done(&self, pod: &WorkerId, name: &str, arguments: Value) -> ToolAnswer {
        let answer = self.call(pod, name, arguments.clone()).await;
        assert!(!answer.is_error, "{name} {arguments}: {answer:?}");
        answer
    }

    /// Runs a tool that has to fail; returns its code and its output.
    pub async fn refused(&self, pod: &WorkerId, name: &str, arguments: Value) -> (String, String) {
        let answer = self.call(pod, name, arguments.clone()).await;
        assert!(answer.is_error, "{name} {arguments}: {answer:?}");
        (answer.code.unwrap(), answer.summary)
    }

    /// Spawns a child, which has to succeed.
    pub async fn spawn(&self, parent: &WorkerId, name: &str, task: &str, scope: &[ScopeRule]) -> WorkerId {
        self.done(parent, "SpawnPod", json!({ "name": name, "task": task, "scope": scope })).await;
        self.named(name).await.unwrap()
    }

    /// A child that is in the middle of its task, and stays there until it is stopped.
    pub async fn busy_child(&self, parent: &WorkerId, name: &str, scope: &[ScopeRule]) -> WorkerId {
        let child = self.spawn(parent, name, "say at work\nwait 500", scope).await;
        self.stage.until(&child, |records| count(records, "text_chunk") > 0).await;
        child
    }

    /// A child that has finished its task, and whose parent knows.
    pub async fn done_child(&self, parent: &WorkerId, name: &str, scope: &[ScopeRule]) -> WorkerId {
        let before = self.stage.records(parent).await;
        let was_at_rest = last_state(&before) != Some(PodState::Running);
        let child = self.spawn(parent, name, "say done", scope).await;
        let knows = |records: &[Record]| news(records).len() > news(&before).len();
        self.stage.until(parent, |records| knows(records) && (is_at_rest(records) || !was_at_rest)).await;
        child
    }

    pub async fn named(&self, name: &str) -> Option<WorkerId> {
        self.host().pods().named(&name.parse().unwrap()).await.unwrap().map(|pod| pod.worker_id)
    }

    pub async fn seen(&self, pod: &WorkerId, name: &str) -> VisiblePod {
        let seen = self.host().pods().visible(pod).await.unwrap();
        seen.into_iter().find(|seen| seen.name.as_str() == name).unwrap_or_else(|| panic!("{name} is not seen"))
    }

    /// What the Pod's own tools may do with a path now: words of the scope, or `yes`.
    pub async fn may(&self, pod: &WorkerId, path: &str) -> (String, String) {
        let said = self.done(pod, "Probe", json!({ "path": path })).await.summary;
        let (read, write) = said.split_once('|').unwrap();
        (read.to_owned(), write.to_owned())
    }

    pub async fn state(&self, pod: &WorkerId) -> PodState {
        self.stage.state(pod).await
    }

    pub async fn until_state(&self, pod: &WorkerId, state: PodState) -> Vec<Record> {
        self.stage.until(pod, |records| last_state(records) == Some(state)).await
    }
}

fn sqlite(folder: &TempDir) -> Database {
    StoreOptions::sqlite(ours(folder).join("yoi.db")).database
}

async fn host(folder: &TempDir, database: &Database, providers: &Providers, faults: Option<Arc<dyn Faults>>) -> Host {
    Host::start(options(folder, database, providers, faults).await).await.unwrap()
}

async fn options(
    folder: &TempDir,
    database: &Database,
    providers: &Providers,
    faults: Option<Arc<dyn Faults>>,
) -> HostOptions {
    let store = Store::open(StoreOptions { faults, ..StoreOptions::new(database.clone()) }).await.unwrap();
    let cwd = work(folder).to_str().unwrap().to_owned();
    let ours = ours(folder);
    let rehearsing =
        Profile { provider: Some("rehearsal".to_owned()), model: Some("rehearsal".to_owned()), ..Profile::default() };
    HostOptions {
        profiles: BTreeMap::from([("child".to_owned(), rehearsing)]),
        toolbox: Toolbox::new([Arc::new(Probe) as Arc<dyn Tool>, Arc::new(Linger), Arc::new(Meet)])
            .with(stage::asked()),
        hidden: vec![ours.to_str().unwrap().to_owned()],
        ..HostOptions::of(store, providers.clone(), cwd, ours.join("outputs"))
    }
}

fn work(folder: &TempDir) -> PathBuf {
    folder.path().canonicalize().unwrap().join("work")
}

fn ours(folder: &TempDir) -> PathBuf {
    folder.path().canonicalize().unwrap().join("ours")
}

pub fn fresh_key() -> CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

pub fn write(path: &str) -> ScopeRule {
    rule(path, Access::Write)
}

pub fn read(path: &str) -> ScopeRule {
    rule(path, Access::Read)
}

pub fn deny(path: &str) -> ScopeRule {
    rule(path, Access::Deny)
}

fn rule(path: &str, access: Access) -> ScopeRule {
    ScopeRule { path: path.trim_end_matches('/').to_owned(), access, recursive: true }
}

pub fn pod_ref(worker_id: &WorkerId) -> PodRef {
    PodRef::new(RuntimeId::local(), worker_id.clone())
}

pub fn count(records: &[Record], kind: &str) -> usize {
    stage::kinds(records).iter().filter(|known| *known == kind).count()
}

/// What a Pod was told about its children: the kind of news, and the child's name.
pub fn news(records: &[Record]) -> Vec<(String, String)> {
    let told = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::ChildEvent { what, child, .. }) => {
            Some((serde_json::to_value(what).unwrap().as_str().unwrap().to_owned(), child.name.to_string()))
        }
        _ => None,
    });
    told.collect()
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
    last_state(records) == Some(PodState::Idle)
}

/// Finished texts of the model.
pub fn said(records: &[Record]) -> Vec<String> {
    let texts = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::MessageFinished { text, .. }) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// The messages from people.
pub fn heard(records: &[Record]) -> Vec<String> {
    let texts = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::UserMessage { segments, .. }) => {
            Some(segments.iter().map(|segment| segment.as_text().into_owned()).collect())
        }
        _ => None,
    });
    texts.collect()
}
