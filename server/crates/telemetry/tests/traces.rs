//! What a collector gets of a Pod at work: a real host, the rehearsal model, and a small OTLP/HTTP receiver.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use axum::{Json, Router, extract::State, http::Uri, routing::any};
use pod::ToolOutcome;
use pod_store::{Store, StoreOptions};
use protocol::{CommandId, CreatePod, InputCommand, PodName, Segment, WorkerId};
use provider::Providers;
use runtime::{CommandKey, Host, HostOptions, Origin, RecordForm};
use serde_json::{Value, json};
use telemetry::{Settings, Telemetry};
use tempfile::TempDir;
use testkit::until_so;
use tokio::net::TcpListener;
use tools::{Output, Place, Tool, Toolbox};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

const END_MAX: Duration = Duration::from_secs(20);

/// Gives away what nobody outside may see.
#[derive(Debug)]
struct Leaky;

#[async_trait]
impl Tool for Leaky {
    fn name(&self) -> &'static str {
        "Grep"
    }

    fn description(&self) -> &'static str {
        "Finds a secret."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, _: &Place, arguments: Value, _: Output) -> ToolOutcome {
        match arguments["fail"] == true {
            true => ToolOutcome::failed("code-with-a-secret", "it failed with a secret"),
            false => ToolOutcome::done("found a secret").with_content("otel.status_code=\"ERROR\" the secret result"),
        }
    }
}

/// What was sent to the collector, by path.
type Received = Arc<Mutex<Vec<(String, Value)>>>;

struct Collector {
    address: String,
    received: Received,
}

impl Collector {
    async fn start() -> Self {
        async fn take(State(received): State<Received>, uri: Uri, Json(body): Json<Value>) -> Json<Value> {
            received.lock().unwrap().push((uri.path().to_owned(), body));
            Json(json!({}))
        }
        let received = Received::default();
        let router = Router::new().fallback(any(take)).with_state(received.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, received }
    }

    /// Everything that came, as one text.
    fn text(&self) -> String {
        format!("{:?}", self.received.lock().unwrap())
    }

    fn spans(&self) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        let traces = received.iter().filter(|(path, _)| path == "/v1/traces");
        let resources = traces.flat_map(|(_, body)| body["resourceSpans"].as_array().unwrap());
        let scopes = resources.flat_map(|resource| resource["scopeSpans"].as_array().unwrap());
        scopes.flat_map(|scope| scope["spans"].as_array().unwrap()).cloned().collect()
    }

    fn metric_names(&self) -> BTreeSet<String> {
        let received = self.received.lock().unwrap();
        let metrics = received.iter().filter(|(path, _)| path == "/v1/metrics");
        let resources = metrics.flat_map(|(_, body)| body["resourceMetrics"].as_array().unwrap());
        let scopes = resources.flat_map(|resource| resource["scopeMetrics"].as_array().unwrap());
        let names = scopes.flat_map(|scope| scope["metrics"].as_array().unwrap());
        names.map(|metric| metric["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// The spans of an operation.
fn of<'s>(spans: &'s [Value], operation: &str) -> Vec<&'s Value> {
    spans.iter().filter(|span| attribute(span, "gen_ai.operation.name") == operation).collect()
}

/// The value of an attribute, as text; empty if there is none.
fn attribute(span: &Value, key: &str) -> String {
    let attributes = span["attributes"].as_array().unwrap();
    let Some(found) = attributes.iter().find(|attribute| attribute["key"] == key) else { return String::new() };
    let value = &found["value"];
    let text = value["stringValue"].as_str().or_else(|| value["intValue"].as_str()).map(str::to_owned);
    text.unwrap_or_else(|| value["intValue"].to_string())
}

fn is_number(span: &Value, key: &str) -> bool {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().any(|attribute| attribute["key"] == key && attribute["value"].get("intValue").is_some())
}

/// The values of an attribute that is a list.
fn list<'s>(span: &'s Value, key: &str) -> Option<&'s Vec<Value>> {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|attribute| attribute["key"] == key)?["value"]["arrayValue"]["values"].as_array()
}

/// A host whose spans go to an address.
struct Stage {
    host: Host,
    telemetry: Telemetry,
    pod: WorkerId,
    _folder: TempDir,
    _default: DefaultGuard,
}

impl Stage {
    /// The whole test has one thread, so that its spans are its own.
    async fn start(endpoint: &str, with_content: bool) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings =
            Settings { with_content, with_metrics: true, endpoint: Some(endpoint.to_owned()), as_json: true };
        let (layer, telemetry) = telemetry::start(settings).unwrap();
        let default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
        let outputs = folder.path().join("outputs");
        let options = HostOptions::of(store, Providers::new(Vec::new()).unwrap(), "/", outputs);
        let toolbox = Toolbox::new([Arc::new(Leaky) as Arc<dyn Tool>]);
        let host = Host::start(HostOptions { toolbox, ..options }).await.unwrap();
        let create = CreatePod::named(PodName::parse("secret-name").unwrap());
        let pod = host.pods().create(key("create"), &origin(), create).await.unwrap().pod.worker_id;
        Self { host, telemetry, pod, _folder: folder, _default: default }
    }

    async fn say(&self, id: &str, text: &str) {
        let input = InputCommand { segments: vec![Segment::text(text)], queue: false, steer: false };
        self.host.work().input(key(id), &origin(), &self.pod, input).await.unwrap();
        until_so("the run is over", async || {
            let page = self.host.journals().page(&self.pod, None, 1_000, RecordForm::Whole).await.unwrap();
            let text: Vec<_> = page.items.iter().map(|body| String::from_utf8_lossy(body).into_owned()).collect();
            let last = |kind: &str| text.iter().rposition(|record| record.contains(&format!("\"kind\":\"{kind}\"")));
            last("run_finished") > last("run_started")
        })
        .await;
    }

    async fn end(self) {
        self.host.shutdown(END_MAX).await;
        self.telemetry.end(END_MAX).await;
    }
}

fn key(id: &str) -> CommandKey {
    CommandKey { id: CommandId::parse(id).unwrap(), fingerprint: [1; 32] }
}

fn origin() -> Origin {
    Origin { by: "operator".to_owned(), client: "test".to_owned() }
}

const TASK: &str = "call Grep {\"pattern\":\"the secret argument\"}\ncall Grep {\"fail\":true}\nsay the secret answer";

#[tokio::test]
async fn a_collector_gets_runs_calls_and_tools_and_nothing_that_was_said() {
    let collector = Collector::start().await;
    let stage = Stage::start(&collector.address, false).await;
    let pod = stage.pod.to_string();
    stage.say("one", TASK).await;
    stage.say("two", "say so").await;
    stage.end().await;

    let spans = collector.spans();
    let (runs, chats, tools) = (of(&spans, "invoke_agent"), of(&spans, "chat"), of(&spans, "execute_tool"));
    assert_eq!(runs.len(), 2, "{spans:#?}");
    assert_eq!(chats.len(), 3, "{spans:#?}");
    let outcomes: Vec<_> =
        tools.iter().map(|tool| [attribute(tool, "gen_ai.tool.name"), attribute(tool, "yoi.outcome")]).collect();
    assert!(outcomes.contains(&["Grep", "ok"].map(str::to_owned)), "{outcomes:?}");
    assert!(outcomes.contains(&["Grep", "error"].map(str::to_owned)), "{outcomes:?}");
    for span in runs.iter().chain(&chats).chain(&tools) {
        assert_eq!(attribute(span, "gen_ai.conversation.id"), pod, "{span:#}");
    }
    for run in &runs {
        assert_eq!([attribute(run, "yoi.outcome"), attribute(run, "gen_ai.request.model")], ["completed", "rehearsal"]);
        assert_eq!(attribute(run, "gen_ai.provider.name"), "rehearsal");
        assert!(run["parentSpanId"].as_str().unwrap_or_default().is_empty(), "{run:#}");
    }
    let run_ids: Vec<_> = runs.iter().map(|run| &run["spanId"]).collect();
    for chat in &chats {
        assert!(run_ids.contains(&&chat["parentSpanId"]), "{chat:#}");
        assert_eq!([attribute(chat, "gen_ai.provider.name"), attribute(chat, "yoi.outcome")], ["rehearsal", "ok"]);
        assert!(attribute(chat, "gen_ai.usage.input_tokens").parse::<u64>().unwrap() > 0, "{chat:#}");
        assert_eq!(chat["name"], "chat rehearsal");
        assert!(list(chat, "gen_ai.response.finish_reasons").is_some_and(|reasons| reasons.len() == 1), "{chat:#}");
    }
    for (span, key) in
        [(runs[0], "yoi.run"), (runs[0], "gen_ai.usage.input_tokens"), (chats[0], "gen_ai.usage.input_tokens")]
    {
        assert!(is_number(span, key), "{key} in {span:#}");
    }
    let said: u64 =
        chats.iter().map(|chat| attribute(chat, "gen_ai.usage.output_tokens").parse::<u64>().unwrap()).sum();
    assert!(said > 0, "{chats:#?}");
    let call_ids: BTreeSet<_> = tools.iter().map(|tool| attribute(tool, "gen_ai.tool.call.id")).collect();
    assert_eq!((call_ids.len(), call_ids.contains("")), (tools.len(), false), "{tools:#?}");
    let failed = tools.iter().find(|tool| attribute(tool, "yoi.outcome") == "error").unwrap();
    assert_eq!(
        (attribute(failed, "error.type").as_str(), &failed["status"]["code"]),
        ("error", &json!(2)),
        "{failed:#}"
    );
    assert!(tools.iter().all(|tool| run_ids.contains(&&tool["parentSpanId"])), "{tools:#?}");
    let metrics = collector.metric_names();
    for name in [
        "gen_ai.client.operation.duration",
        "gen_ai.client.operation.time_to_first_chunk",
        "gen_ai.client.token.usage",
        "gen_ai.execute_tool.duration",
        "gen_ai.invoke_agent.duration",
    ] {
        assert!(metrics.contains(name), "{metrics:?}");
    }
    let text = collector.text();
    assert!(!text.to_lowercase().contains("secret"), "{text}");
}

#[tokio::test]
async fn what_was_said_is_sent_only_on_request() {
    let collector = Collector::start().await;
    let stage = Stage::start(&collector.address, true).await;
    stage.say("one", TASK).await;
    stage.end().await;
    let spans = collector.spans();
    let (chats, tools) = (of(&spans, "chat"), of(&spans, "execute_tool"));
    let any = |spans: &[&Value], key: &str, words: &str| spans.iter().any(|span| attribute(span, key).contains(words));
    assert!(any(&chats, "gen_ai.input.messages", "the secret result"), "{chats:#?}");
    assert!(any(&chats, "gen_ai.output.messages", "the secret answer"), "{chats:#?}");
    assert!(any(&tools, "gen_ai.tool.call.arguments", "the secret argument"), "{tools:#?}");
    assert!(any(&tools, "gen_ai.tool.call.result", "the secret result"), "{tools:#?}");
}

#[tokio::test]
async fn a_collector_that_is_not_there_disturbs_nobody() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let stage = Stage::start(&address, false).await;
    stage.say("one", TASK).await;
    let Stage { host, telemetry, .. } = stage;
    host.shutdown(END_MAX).await;
    telemetry.end(Duration::from_millis(200)).await;
}
