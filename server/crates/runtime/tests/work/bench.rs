//! A host with the test's tools, and short ways to use it.

use std::{collections::BTreeMap, sync::Arc};

use pod_store::{Faults, Store, StoreOptions};
use protocol::{
    ApiError, Approval, ApprovalCommand, ControlVerb, Decision, ErrorCode, Event, PodState, Receipt, Record, Role,
    ToolAnswer, ToolCommand, WorkerId,
};
use provider::{ModelSettings, ProviderConfig, ProviderKind, ProviderOptions, ProviderSource, Providers, RetryPolicy};
use runtime::{HostOptions, Profile};
use serde_json::Value;
use testkit::scripted_model::ScriptedModel;

use crate::{
    stage::{self, Stage, key, origin, say},
    tools::Ledger,
};

pub(crate) struct Bench {
    pub(crate) stage: Stage,
    pub(crate) ledger: Ledger,
    profiles: BTreeMap<String, Profile>,
    models: Models,
}

/// The model servers beside the rehearsal model, by the names of their providers; the first one is the default.
#[derive(Clone, Default)]
pub(crate) struct Models {
    pub(crate) servers: Vec<(&'static str, String)>,
    pub(crate) policy: RetryPolicy,
    /// The configuration of individual models.
    pub(crate) settings: BTreeMap<String, ModelSettings>,
}

impl Models {
    fn one(model: &ScriptedModel) -> Self {
        Self { servers: vec![("scripted", model.base_url())], ..Self::default() }
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(BTreeMap::new(), Models::default()).await
    }

    /// Its Pods use this model, unless they name another provider.
    pub(crate) async fn on(model: &ScriptedModel) -> Self {
        Self::with(BTreeMap::new(), Models::one(model)).await
    }

    /// The same, with a configuration of the model.
    pub(crate) async fn on_set(model: &ScriptedModel, settings: ModelSettings) -> Self {
        let settings = BTreeMap::from([("scripted".to_owned(), settings)]);
        Self::with(BTreeMap::new(), Models { settings, ..Models::one(model) }).await
    }

    /// The same, on a store that a test can break or block.
    pub(crate) async fn on_with(model: &ScriptedModel, faults: Arc<dyn Faults>) -> Self {
        let (folder, ledger, profiles) = (tempfile::tempdir().unwrap(), Ledger::new(), BTreeMap::new());
        let store = StoreOptions { faults: Some(faults), ..StoreOptions::sqlite(folder.path().join("yoi.db")) };
        let store = Store::open(store).await.unwrap();
        let models = Models::one(model);
        let host = runtime::Host::start(options_on(store, &folder, &ledger, &profiles, &models)).await.unwrap();
        Self { stage: Stage { host, folder }, ledger, profiles, models }
    }

    pub(crate) async fn with(profiles: BTreeMap<String, Profile>, models: Models) -> Self {
        let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::new());
        let host = runtime::Host::start(options(&folder, &ledger, &profiles, &models).await).await.unwrap();
        Self { stage: Stage { host, folder }, ledger, profiles, models }
    }

    /// Gives its Pods the tools of these MCP servers as well.
    pub(crate) async fn serving(profiles: BTreeMap<String, Profile>, servers: mcp::Servers) -> Self {
        let (folder, ledger, models) = (tempfile::tempdir().unwrap(), Ledger::new(), Models::default());
        let options = HostOptions { servers, ..options(&folder, &ledger, &profiles, &models).await };
        let host = runtime::Host::start(options).await.unwrap();
        Self { stage: Stage { host, folder }, ledger, profiles, models }
    }

    /// Another process on the same data. Whatever was in progress is interrupted as by a kill.
    pub(crate) async fn restart(self) -> Self {
        let profiles = self.profiles.clone();
        self.restart_with(profiles).await
    }

    pub(crate) async fn restart_with(self, profiles: BTreeMap<String, Profile>) -> Self {
        let Self { stage: Stage { host, folder }, ledger, models, .. } = self;
        host.shutdown(std::time::Duration::from_secs(5)).await;
        drop(host);
        let host = runtime::Host::start(options(&folder, &ledger, &profiles, &models).await).await.unwrap();
        Self { stage: Stage { host, folder }, ledger, profiles, models }
    }

    pub(crate) async fn send(&self, pod: &WorkerId, text: &str) {
        self.stage.host.work().input(fresh(), &origin(), pod, say(text)).await.unwrap();
    }

    /// Sends it, and waits for the end of the run.
    pub(crate) async fn turn(&self, pod: &WorkerId, text: &str) -> Vec<Record> {
        let before = runs(&self.stage.records(pod).await);
        self.send(pod, text).await;
        self.until_runs(pod, before + 1).await
    }

    /// Waits until this many runs have ended and the Pod is idle.
    pub(crate) async fn until_runs(&self, pod: &WorkerId, count: usize) -> Vec<Record> {
        self.stage.until(pod, |records| runs(records) >= count && last_state(records) == Some(PodState::Idle)).await
    }

    /// A Pod with an open approval for `ls`.
    pub(crate) async fn waiting(&self, name: &str) -> (WorkerId, String) {
        let pod = self.stage.create(name).await;
        let id = self.until_asked(&pod, r#"call Bash {"command":"ls"}"#).await;
        (pod, id)
    }

    /// Sends what makes the Pod ask, and returns the id of its (first) open approval.
    pub(crate) async fn until_asked(&self, pod: &WorkerId, text: &str) -> String {
        self.send(pod, text).await;
        self.until_state(pod, PodState::Waiting).await;
        self.stage.host.approvals().of_pod(pod, false).await.unwrap()[0].id.clone()
    }

    pub(crate) async fn until_state(&self, pod: &WorkerId, state: PodState) -> Vec<Record> {
        self.stage.until(pod, |records| last_state(records) == Some(state)).await
    }

    pub(crate) async fn control(&self, pod: &WorkerId, verb: ControlVerb) -> Result<Receipt, ApiError> {
        self.stage.host.pods().control(fresh(), &origin(), pod, verb).await
    }

    pub(crate) async fn answer(&self, pod: &WorkerId, id: &str, decision: Decision) -> Result<Approval, ApiError> {
        self.stage.host.approvals().answer(fresh(), &origin(), pod, id, once(decision)).await
    }

    pub(crate) async fn run_tool(&self, pod: &WorkerId, name: &str, arguments: Value) -> Result<ToolAnswer, ApiError> {
        self.stage.host.work().run_tool(fresh(), &origin(), pod, name, ToolCommand { arguments }).await
    }

    /// What the model would be sent, without the system message: `role: first line` each.
    pub(crate) async fn history(&self, pod: &WorkerId) -> Vec<String> {
        let history = self.stage.host.journals().history(pod).await.unwrap();
        assert_eq!(history.messages[0].role, Role::System);
        let line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let role = |role: Role| serde_json::to_value(role).unwrap().as_str().unwrap().to_owned();
        history.messages[1..].iter().map(|one| format!("{}: {}", role(one.role), line(&one.content))).collect()
    }

    pub(crate) async fn system(&self, pod: &WorkerId) -> String {
        self.stage.host.journals().history(pod).await.unwrap().messages[0].content.clone()
    }
}

async fn options(
    folder: &tempfile::TempDir,
    ledger: &Ledger,
    profiles: &BTreeMap<String, Profile>,
    models: &Models,
) -> HostOptions {
    let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
    options_on(store, folder, ledger, profiles, models)
}

fn options_on(
    store: Store,
    folder: &tempfile::TempDir,
    ledger: &Ledger,
    profiles: &BTreeMap<String, Profile>,
    Models { servers, policy, settings }: &Models,
) -> HostOptions {
    let configs = servers.iter().map(|(name, base_url)| ProviderConfig {
        name: (*name).to_owned(),
        kind: ProviderKind::OpenAiCompatible,
        base_url: Some(base_url.clone()),
        api_key: None,
        models: vec![(*name).to_owned()],
        source: ProviderSource::Configuration,
    });
    let (configs, policy, models) = (configs.collect(), policy.clone(), settings.clone());
    let providers = Providers::of(ProviderOptions { configs, policy, models, ..ProviderOptions::default() }).unwrap();
    HostOptions {
        profiles: profiles.clone(),
        toolbox: ledger.toolbox(),
        ..HostOptions::of(store, providers, "/", folder.path().join("outputs"))
    }
}

/// A key that no other command has.
pub(crate) fn fresh() -> runtime::CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

pub(crate) fn once(decision: Decision) -> ApprovalCommand {
    ApprovalCommand::once(decision)
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, ApiError>) -> ErrorCode {
    result.unwrap_err().code
}

pub(crate) fn runs(records: &[Record]) -> usize {
    records.iter().filter(|record| record.event.kind() == "run_finished").count()
}

pub(crate) fn last_state(records: &[Record]) -> Option<PodState> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Control(protocol::ControlEvent::Status { state, .. }) => Some(*state),
        _ => None,
    })
}

/// The events of one kind, as JSON.
pub(crate) fn of_kind(records: &[Record], kind: &str) -> Vec<Value> {
    let events = records.iter().filter(|record| record.event.kind() == kind);
    events.map(|record| serde_json::to_value(&record.event).unwrap()).collect()
}

pub(crate) fn last_of(records: &[Record], kind: &str) -> Value {
    of_kind(records, kind).pop().unwrap_or_else(|| panic!("no {kind} in {:?}", stage::kinds(records)))
}
