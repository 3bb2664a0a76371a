//! A client's session with the server: begun by its handshake, and begun again if the server has forgotten it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use client::{Client, ClientError, McpAnswer, McpVerb};
use protocol::CommandId;
use serde_json::Value;
use tokio::{
    sync::{Mutex as Turn, mpsc},
    task::AbortHandle,
};
use tokio_util::sync::CancellationToken;

use super::message::{self, Message};

/// How long to keep trying an unreachable server before a request is given up.
const AWAY_MAX: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(300);
/// How often one request is sent again after an incomplete answer or a lost session.
const ASKED_MAX: u32 = 5;
/// How many resource subscriptions are restored after a restart.
const FOLLOWED_MAX: usize = 64;

/// To the client the session is its handshake; to the server it is an id that may be forgotten.
pub(super) struct Session {
    client: Client,
    answers: mpsc::Sender<String>,
    /// Unique to this process: its requests' keys begin with it.
    key: String,
    known: Mutex<Known>,
    /// Only one task renews the session.
    turn: Turn<()>,
}

#[derive(Default)]
struct Known {
    /// The handshake, as the client sent it.
    opening: Option<Message>,
    id: Option<String>,
    /// The negotiated version.
    version: Option<String>,
    /// The task that relays messages which belong to no request.
    listening: Option<AbortHandle>,
    followed: BTreeSet<String>,
    /// Requests in progress that can be cancelled, by id.
    under_way: HashMap<String, CancellationToken>,
}

/// The outcome of a request.
enum Asked {
    Answered,
    /// The server does not know the session, which is the one used.
    Forgotten(Option<String>),
    /// The server is unreachable, or the answer was incomplete.
    Lost(String),
    Refused(String),
}

impl Session {
    pub(super) fn new(client: Client, answers: mpsc::Sender<String>) -> Self {
        let key = format!("bridge-{}", CommandId::random());
        Self { client, answers, key, known: Mutex::default(), turn: Turn::default() }
    }

    /// Relays a message and its answer.
    pub(super) async fn pass_on(&self, message: Message) {
        if let Some(taken_back) = &message.cancels
            && let Some(under_way) = self.known().under_way.get(taken_back)
            && message.version.is_some()
        {
            // Without a session, a request is cancelled by closing its connection.
            under_way.cancel();
            return;
        }
        let Some(id) = message.id.clone() else {
            self.settle(&message).await;
            return;
        };
        let stopped = CancellationToken::new();
        self.known().under_way.insert(id.clone(), stopped.clone());
        tokio::select! {
            () = self.settle(&message) => (),
            () = stopped.cancelled() => (),
        }
        self.known().under_way.remove(&id);
    }

    /// Sends a request until it is answered, within limits; a request always gets an answer.
    async fn settle(&self, message: &Message) {
        let began = Instant::now();
        let mut asked = 0;
        let why = loop {
            asked += 1;
            let why = match self.ask(message).await {
                Asked::Answered => return,
                Asked::Refused(sentence) => break sentence,
                Asked::Forgotten(before) => match self.begin_anew(before).await {
                    Ok(()) => "no new session could be started".to_owned(),
                    Err(why) => why,
                },
                Asked::Lost(why) => why,
            };
            if asked >= ASKED_MAX && began.elapsed() >= AWAY_MAX || began.elapsed() >= AWAY_MAX * 2 {
                break why;
            }
            tokio::time::sleep(RETRY).await;
        };
        match &message.id {
            Some(id) => self.say(message::error(id, -32_000, &why)).await,
            None => eprintln!("yoi mcp: a message was not passed on: {why}"),
        }
    }

    async fn ask(&self, message: &Message) -> Asked {
        let session = match message.is_opening() || message.version.is_some() {
            true => None,
            false => self.known().id.clone(),
        };
        let headers = self.headers(message, session.as_deref());
        let answer = match self.client.mcp(McpVerb::Post, &headers, Some(message.text.clone())).await {
            Ok(answer) => answer,
            Err(error @ ClientError::NoServer { .. }) => return Asked::Lost(error.to_string()),
            Err(error) => return Asked::Refused(error.to_string()),
        };
        match answer.status {
            404 if session.is_some() => Asked::Forgotten(session),
            // The server is shutting down or starting.
            502..=504 => Asked::Lost(format!("the server answers with status {}", answer.status)),
            _ => self.pass_back(message, answer).await,
        }
    }

    fn headers(&self, message: &Message, session: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = vec![("accept", "application/json, text/event-stream".to_owned())];
        let version = message.version.clone().or_else(|| session.and_then(|_| self.known().version.clone()));
        headers.extend(version.map(|version| ("mcp-protocol-version", version)));
        headers.extend(session.map(|id| ("mcp-session-id", id.to_owned())));
        if message.version.is_some() {
            headers.extend(message.method.clone().map(|method| ("mcp-method", method)));
            // A name with such characters cannot be in a header; the server reports what is missing.
            let fits = |name: &String| name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            headers.extend(message.name.clone().filter(fits).map(|name| ("mcp-name", name)));
        }
        let id = message.id.as_deref().map(|id| id.trim_matches('"')).filter(|id| id.len() <= 64 && id.is_ascii());
        headers.extend(id.map(|id| ("idempotency-key", format!("{}-{id}", self.key))));
        headers
    }

    /// Passes messages to the client until its answer has arrived.
    async fn pass_back(&self, message: &Message, mut answer: McpAnswer) -> Asked {
        let is_refused = answer.status >= 400;
        let session = answer.session.take();
        let mut is_answered = message.id.is_none();
        loop {
            let said = match answer.next().await {
                Ok(Some(said)) => said,
                Ok(None) => break,
                Err(error) => return Asked::Lost(error.to_string()),
            };
            let Ok(read) = serde_json::from_str::<Value>(&said) else { continue };
            let is_of_it = message.id.as_deref() == Some(&read["id"].to_string());
            if is_refused && !is_of_it {
                return refused(message, &read).map_or_else(|| Asked::Refused(said), Asked::Refused);
            }
            if is_of_it && read.get("method").is_none() {
                is_answered = true;
                self.learn(message, session.clone(), &read).await;
            }
            self.say(said).await;
        }
        match is_answered {
            true => Asked::Answered,
            false if is_refused => Asked::Refused(format!("the server answers with status {}", answer.status)),
            false => Asked::Lost("the answer did not come".to_owned()),
        }
    }

    /// Learns from an answer about the session.
    async fn learn(&self, message: &Message, session: Option<String>, answer: &Value) {
        if message.is_opening() && answer.get("result").is_some() {
            let mut known = self.known();
            known.opening = Some(message.clone());
            known.id = session;
            known.version = answer["result"]["protocolVersion"].as_str().map(str::to_owned);
            drop(known);
            self.listen();
        }
        let uri = || message.name.clone().unwrap_or_default();
        match message.method.as_deref() {
            Some("resources/subscribe") if self.known().followed.len() < FOLLOWED_MAX => {
                self.known().followed.insert(uri());
            }
            Some("resources/unsubscribe") => drop(self.known().followed.remove(&uri())),
            _ => (),
        }
    }

    /// The server has forgotten the session: repeats the handshake, and tells the client that things may have
    /// changed.
    async fn begin_anew(&self, before: Option<String>) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        if self.known().id != before {
            return Ok(());
        }
        let opening = self.known().opening.clone().ok_or("send `initialize` first")?;
        let headers = self.headers(&opening, None);
        let sent = self.client.mcp(McpVerb::Post, &headers[..1], Some(opening.text.clone()));
        let mut answer = sent.await.map_err(|error| error.to_string())?;
        let session = answer.session.take();
        while let Ok(Some(said)) = answer.next().await {
            let read: Value = serde_json::from_str(&said).unwrap_or_default();
            if read.get("result").is_some() {
                self.learn(&opening, session.clone(), &read).await;
            }
        }
        let now = self.known().id.clone().filter(|now| Some(now) != before.as_ref());
        let Some(now) = now else { return Err("the server began no new session".to_owned()) };
        let followed = self.known().followed.clone();
        let told = [r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()];
        let follow = followed.iter().enumerate().map(|(at, uri)| {
            let params = serde_json::json!({ "uri": uri });
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"again-{at}\",\"method\":\"resources/subscribe\",\"params\":{params}}}"
            )
        });
        for text in told.into_iter().chain(follow) {
            let Ok(message) = Message::parse(text) else { continue };
            let headers = self.headers(&message, Some(&now));
            let _ = self.client.mcp(McpVerb::Post, &headers, Some(message.text)).await;
        }
        eprintln!("yoi mcp: the server had forgotten this session; it continues in a new one");
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#.to_owned()).await;
        Ok(())
    }

    /// Relays messages that belong to no request, as long as this session lasts.
    fn listen(&self) {
        let mut known = self.known();
        let Some(id) = known.id.clone() else { return };
        let (client, answers) = (self.client.clone(), self.answers.clone());
        let mut headers = vec![("accept", "text/event-stream".to_owned()), ("mcp-session-id", id)];
        headers.extend(known.version.clone().map(|version| ("mcp-protocol-version", version)));
        let listening = tokio::spawn(async move {
            loop {
                match client.mcp(McpVerb::Get, &headers, None).await {
                    Ok(mut answer) if answer.status == 200 => {
                        while let Ok(Some(said)) = answer.next().await {
                            if answers.send(said).await.is_err() {
                                return;
                            }
                        }
                    }
                    // The next request notices and renews the session.
                    Ok(_) => return,
                    Err(_) => (),
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        if let Some(before) = known.listening.replace(listening.abort_handle()) {
            before.abort();
        }
    }

    /// Input has ended: ends the session.
    pub(super) async fn end(&self) {
        let (id, listening) = {
            let mut known = self.known();
            (known.id.take(), known.listening.take())
        };
        if let Some(listening) = listening {
            listening.abort();
        }
        if let Some(id) = id {
            let headers = [("mcp-session-id", id)];
            let ended = self.client.mcp(McpVerb::Delete, &headers, None);
            let _ = tokio::time::timeout(Duration::from_secs(1), ended).await;
        }
    }

    async fn say(&self, message: String) {
        // Fails when nobody reads any more because the program is ending.
        let _ = self.answers.send(message).await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sentence of a refusal, from JSON-RPC or from the API's problem document.
fn refused(message: &Message, said: &Value) -> Option<String> {
    let sentence = said["error"]["message"].as_str().or_else(|| said["detail"].as_str())?;
    let hint = match said["code"].as_str() {
        Some("unauthorized") => ": set YOI_TOKEN, or name the server's folder with --data",
        _ => "",
    };
    let what = message.method.as_deref().unwrap_or("an answer");
    Some(format!("{what}: {sentence}{hint}"))
}
