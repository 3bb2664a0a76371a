//! Starts an agent, asks for its capabilities, and opens its Pod's session.

use std::time::Duration;

use agent_client_protocol::v1::schema::SessionNotification;
use pod::{AgentPiece, Scope};
use protocol::NetworkPolicy;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    offers::{Offered, Setter},
    process::Process,
    registry::Inner,
    terminals::Terminals,
    translate::Translator,
    turn::{Begin, Entrance, Said},
    wire::{Closed, Fault, Message, Wire, cut},
};

/// Generous: some programs are slow to start.
const START_MAX: Duration = Duration::from_secs(90);
/// Loading a session replays all of it, which takes a while if it is long.
const LOAD_MAX: Duration = Duration::from_secs(180);
const SET_MAX: Duration = Duration::from_secs(20);
/// The version of the protocol that yoi speaks.
const VERSION: u64 = 1;
/// The error code of an agent that wants its user to log in.
const LOGIN_NEEDED: i64 = -32_000;

/// An agent that is running and has a session.
pub(crate) struct Connected {
    pub(crate) process: Process,
    pub(crate) wire: Wire,
    pub(crate) session_id: String,
    pub(crate) offered: Offered,
    pub(crate) translator: Translator,
    pub(crate) terminals: Terminals,
    pub(crate) takes_pictures: bool,
    /// Nothing has been said in this session yet.
    pub(crate) is_new: bool,
    /// What it is confined to; `None` if it is free.
    walls: Option<Walls>,
}

/// What a confined process may reach, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Walls {
    scope: Scope,
    network: NetworkPolicy,
}

impl Walls {
    fn of(begin: &Begin) -> Self {
        Self { scope: begin.scope.clone(), network: begin.network }
    }
}

/// Why there is no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Failure {
    fn start(detail: impl Into<String>) -> Self {
        Self { code: "agent_unavailable", detail: detail.into() }
    }
}

/// The capabilities that an agent announces.
struct Abilities {
    title: Option<String>,
    version: Option<String>,
    loads: bool,
    resumes: bool,
    takes_pictures: bool,
    takes_http: bool,
}

impl Abilities {
    fn of(answer: &Value) -> Self {
        let at = |path: &str| answer.pointer(path);
        let is = |path: &str| at(path).and_then(Value::as_bool).unwrap_or_default();
        let text = |path: &str| at(path).and_then(Value::as_str).map(|text| cut(text, 100));
        Self {
            title: text("/agentInfo/title").or_else(|| text("/agentInfo/name")),
            version: text("/agentInfo/version"),
            loads: is("/agentCapabilities/loadSession"),
            resumes: at("/agentCapabilities/sessionCapabilities/resume").is_some_and(|resume| !resume.is_null()),
            takes_pictures: is("/agentCapabilities/promptCapabilities/image"),
            takes_http: is("/agentCapabilities/mcpCapabilities/http"),
        }
    }
}

/// Starts the agent. Returns the connection and the pieces to report.
pub(crate) async fn connect(inner: &Inner, begin: &Begin) -> Result<(Connected, Vec<Said>), Failure> {
    let (starting, program) = inner.starting(&begin.agent).map_err(Failure::start)?;
    let entrance = match inner.door() {
        Some(door) => door.open(&begin.worker_id).await,
        None => None,
    };
    let started = Process::start(&starting, &program, begin, entrance.as_ref()).await;
    let (mut process, mut wire) =
        started.map_err(|why| Failure::start(format!("the agent {} could not be started: {why}", begin.agent)))?;
    let entrance = entrance.map(|entrance| Entrance { url: process.address_of(&entrance), ..entrance });
    let mut greeting = Greeting { wire: &mut wire, offered: Offered::default(), login: starting.login };
    match greeting.session(begin, entrance).await {
        Ok(Opened { session_id, abilities, is_new, mut said }) => {
            let offered = greeting.offered;
            let Abilities { title, version, takes_pictures, .. } = abilities;
            let agent = begin.agent.clone();
            let first = AgentPiece::Started { agent, title, version, session_id: session_id.clone(), resumed: !is_new };
            said.insert(0, first.into());
            said.push(AgentPiece::Offers(offered.value()).into());
            said.extend(offered.mode.clone().map(|mode| AgentPiece::Mode(mode).into()));
            let (translator, terminals) = (Translator::new(begin.spent), Terminals::default());
            let walls = starting.config.confine.then(|| Walls::of(begin));
            let connected =
                Connected { process, wire, session_id, offered, translator, terminals, takes_pictures, is_new, walls };
            Ok((connected, said))
        }
        Err(failure) => {
            let ending = if failure.is_end { process.ending().await } else { None };
            let words = process.last_words().filter(|_| failure.is_end);
            process.end().await;
            let parts = [Some(failure.failure.detail), ending, words].into_iter().flatten().collect::<Vec<_>>();
            Err(Failure { code: failure.failure.code, detail: parts.join("; ") })
        }
    }
}

/// Why the handshake failed. `is_end`: the process may have ended by itself.
struct Broken {
    failure: Failure,
    is_end: bool,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, is_end: false }
    }
}

struct Opened {
    session_id: String,
    abilities: Abilities,
    is_new: bool,
    said: Vec<Said>,
}

/// The handshake with an agent.
struct Greeting<'a> {
    wire: &'a mut Wire,
    offered: Offered,
    login: Option<&'static str>,
}

impl Greeting<'_> {
    async fn session(&mut self, begin: &Begin, entrance: Option<Entrance>) -> Result<Opened, Broken> {
        let answer = self.asked("initialize", &introduction(), START_MAX).await?;
        let answer = answer.map_err(|fault| self.refused("initialize", &fault))?;
        let version = answer.get("protocolVersion").and_then(Value::as_u64);
        if version != Some(VERSION) {
            let theirs = version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
            let detail = format!(
                "the agent {} speaks {theirs} of the Agent Client Protocol, and yoi version {VERSION}; another release of it may fit",
                begin.agent
            );
            return Err(Failure::start(detail).into());
        }
        let abilities = Abilities::of(&answer);
        self.offered.offers.forgets = !abilities.loads && !abilities.resumes;
        let mut said = Vec::new();
        let servers = servers(entrance, &abilities);
        let asked = json!({ "cwd": begin.cwd, "mcpServers": servers });
        if let Some(session_id) = self.again(begin, &abilities, &asked, &mut said).await? {
            return Ok(Opened { session_id, abilities, is_new: false, said });
        }
        let answer = self.asked("session/new", &asked, START_MAX).await?;
        let answer = answer.map_err(|fault| self.refused("session/new", &fault))?;
        let session_id = answer.get("sessionId").and_then(Value::as_str).filter(|id| !id.is_empty() && id.len() <= 500);
        let session_id = session_id.ok_or_else(|| Failure::start("the agent gave its session no id"))?.to_owned();
        self.offered.take_session(&answer);
        Ok(Opened { session_id, abilities, is_new: true, said })
    }

    /// Continues the earlier session. Returns `None` if that is not possible, and reports why.
    async fn again(
        &mut self,
        begin: &Begin,
        abilities: &Abilities,
        asked: &Value,
        said: &mut Vec<Said>,
    ) -> Result<Option<String>, Broken> {
        let Some(session_id) = &begin.session else { return Ok(None) };
        let mut asked = asked.clone();
        asked["sessionId"] = json!(session_id);
        let method = match (abilities.loads, abilities.resumes) {
            (true, _) => "session/load",
            (false, true) => "session/resume",
            (false, false) => {
                let text =
                    "this agent cannot load a session: it begins a new one, and knows nothing of what was said before";
                said.push(AgentPiece::Alert(text.to_owned()).into());
                return Ok(None);
            }
        };
        match self.asked(method, &asked, LOAD_MAX).await? {
            Ok(answer) => {
                self.offered.take_session(&answer);
                Ok(Some(session_id.clone()))
            }
            Err(fault) if fault.code == LOGIN_NEEDED => Err(self.refused(method, &fault).into()),
            Err(fault) => {
                let text = format!(
                    "the agent could not load its session ({}): it begins a new one, and knows nothing of what was said before",
                    fault.message
                );
                said.push(AgentPiece::Alert(text).into());
                Ok(None)
            }
        }
    }

    /// Sends a request and waits for its answer. Notifications that arrive meanwhile repeat what was said before, so
    /// they are ignored, except for those about what can be chosen now.
    async fn asked(&mut self, method: &str, params: &Value, limit: Duration) -> Result<Result<Value, Fault>, Broken> {
        let talk = async {
            let id = self.wire.request(method, params).await?;
            loop {
                match self.wire.next().await? {
                    Message::Response { id: answered, result } if answered == id => return Ok(result),
                    Message::Response { .. } => (),
                    Message::Notification { method, params } => note(&mut self.offered, &method, params),
                    Message::Request { id, method, .. } => {
                        self.wire.respond(&id, Err(Fault::unknown_method(&method))).await?;
                    }
                }
            }
        };
        match timeout(limit, talk).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(closed)) => {
                let why = match closed {
                    Closed::End => format!("the agent ended before it answered {method}"),
                    Closed::Broken(why) => why,
                };
                Err(Broken { failure: Failure::start(why), is_end: true })
            }
            Err(_) => {
                let detail = format!("the agent did not answer {method} in {} s", limit.as_secs());
                Err(Broken { failure: Failure::start(detail), is_end: true })
            }
        }
    }

    fn refused(&self, method: &str, fault: &Fault) -> Failure {
        refusal(self.login, method, fault)
    }
}

/// Describes yoi's own tools as an MCP server with a token for this Pod alone: over HTTP, or through yoi itself on
/// standard input and output.
fn servers(entrance: Option<Entrance>, abilities: &Abilities) -> Value {
    let Some(Entrance { url, token }) = entrance else { return json!([]) };
    if abilities.takes_http {
        let header = json!({ "name": "Authorization", "value": format!("Bearer {token}") });
        return json!([{ "type": "http", "name": "yoi", "url": url, "headers": [header] }]);
    }
    let Ok(program) = std::env::current_exe() else { return json!([]) };
    let server = url.strip_suffix("/mcp").unwrap_or(&url);
    let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
    let variables = [variable("YOI_SERVER", server), variable("YOI_TOKEN", &token)];
    json!([{ "name": "yoi", "command": program, "args": ["mcp"], "env": variables }])
}

/// Turns an agent's error into the failure that its Pod reports.
pub(crate) fn refusal(login: Option<&str>, method: &str, fault: &Fault) -> Failure {
    if fault.code == LOGIN_NEEDED {
        let way = login.unwrap_or("log in to it, or give it its key in `env` of its table in config.toml");
        return Failure { code: "agent_login", detail: format!("the agent wants a login ({}): {way}", fault.message) };
    }
    Failure { code: "agent_error", detail: format!("the agent refused {method}: {}", fault.message) }
}

/// Notes what can be chosen now, when the agent says so outside a turn.
pub(crate) fn note(offered: &mut Offered, method: &str, params: Value) {
    let Some(raw) = params.get("update").filter(|_| method == "session/update").cloned() else { return };
    let is_choice = matches!(
        raw.get("sessionUpdate").and_then(Value::as_str),
        Some("available_commands_update" | "current_mode_update" | "config_option_update")
    );
    if let Some(update) = serde_json::from_value::<SessionNotification>(params).ok().filter(|_| is_choice) {
        Translator::default().update(update.update, &raw, offered);
    }
}

fn introduction() -> Value {
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": { "readTextFile": true, "writeTextFile": true },
            "terminal": true,
            "_meta": { "terminal_output": true },
        },
        "clientInfo": { "name": "yoi", "title": "yoi", "version": env!("CARGO_PKG_VERSION") },
    })
}

impl Connected {
    /// Whether the process may reach what its Pod may reach now: a confined one is started again if it may not.
    pub(crate) fn is_within_its_walls(&self, begin: &Begin) -> bool {
        self.walls.as_ref().is_none_or(|walls| *walls == Walls::of(begin))
    }

    /// Sets the mode and the model that the Pod's recipe names, unless they are set already. Returns the pieces to
    /// report.
    pub(crate) async fn settle(&mut self, begin: &Begin) -> Result<Vec<Said>, Closed> {
        let mut said = Vec::new();
        if let Some(mode) = begin.mode.as_ref().filter(|mode| self.offered.mode.as_ref() != Some(*mode)) {
            let setter = self.offered.mode_setter(mode).cloned();
            let own = ("session/set_mode", json!({ "modeId": mode }));
            match self.set(setter, own, mode).await? {
                Ok(()) => {
                    self.offered.mode = Some(mode.clone());
                    said.push(AgentPiece::Mode(mode.clone()).into());
                }
                Err(why) => said.push(AgentPiece::Alert(why).into()),
            }
        }
        if let Some(model) = begin.model.as_ref().filter(|model| self.offered.offers.model.as_ref() != Some(*model)) {
            let setter = self.offered.model_setter(model).cloned();
            let own = ("session/set_model", json!({ "modelId": model }));
            match self.set(setter, own, model).await? {
                Ok(()) => self.offered.offers.model = Some(model.clone()),
                Err(why) => said.push(AgentPiece::Alert(why).into()),
            }
        }
        said.push(AgentPiece::Offers(self.offered.value()).into());
        Ok(said)
    }

    async fn set(
        &mut self,
        setter: Result<Setter, String>,
        (method, mut own): (&str, Value),
        value: &str,
    ) -> Result<Result<(), String>, Closed> {
        let setter = match setter {
            Ok(setter) => setter,
            Err(why) => return Ok(Err(why)),
        };
        let (method, params) = match setter {
            Setter::Method => {
                own["sessionId"] = json!(self.session_id);
                (method, own)
            }
            Setter::Option(id) => {
                ("session/set_config_option", json!({ "sessionId": self.session_id, "configId": id, "value": value }))
            }
        };
        let mut greeting = Greeting { wire: &mut self.wire, offered: std::mem::take(&mut self.offered), login: None };
        let asked = greeting.asked(method, &params, SET_MAX).await;
        self.offered = greeting.offered;
        match asked {
            Ok(Ok(answer)) => {
                if let Some(options) = answer.get("configOptions") {
                    self.offered.take_options(options);
                }
                Ok(Ok(()))
            }
            Ok(Err(fault)) => Ok(Err(format!("the agent did not take \"{}\": {}", cut(value, 60), fault.message))),
            Err(broken) => Err(Closed::Broken(broken.failure.detail)),
        }
    }
}
