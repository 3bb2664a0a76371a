//! A model server with scripted answers, on the protocols of OpenAI (chat completions and the Responses API) and
//! Anthropic.
//!
//! On any other path `Step::Raw` and `Step::Text` are sent unchanged, for protocols that a test writes by itself.
//! It listens on a free local port, answers each request with the next answer of a queue, and records the requests.
//! It can pause, cut off or stall an answer, and reports when a client disconnects.

mod answer;
mod wire;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

pub use self::answer::{Answer, Step, Tokens};
use self::wire::{Piece, Wire};

/// The largest request that is read, in bytes.
const QUESTION_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The server; it stops when this is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// A recorded request.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    /// The answer when the queue is empty.
    fallback: Mutex<Option<Answer>>,
    /// A larger request, in bytes, gets this answer.
    room: Mutex<Option<(usize, Answer)>>,
    /// A request that contains these words gets that answer.
    refusals: Mutex<Vec<(String, Answer)>>,
    models: Mutex<Vec<String>>,
    questions: watch::Sender<Vec<Question>>,
    /// How many clients disconnected before their answer was complete.
    disconnects: watch::Sender<usize>,
}

impl ScriptedModel {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// If this machine has no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared { models: Mutex::new(vec!["scripted".to_owned()]), ..Shared::default() });
        let router = Router::new()
            .route("/v1/chat/completions", post(open_ai))
            .route("/v1/responses", post(responses))
            .route("/v1/messages", post(anthropic))
            .route("/v1/models", get(models))
            .fallback(raw)
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            let Err(error) = axum::serve(listener, router).await else { return };
            eprintln!("the scripted model stopped: {error}");
        });
        Self { address, shared, server }
    }

    /// For a provider of kind `openai` or `openai-compatible`, and for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// For a provider of kind `anthropic`, and for `ANTHROPIC_BASE_URL`.
    pub fn anthropic_base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds an answer to the end of the queue.
    pub fn push(&self, answer: Answer) {
        lock(&self.shared.answers).push_back(answer);
    }

    /// The answer to every request for which the queue is empty. Without it they are refused with 400.
    pub fn otherwise(&self, answer: Answer) {
        *lock(&self.shared.fallback) = Some(answer);
    }

    /// Simulates a context of this many bytes: a longer request, including its tools, gets this answer and none from
    /// the queue.
    pub fn set_room(&self, bytes_max: usize, beyond: Answer) {
        *lock(&self.shared.room) = Some((bytes_max, beyond));
    }

    /// A request that contains these words gets this answer and none from the queue.
    pub fn refuse_where(&self, words: &str, answer: Answer) {
        lock(&self.shared.refusals).push((words.to_owned(), answer));
    }

    /// Removes all refusals by words.
    pub fn refuse_nothing(&self) {
        lock(&self.shared.refusals).clear();
    }

    /// The models listed by `GET /v1/models`; initially `scripted`.
    pub fn set_models(&self, models: &[&str]) {
        *lock(&self.shared.models) = models.iter().map(|&model| model.to_owned()).collect();
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Question> {
        self.shared.questions.borrow().clone()
    }

    /// Waits until at least `count` requests were received.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Question> {
        let mut questions = self.shared.questions.subscribe();
        let found = questions.wait_for(|questions| questions.len() >= count).await;
        found.expect("the server holds the other end").clone()
    }

    /// Waits until a client has disconnected before its answer was complete.
    pub async fn wait_for_disconnect(&self) {
        self.wait_for_disconnects(1).await;
    }

    /// Waits until this many clients have.
    pub async fn wait_for_disconnects(&self, count: usize) {
        let mut disconnects = self.shared.disconnects.subscribe();
        disconnects.wait_for(|disconnects| *disconnects >= count).await.expect("the server holds the other end");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn refusal(&self, question: &[u8]) -> Option<Answer> {
        let text = String::from_utf8_lossy(question);
        let said = |(words, _): &&(String, Answer)| text.contains(words.as_str());
        let beyond =
            lock(&self.room).as_ref().filter(|(room, _)| question.len() > *room).map(|(_, answer)| answer.clone());
        beyond.or_else(|| lock(&self.refusals).iter().find(said).map(|(_, answer)| answer.clone()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn models(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let models: Vec<_> = lock(&shared.models).iter().map(|id| json!({ "id": id, "object": "model" })).collect();
    Json(json!({ "object": "list", "data": models }))
}

async fn open_ai(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    answer(shared, request, Wire::open_ai).await
}

async fn responses(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    answer(shared, request, Wire::responses).await
}

async fn anthropic(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    answer(shared, request, Wire::anthropic).await
}

async fn raw(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    answer(shared, request, Wire::raw).await
}

async fn answer(shared: Arc<Shared>, request: Request, wire: fn(&Value, &Answer) -> Wire) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, QUESTION_BYTES_MAX).await.unwrap_or_default();
    let refusal = shared.refusal(&body);
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let question = Question { path: head.uri.path().to_owned(), headers: head.headers, body: body.clone() };
    // The answer is taken before the request becomes visible, so that a test which waits for requests knows which one
    // got which answer.
    let next = || lock(&shared.answers).pop_front().or_else(|| lock(&shared.fallback).clone());
    let next = refusal.or_else(next);
    shared.questions.send_modify(|questions| questions.push(question));
    let Some(answer) = next else {
        let error = json!({ "error": { "message": "the test wrote no answer for this question" } });
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    };
    let mut response = match answer.body.clone() {
        Some(body) => Response::new(Body::from(body)),
        None => spoken(wire(&body, &answer), &shared),
    };
    *response.status_mut() = answer.status;
    response.headers_mut().extend(answer.headers);
    response
}

fn spoken(wire: Wire, shared: &Arc<Shared>) -> Response {
    let presence = Presence { shared: Arc::clone(shared), is_complete: false };
    let pieces = stream::unfold((wire, presence), |(mut wire, mut presence)| async move {
        let piece = wire.next().await;
        // A client may disconnect right after the last byte.
        presence.is_complete = wire.is_over() || matches!(piece, Some(Piece::Cut));
        let bytes = match piece? {
            Piece::Bytes(bytes) => Ok(bytes),
            // An error in the middle of a body makes the server close the connection.
            Piece::Cut => Err(std::io::Error::other("cut, as the test wrote")),
        };
        Some((bytes, (wire, presence)))
    });
    let body = Body::from_stream(pieces);
    let headers = [("content-type", "text/event-stream"), ("cache-control", "no-cache")];
    (headers, body).into_response()
}

/// Dropped with the answer: before completion if the client has disconnected.
#[derive(Debug)]
struct Presence {
    shared: Arc<Shared>,
    is_complete: bool,
}

impl Drop for Presence {
    fn drop(&mut self) {
        if !self.is_complete {
            self.shared.disconnects.send_modify(|disconnects| *disconnects += 1);
        }
    }
}
