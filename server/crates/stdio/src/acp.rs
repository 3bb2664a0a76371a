//! `yoi acp`: Pods in an editor, by the Agent Client Protocol on standard input and output.
//!
//! A session of the editor is a Pod, and its id is the Pod's address: the editor, the browser and the terminal can
//! all have the same Pod open. Each sees what is done in the others, because all of it is in the Pod's journal.

mod choices;
mod diff;
mod follow;
mod prompt;
mod questions;
mod session;
mod translate;
mod wire;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_client_protocol::{
    schema::ProtocolVersion,
    v1::schema::{
        AgentCapabilities, CancelNotification, CloseSessionRequest, Implementation, InitializeRequest,
        InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, NewSessionRequest,
        PromptCapabilities, PromptRequest, ResumeSessionRequest, SessionCapabilities, SessionInfo,
        SetSessionConfigOptionRequest, SetSessionModeRequest,
    },
};
use client::{Client, ClientError};
use protocol::{
    Access, CommandId, CreatePod, ErrorCode, PodDetail, PodName, PodRef, ScopeRule,
    operation::{Filled, Limit, Loose},
    operations::{Create, Pod, Pods, Resolve},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::{
    follow::Begin,
    session::Session,
    wire::{Incoming, Wire},
};
use crate::lines::{Line, Lines, to_stdout};

/// The maximum size of a message in bytes: it may contain pictures in base64.
const MESSAGE_BYTES_MAX: usize = 32 << 20;
/// How many requests are handled at once.
const REQUESTS_MAX: usize = 64;
/// How many sessions may be open.
const SESSIONS_MAX: usize = 32;
/// How many sessions are on one page of the list.
const LISTED: u32 = 50;

/// Serves an editor until standard input ends. `pod`: the Pod for its new sessions; without one each makes its own.
///
/// # Errors
/// If standard input cannot be read.
pub async fn acp(client: Client, pod: Option<String>) -> io::Result<()> {
    let (out, writing) = to_stdout();
    let agent = Arc::new(Agent { client, pod, wire: Arc::new(Wire::new(out)), sessions: Mutex::default() });
    let mut lines = Lines::of_stdin(MESSAGE_BYTES_MAX);
    let mut asked = JoinSet::new();
    loop {
        while asked.try_join_next().is_some() {}
        if asked.len() >= REQUESTS_MAX {
            asked.join_next().await;
        }
        let incoming = match lines.next().await? {
            Line::End => break,
            Line::TooLong => Err(format!("a message has at most {MESSAGE_BYTES_MAX} bytes")),
            Line::Text(line) => Incoming::parse(&line),
        };
        match incoming {
            Ok(Incoming::Request { id, method, params }) => {
                let agent = agent.clone();
                asked.spawn(async move {
                    let answer = agent.answer(&method, params).await;
                    let opened = opened(&method, &answer);
                    agent.wire.answer(id, answer).await;
                    if let Some(session) = opened.and_then(|id| agent.session(&id).ok()) {
                        session.introduce().await;
                    }
                });
            }
            Ok(Incoming::Told { method, params }) => agent.told(&method, params).await,
            Ok(Incoming::Answer { id, answer }) => agent.wire.answered(id, answer),
            Err(why) => agent.wire.answer(Value::Null, Err(Refused::new(-32_700, why))).await,
        }
    }
    asked.shutdown().await;
    agent.sessions().clear();
    drop(agent);
    writing.end().await;
    Ok(())
}

/// An error as sent to the editor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refused {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Refused {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn params(message: impl Into<String>) -> Self {
        Self::new(-32_602, message)
    }

    fn unknown_session() -> Self {
        Self::new(-32_002, "this session is not open; send session/load or session/resume first")
    }
}

impl From<ClientError> for Refused {
    fn from(error: ClientError) -> Self {
        let code = error.api().map(|error| error.code);
        let number = match code {
            Some(ErrorCode::Unauthorized) => -32_000,
            Some(ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound) => -32_002,
            Some(code) if code.status() < 500 => -32_602,
            _ => -32_603,
        };
        let hint = match code {
            Some(ErrorCode::Unauthorized) => "; set YOI_TOKEN, or name the server's folder with --data",
            _ => "",
        };
        Self {
            code: number,
            message: format!("{error}{hint}"),
            data: code.map(|code| json!({ "code": code.as_str() })),
        }
    }
}

type Answer = Result<Value, Refused>;

/// The id of the session that this answer opens.
fn opened(method: &str, answer: &Answer) -> Option<String> {
    let opens = matches!(method, "session/new" | "session/load" | "session/resume");
    let id = answer.as_ref().ok().filter(|_| opens)?.get("sessionId")?.as_str()?;
    Some(id.to_owned())
}

/// Serves the editor.
struct Agent {
    client: Client,
    pod: Option<String>,
    wire: Arc<Wire>,
    /// Open sessions, by id.
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

impl Agent {
    async fn answer(&self, method: &str, params: Value) -> Answer {
        match method {
            "initialize" => said(&initialize(&read(params)?)),
            // The server's token decides who may connect.
            "authenticate" => Ok(json!({})),
            "session/new" => self.begin(read(params)?).await,
            "session/load" => {
                let LoadSessionRequest { session_id, cwd, .. } = read(params)?;
                self.open(&session_id.0, cwd, Begin::Replayed).await
            }
            "session/resume" => {
                let ResumeSessionRequest { session_id, cwd, .. } = read(params)?;
                self.open(&session_id.0, cwd, Begin::FromNow).await
            }
            "session/list" => self.list(read(params)?).await,
            "session/close" => {
                let CloseSessionRequest { session_id, .. } = read(params)?;
                self.sessions().remove(&*session_id.0);
                Ok(json!({}))
            }
            "session/prompt" => {
                let PromptRequest { session_id, prompt, .. } = read(params)?;
                said(&self.session(&session_id.0)?.prompt(prompt).await?)
            }
            "session/set_mode" => {
                let SetSessionModeRequest { session_id, mode_id, .. } = read(params)?;
                let session = self.session(&session_id.0)?;
                choices::set_mode(&self.client, &session.pod, &mode_id.0).await?;
                Ok(json!({}))
            }
            "session/set_config_option" => {
                let SetSessionConfigOptionRequest { session_id, config_id, value, .. } = read(params)?;
                let session = self.session(&session_id.0)?;
                let options = choices::choose(&self.client, &session.pod, &config_id.0, &value).await?;
                Ok(json!({ "configOptions": options }))
            }
            other => {
                let other: String = other.chars().take(64).collect();
                Err(Refused::new(-32_601, format!("there is no method {other:?} here")))
            }
        }
    }

    async fn told(&self, method: &str, params: Value) {
        if method == "session/cancel"
            && let Ok(CancelNotification { session_id, .. }) = read(params)
            && let Ok(session) = self.session(&session_id.0)
        {
            session.cancel().await;
        }
    }

    /// A new session: a new Pod that works in the editor's folder, or the Pod named at the start.
    async fn begin(&self, asked: NewSessionRequest) -> Answer {
        let folder = absolute(&asked.cwd)?;
        if let Some(target) = &self.pod {
            let pod = self.client.read(&Resolve { target: Some(target.clone()) }).await?;
            return self.open(&pod.to_string(), asked.cwd, Begin::ReplayedAfter).await;
        }
        let mut body = CreatePod::named(name_for(&folder));
        let more = asked.additional_directories.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>()?;
        if !more.is_empty() {
            let folders = std::iter::once(folder.clone()).chain(more);
            body.scope = Some(folders.map(|path| ScopeRule { path, access: Access::Write, recursive: true }).collect());
        }
        body.cwd = Some(folder);
        let made = self.client.carry_out(&CommandId::random(), &Create { body }).await?;
        self.open(&made.pod.to_string(), asked.cwd, Begin::FromNow).await
    }

    /// Opens a session for an existing Pod.
    async fn open(&self, id: &str, cwd: PathBuf, begin: Begin) -> Answer {
        let pod: PodRef = id.parse().map_err(|_| {
            Refused::params("a session's id is the address of a Pod, as session/new and session/list give it")
        })?;
        let detail: PodDetail = self.client.read(&Pod { pod: pod.clone() }).await?;
        let options = choices::offered(&self.client, &detail).await?;
        let session = Arc::new(Session::new(self.client.clone(), self.wire.clone(), pod, cwd));
        {
            let mut sessions = self.sessions();
            if sessions.len() >= SESSIONS_MAX && !sessions.contains_key(id) {
                return Err(Refused::params(format!("{SESSIONS_MAX} sessions are open; close one first")));
            }
            // An open session of the same Pod ends.
            sessions.insert(id.to_owned(), session.clone());
        }
        follow::begin(&session, begin).await;
        let mut opened = json!({ "sessionId": id, "configOptions": options });
        if let Some(modes) = choices::modes(&detail) {
            opened["modes"] = json!(modes);
        }
        Ok(opened)
    }

    /// The Pods of this server, or only those of one folder.
    async fn list(&self, asked: ListSessionsRequest) -> Answer {
        let query = Pods {
            name: Filled(None),
            state: Filled(None),
            q: Loose(None),
            after: Loose(asked.cursor),
            limit: Limit(LISTED),
        };
        let page = self.client.read(&query).await?;
        let is_meant = |cwd: &str| asked.cwd.as_deref().is_none_or(|wanted| wanted == Path::new(cwd));
        let sessions = page.items.into_iter().filter(|summary| is_meant(&summary.cwd)).map(|summary| {
            let mut info = SessionInfo::new(summary.pod.to_string(), summary.cwd);
            info.title = Some(summary.name.to_string());
            info.updated_at = Some(summary.updated_at.to_string());
            info
        });
        let mut listed = ListSessionsResponse::new(sessions.collect());
        listed.next_cursor = page.next;
        said(&listed)
    }

    fn session(&self, id: &str) -> Result<Arc<Session>, Refused> {
        self.sessions().get(id).cloned().ok_or_else(Refused::unknown_session)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn initialize(_: &InitializeRequest) -> InitializeResponse {
    let mut prompts = PromptCapabilities::new();
    (prompts.image, prompts.embedded_context) = (true, true);
    let mut sessions = SessionCapabilities::new();
    (sessions.list, sessions.resume, sessions.close) =
        (Some(Default::default()), Some(Default::default()), Some(Default::default()));
    sessions.additional_directories = Some(Default::default());
    let mut capabilities = AgentCapabilities::new();
    capabilities.load_session = true;
    capabilities.prompt_capabilities = prompts;
    capabilities.session_capabilities = sessions;
    let mut about = InitializeResponse::new(ProtocolVersion::V1);
    about.agent_capabilities = capabilities;
    about.agent_info = Some(Implementation::new("yoi", env!("CARGO_PKG_VERSION")).title("yoi".to_owned()));
    about
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| Refused::params(format!("the parameters do not fit: {error}")))
}

fn said(answer: &impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| Refused::new(-32_603, error.to_string()))
}

fn absolute(path: &Path) -> Result<String, Refused> {
    match (path.is_absolute(), path.to_str()) {
        (true, Some(path)) => Ok(path.to_owned()),
        _ => Err(Refused::params("a folder is named by its absolute path, in UTF-8")),
    }
}

/// An unused name that tells which folder the Pod is for.
fn name_for(folder: &str) -> PodName {
    let last = folder.rsplit('/').find(|part| !part.is_empty()).unwrap_or("editor");
    let fits = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    let base: String = last.chars().filter(fits).take(40).collect();
    let base = if base.is_empty() { "editor" } else { &base };
    let tail: String = uuid::Uuid::new_v4().simple().to_string().chars().take(5).collect();
    PodName::parse(&format!("{base}-{tail}")).expect("it is made of what a name is made of")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_pod_is_called_as_its_folder_and_never_as_another_one() {
        for (folder, base) in
            [("/home/me/my app", "myapp-"), ("/", "editor-"), ("/x/ä", "editor-"), ("/a/../..", "..-")]
        {
            let name = name_for(folder).to_string();
            assert!(name.starts_with(base) && name.len() == base.len() + 5, "{name}");
            assert_ne!(name, name_for(folder).to_string());
        }
        assert!(name_for(&format!("/{}", "x".repeat(500))).to_string().len() < 64);
    }
}
