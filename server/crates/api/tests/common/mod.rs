//! A yoi API on port 0: the real guard, router, backend, host and store, and a few pages that stand in for the console.

// Each test file uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod socket;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use api::{AllowedHosts, Api, ApiOptions, ConnectionLimits, Connections, Token};
use axum::{
    Router,
    routing::{get, post},
};
use backend::{Backend, Origin, TerminalOptions};
use provider::Providers;
use reqwest::{Method, RequestBuilder, Response, redirect::Policy};
use runtime::{Host, HostOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::until_so;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

pub const TOKEN: &str = "the-right-token";
/// The console's own name.
pub const OWN_NAME: &str = "yoi-test.localhost";

pub struct Server {
    pub address: SocketAddr,
    pub backend: Backend,
    pub http: reqwest::Client,
    pub stop: watch::Sender<bool>,
    pub host: Host,
    toolbox: tools::Toolbox,
    serving: JoinHandle<()>,
    folder: TempDir,
}

impl Server {
    pub async fn start() -> Self {
        Self::start_with(tools::Toolbox::default()).await
    }

    /// With these tools available to its Pods.
    pub async fn start_with(toolbox: tools::Toolbox) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), toolbox).await
    }

    /// With these model providers.
    pub async fn start_asking(configs: Vec<provider::ProviderConfig>) -> Self {
        let providers = Providers::new(configs).unwrap();
        Self::start_of(tempfile::tempdir().unwrap(), tools::Toolbox::default(), providers).await
    }

    /// With terminals, in which this shell runs without any settings of the machine's.
    pub async fn start_with_terminals(shell: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let home = folder.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let path = std::env::var("PATH").unwrap();
        let environment =
            vec![variable("HOME", home.to_str().unwrap()), variable("PATH", &path), variable("PS1", "$ ")];
        let terminals = TerminalOptions { shell: shell.into(), environment, open_files: None };
        let providers = Providers::new(Vec::new()).unwrap();
        Self::start_made(folder, tools::Toolbox::default(), providers, Some(terminals)).await
    }

    /// Ends and starts again on the same store, at another port.
    pub async fn restart(self) -> Self {
        self.stop.send_replace(true);
        self.host.shutdown(Duration::from_secs(5)).await;
        self.serving.abort();
        let Self { folder, toolbox, .. } = self;
        Self::start_in(folder, toolbox).await
    }

    /// Ends. Nobody answers at its port any more.
    pub async fn end(self) {
        self.stop.send_replace(true);
        self.host.shutdown(Duration::from_secs(5)).await;
        self.serving.abort();
    }

    /// Restarts, with this Pod's state no longer readable.
    pub async fn restart_with_unreadable(self, pod: &str) -> Self {
        self.stop.send_replace(true);
        self.host.shutdown(Duration::from_secs(5)).await;
        self.serving.abort();
        let Self { folder, toolbox, .. } = self;
        let options = pod_store::StoreOptions::sqlite(folder.path().join("yoi.db"));
        let store = pod_store::Store::open(options).await.unwrap();
        let worker_id = pod.rsplit('/').next().unwrap().parse().unwrap();
        let row = store.pods().find(&worker_id).await.unwrap().unwrap();
        let checkpoint =
            pod_store::Checkpoint { state: row.state, open: false, json: "{\"torn".to_owned(), seq: row.head };
        let update = pod_store::PodUpdate { checkpoint: Some(checkpoint), ..Default::default() };
        let change = pod_store::PodChange { update: Some(update), ..pod_store::PodChange::of(row.key) };
        store.commit(pod_store::Batch { changes: vec![change], ..Default::default() }).await.unwrap();
        drop(store);
        Self::start_in(folder, toolbox).await
    }

    async fn start_in(folder: TempDir, toolbox: tools::Toolbox) -> Self {
        Self::start_of(folder, toolbox, Providers::new(Vec::new()).unwrap()).await
    }

    async fn start_of(folder: TempDir, toolbox: tools::Toolbox, providers: Providers) -> Self {
        Self::start_made(folder, toolbox, providers, None).await
    }

    async fn start_made(
        folder: TempDir,
        toolbox: tools::Toolbox,
        providers: Providers,
        terminals: Option<TerminalOptions>,
    ) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store =
            pod_store::Store::open(pod_store::StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
        let (cwd, outputs) = (folder.path().to_str().unwrap(), folder.path().join("outputs"));
        let profile = runtime::Profile { model: Some("scripted".to_owned()), ..runtime::Profile::default() };
        let options = HostOptions {
            toolbox: toolbox.clone(),
            profiles: [("reviewer".to_owned(), profile)].into(),
            ..HostOptions::of(store, providers, cwd, outputs)
        };
        let host = Host::start(options).await.unwrap();
        let backend = Backend::new(host.clone());
        let backend = match terminals {
            Some(terminals) => backend.with_terminals(terminals),
            None => backend,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, shutdown) = watch::channel(false);
        let connections = Connections::start(ConnectionLimits::default());
        let options = ApiOptions {
            token: Token::new(TOKEN),
            allowed: AllowedHosts::new(address, OWN_NAME, ["box.example".to_owned()]),
            server: "yoi 0.1.0".to_owned(),
            build: None,
            shutdown,
            connections: connections.clone(),
        };
        let api = Api::new(backend.clone(), options);
        let app = api.guard(api.router().merge(console()));
        // It ends abruptly with its task, as in a crash.
        let (never, stopped) = watch::channel(false);
        let serving = tokio::spawn(async move {
            api::serve(listener, app, connections, stopped).await.unwrap();
            drop(never);
        });
        let http = reqwest::Client::builder().redirect(Policy::none()).no_proxy();
        let http = http.resolve(OWN_NAME, address).build().unwrap();
        Self { address, backend, http, stop, host, toolbox, serving, folder }
    }

    /// The console's address, under its own name.
    pub fn console(&self) -> String {
        format!("http://{OWN_NAME}:{}", self.address.port())
    }

    /// A request to the console without a login.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.console())).timeout(Duration::from_secs(60))
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).bearer_auth(TOKEN)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    /// Creates a Pod of this name; returns its path.
    pub async fn pod(&self, name: &str) -> String {
        let (status, summary) = self.post("/api/v1/pods", json!({ "name": name })).await;
        assert_eq!(status, 201, "{summary}");
        pod_path(&summary["pod"])
    }

    /// Sends a message and waits until the Pod is in this state.
    pub async fn say_until(&self, pod: &str, text: &str, state: &str) {
        let body = json!({ "segments": [{ "type": "text", "text": text }] });
        let (status, receipt) = self.post(&format!("{pod}/input"), body).await;
        assert_eq!(status, 202, "{receipt}");
        self.until(pod, state).await;
    }

    /// Waits until the Pod is in this state.
    pub async fn until(&self, pod: &str, state: &str) {
        until_so(format!("{pod} is {state}"), async || self.get(pod).await.1["state"] == state).await;
    }

    /// All records of this kind, oldest first.
    pub async fn records(&self, pod: &str, kind: &str) -> Vec<Value> {
        let (_, page) = self.get(&format!("{pod}/transcript?limit=1000")).await;
        let records = page["items"].as_array().unwrap().iter();
        records.map(|record| record["event"].clone()).filter(|event| event["kind"] == kind).collect()
    }

    /// The audit's rows of this action, newest first: result and code.
    pub async fn audited(&self, action: &str) -> Vec<(String, String)> {
        let (_, page) = self.get("/api/v1/audit").await;
        let rows = page["items"].as_array().unwrap().iter().filter(|row| row["action"] == action);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        rows.map(|row| (text(&row["result"]), text(&row["code"]))).collect()
    }

    /// Sends a message and waits until its run has ended and the Pod is at rest.
    pub async fn say(&self, pod: &str, text: &str) {
        let body = json!({ "segments": [{ "type": "text", "text": text }] });
        let (status, receipt) = self.post(&format!("{pod}/input"), body).await;
        assert_eq!(status, 202, "{receipt}");
        let key = receipt["command_id"].as_str().unwrap().to_owned();
        until_so(format!("the run of {key} has ended"), async || {
            let (_, page) = self.get(&format!("{pod}/transcript?limit=1000")).await;
            let records = page["items"].as_array().unwrap();
            let started = records.iter().position(|record| record["event"]["command_id"] == *key);
            let ended = |records: &[Value]| records.iter().any(|record| record["event"]["kind"] == "run_finished");
            started.is_some_and(|at| ended(&records[at..]))
        })
        .await;
    }
}

/// How long this takes without disturbance: the shortest of several attempts.
pub async fn quickest_of(times: usize, work: impl AsyncFn()) -> Duration {
    let mut quickest = Duration::MAX;
    for _ in 0..times {
        let begun = Instant::now();
        work().await;
        quickest = quickest.min(begun.elapsed());
    }
    quickest
}

/// Status and code of an error; no code for anything else.
pub fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["code"].as_str().unwrap_or_default())
}

pub fn pod_path(pod: &Value) -> String {
    let part = |name: &str| pod[name].as_str().unwrap().to_owned();
    format!("/api/v1/runtimes/{}/workers/{}", part("runtime_id"), part("worker_id"))
}

pub async fn answer(request: RequestBuilder) -> (u16, Value) {
    json_of(request.send().await.unwrap()).await
}

pub async fn json_of(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let is_problem = response.headers().get("content-type").is_some_and(|kind| kind == "application/problem+json");
    // `/readyz` uses 503 to say what is missing, which is not an error.
    assert!(status == 503 || is_problem == (status >= 400), "{status} {:?}", response.headers());
    let body = response.bytes().await.unwrap();
    let value: Value = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    if is_problem {
        assert_eq!(value["status"], status);
        for field in ["type", "title", "code", "detail"] {
            assert!(value[field].is_string(), "{field} of {value}");
        }
    }
    (status, value)
}

/// What the pages of the console do, as far as the guard is concerned.
fn console() -> Router {
    let whose = async |origin: Option<axum::Extension<Origin>>| match origin {
        Some(axum::Extension(origin)) => format!("{} by {}", origin.by, origin.client),
        None => "nobody".to_owned(),
    };
    Router::new()
        .route("/", get(whose))
        .route("/login", get(whose))
        .route("/pkg/x.css", get(async || "css"))
        .route("/fn/touch", post(async |body: String| body).get(async || "got"))
        .route("/panic", get(async || -> &'static str { panic!("on purpose") }))
        .fallback(async || axum::http::StatusCode::NOT_FOUND)
}
