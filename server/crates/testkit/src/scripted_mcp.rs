//! A server of the Model Context Protocol that does what a test wrote for it, over HTTP on a free port of this machine.
//!
//! It speaks the revision 2025-11-25, without sessions: each request has its own answer, and a call that asks or
//! reports something meanwhile is answered with a stream of events.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Json, State},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::scripted_oauth::{self, ScriptedOauth};

/// The server. It stops when this is dropped.
#[derive(Debug)]
pub struct ScriptedMcp {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    tools: Mutex<Vec<Value>>,
    is_away: AtomicBool,
    /// Who gives the tokens without which nothing is answered.
    oauth: Option<Arc<ScriptedOauth>>,
    /// All requests that arrived.
    heard: watch::Sender<Vec<Value>>,
}

impl ScriptedMcp {
    /// Starts the server with the tools `echo` and `write`, which return their `message`; `ask`, which asks a person for a `name`
    /// and says it; `steps`, which reports its progress, and with `then: "hang"` never answers; `hang`, which never
    /// answers; `fail` and `picture`.
    ///
    /// # Panics
    /// Panics if this machine has no free port.
    pub async fn start() -> Self {
        Self::start_with(false).await
    }

    /// Starts the server behind a login. What it lists needs the scope `read`, and calls of `write` that of `write`.
    ///
    /// # Panics
    /// Panics if this machine has no free port.
    pub async fn start_locked() -> Self {
        Self::start_with(true).await
    }

    /// Returns the authorization server of one that was started locked.
    ///
    /// # Panics
    /// Panics if it was not.
    pub fn oauth(&self) -> &ScriptedOauth {
        self.shared.oauth.as_ref().expect("it was started locked")
    }

    async fn start_with(is_locked: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        let tools =
            ["echo", "ask", "steps", "hang", "fail", "picture", "write"].map(|name| tool(name, "does as it is called"));
        let shared = Arc::new(Shared {
            tools: Mutex::new(tools.to_vec()),
            oauth: is_locked.then(|| Arc::new(ScriptedOauth::new(format!("http://{address}")))),
            ..Shared::default()
        });
        let router = Router::new().route("/mcp", post(answer)).with_state(shared.clone());
        let router = match &shared.oauth {
            Some(oauth) => router.merge(scripted_oauth::routes(oauth.clone())),
            None => router,
        };
        let server =
            tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves until it is dropped") });
        Self { address, shared, server }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Sets the tools that it lists from now on.
    pub fn list(&self, tools: Vec<Value>) {
        *self.shared.tools() = tools;
    }

    /// Makes it answer with nothing but errors from now on, or ends that.
    pub fn is_away(&self, is_away: bool) {
        self.shared.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Waits until this method was requested this many times, and returns the matching requests.
    pub async fn asked(&self, method: &str, count: usize) -> Vec<Value> {
        let mut heard = self.shared.heard.subscribe();
        let of = |all: &Vec<Value>| all.iter().filter(|one| one["method"] == method).cloned().collect::<Vec<_>>();
        let what = format!("{method} was asked for {count} times");
        let all = crate::within(what, heard.wait_for(|all| of(all).len() >= count)).await;
        of(&all.expect("the server lives as long as the test"))
    }

    /// Returns how often this method was requested so far.
    pub fn count(&self, method: &str) -> usize {
        self.shared.heard.borrow().iter().filter(|one| one["method"] == method).count()
    }
}

impl Drop for ScriptedMcp {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn tools(&self) -> MutexGuard<'_, Vec<Value>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns one tool of a list.
pub fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, Json(message): Json<Value>) -> Response {
    shared.heard.send_modify(|all| all.push(message.clone()));
    if shared.is_away.load(Ordering::SeqCst) {
        return (StatusCode::SERVICE_UNAVAILABLE, "away").into_response();
    }
    let scope = if message["params"]["name"] == "write" { "write" } else { "read" };
    if let Some(refusal) = shared.oauth.as_ref().and_then(|oauth| oauth.refusal(&headers, scope)) {
        return refusal;
    }
    let Some(method) = message["method"].as_str() else { return StatusCode::ACCEPTED.into_response() };
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "completions": {} },
            "serverInfo": { "name": "scripted", "version": "1" },
        }),
        "tools/list" => json!({ "tools": *shared.tools() }),
        "prompts/list" => json!({ "prompts": [{
            "name": "review",
            "description": "Asks for a review",
            "arguments": [{ "name": "file", "required": true }, { "name": "tone" }],
        }] }),
        "prompts/get" => {
            let arguments = &message["params"]["arguments"];
            let text = format!("Review {} in a {} tone.", arguments["file"], arguments["tone"]);
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] })
        }
        "resources/list" => json!({ "resources": [
            { "uri": "note://1", "name": "notes", "mimeType": "text/markdown" },
            { "uri": "note://2", "name": "picture", "mimeType": "image/gif" },
        ] }),
        "resources/read" if message["params"]["uri"] == "note://2" => json!({ "contents": [
            { "uri": "note://2", "mimeType": "image/gif", "blob": "R0lGODlhAQABAAAAADs=" },
        ] }),
        "resources/templates/list" => json!({ "resourceTemplates": [
            { "uriTemplate": "log://{day}/{name}", "name": "logs", "mimeType": "text/plain" },
        ] }),
        "completion/complete" => {
            let (argument, context) = (&message["params"]["argument"], &message["params"]["context"]);
            let begun = argument["value"].as_str().unwrap_or_default();
            let all = match (argument["name"].as_str(), context["arguments"]["day"].as_str()) {
                (Some("day"), _) => vec!["monday".to_owned(), "saint monday".to_owned(), "tuesday".to_owned()],
                (_, Some(day)) => vec![format!("of {day}")],
                _ => Vec::new(),
            };
            let values: Vec<_> = all.into_iter().filter(|value| value.starts_with(begun)).collect();
            json!({ "completion": { "values": values } })
        }
        "resources/read" if message["params"]["uri"].as_str().is_some_and(|uri| uri.starts_with("log://")) => {
            let uri = &message["params"]["uri"];
            json!({ "contents": [{ "uri": uri, "text": format!("The log at {uri}.") }] })
        }
        "resources/read" => json!({ "contents": [{ "uri": "note://1", "text": "Buy milk.\u{202e}" }] }),
        "tools/call" => return call(shared, message),
        _ if message.get("id").is_none() => return StatusCode::ACCEPTED.into_response(),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Json(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).into_response();
        }
    };
    Json(answered(&message, result)).into_response()
}

fn answered(message: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

/// A stream of events that ends with the result.
fn call(shared: Arc<Shared>, message: Value) -> Response {
    let (events, received) = mpsc::channel::<Value>(8);
    tokio::spawn(async move {
        // The caller may have gone away.
        if let Some(result) = perform(&shared, &message, &events).await {
            let _ = events.send(answered(&message, result)).await;
        } else {
            events.closed().await;
        }
    });
    let events = stream::unfold(received, |mut received| async { Some((received.recv().await?, received)) });
    let body = events.map(|event| Ok::<_, Infallible>(format!("event: message\ndata: {event}\n\n")));
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

/// Returns `None` where there is no answer.
async fn perform(shared: &Shared, message: &Value, events: &mpsc::Sender<Value>) -> Option<Value> {
    let (name, arguments) = (message["params"]["name"].as_str()?, &message["params"]["arguments"]);
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    Some(match name {
        "ask" => {
            let schema =
                json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
            let params = json!({ "message": "Who are you?", "requestedSchema": schema });
            let asked = json!({ "jsonrpc": "2.0", "id": "who", "method": "elicitation/create", "params": params });
            let mut heard = shared.heard.subscribe();
            let is_answer = |one: &&Value| one["id"] == "who" && one.get("method").is_none();
            let answers = |all: &Vec<Value>| all.iter().filter(is_answer).count();
            let before = answers(&heard.borrow());
            events.send(asked).await.ok()?;
            let all = heard.wait_for(|all| answers(all) > before).await.ok()?;
            let answer = all.iter().rev().find(is_answer)?;
            text(&format!("{} {}", answer["result"]["action"], answer["result"]["content"]["name"]))
        }
        "steps" => {
            for step in 1..=3 {
                let token = &message["params"]["_meta"]["progressToken"];
                let params = json!({ "progressToken": token, "progress": step, "total": 3, "message": "on its way" });
                let event = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                events.send(event).await.ok()?;
            }
            if arguments["then"] == "hang" {
                return None;
            }
            text("all steps are done")
        }
        "hang" => return None,
        "fail" => json!({ "content": [{ "type": "text", "text": "it cannot be done" }], "isError": true }),
        "picture" => {
            let image = json!({ "type": "image", "mimeType": "image/gif", "data": "R0lGODlhAQABAAAAADs=" });
            json!({ "content": [image] })
        }
        _ => text(&format!("echo: {}", arguments["message"].as_str().unwrap_or_default())),
    })
}
