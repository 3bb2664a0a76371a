//! A scripted older Pod: a Unix socket that speaks the older protocol, and can misbehave.
//!
//! An input consists of commands, one per line: `say TEXT` streams and ends; `stream N` says N words, one every 20
//! ms; `tool NAME` calls a tool; `think` sends reasoning without deltas; `fail` ends with the provider's error;
//! `bare` begins the run without an echo; `die` closes every connection.

mod life;
mod trouble;
mod words;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    sync::broadcast,
    task::{JoinHandle, JoinSet},
};

pub use self::trouble::Trouble;

/// How many events a client may be behind before it is disconnected.
const BEHIND_MAX: usize = 10_000;

/// A running older Pod, `FOLDER/NAME/sock`; dropping it ends it and removes its socket.
#[derive(Debug)]
pub struct OlderPod {
    socket: PathBuf,
    pod: Arc<Shared>,
    server: JoinHandle<()>,
}

/// The initial state of a Pod.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub entries: Vec<Value>,
    pub alerts: Vec<Value>,
    /// Empty means `idle`.
    pub status: String,
    pub trouble: Option<Trouble>,
}

#[derive(Debug)]
struct Shared {
    name: String,
    folder: PathBuf,
    events: broadcast::Sender<String>,
    state: Mutex<State>,
    trouble: Option<Trouble>,
}

#[derive(Debug)]
struct State {
    entries: Vec<Value>,
    alerts: Vec<Value>,
    status: String,
    /// What the run in progress has been asked to do.
    asked: Asked,
    runs: u64,
    was_interrupted: bool,
    peers: Vec<String>,
    /// Every line received, unchanged.
    received: Vec<String>,
    /// Pods that this one has restored.
    restored: Vec<OlderPod>,
    is_shut_down: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Pause,
    Cancel,
}

impl OlderPod {
    /// An idle Pod without history.
    pub fn start(folder: &Path, name: &str) -> Self {
        Self::scripted(folder, name, Script::default())
    }

    pub fn troubled(folder: &Path, name: &str, trouble: Trouble) -> Self {
        Self::scripted(folder, name, Script { trouble: Some(trouble), ..Script::default() })
    }

    /// # Panics
    /// If no socket can be created there.
    pub fn scripted(folder: &Path, name: &str, script: Script) -> Self {
        let home = folder.join(name);
        std::fs::create_dir_all(&home).expect("the folder of a Pod can be made");
        Self::at(folder, name, home.join("sock"), script)
    }

    /// Like [`OlderPod::scripted`], with its socket at a path of the caller's choice.
    pub fn at(folder: &Path, name: &str, socket: PathBuf, script: Script) -> Self {
        std::fs::remove_file(&socket).ok();
        let listener = UnixListener::bind(&socket).expect("a socket can be bound there");
        let Script { entries, alerts, status, trouble } = script;
        let state = State {
            entries,
            alerts,
            status: if status.is_empty() { "idle".to_owned() } else { status },
            asked: Asked::Nothing,
            runs: 0,
            was_interrupted: false,
            peers: Vec::new(),
            received: Vec::new(),
            restored: Vec::new(),
            is_shut_down: false,
        };
        let (name, folder) = (name.to_owned(), folder.to_owned());
        let events = broadcast::Sender::new(BEHIND_MAX);
        let pod = Arc::new(Shared { name, folder, events, state: Mutex::new(state), trouble });
        let server = tokio::spawn(serve(listener, pod.clone(), socket.clone()));
        Self { socket, pod, server }
    }

    /// Sends an event to all clients, unchanged.
    pub fn say(&self, event: &str, data: Value) {
        self.pod.tell(event, data);
    }

    /// Sends an arbitrary line.
    pub fn say_line(&self, line: &str) {
        self.pod.events.send(line.to_owned()).ok();
    }

    /// The methods received, oldest first; for a line that is not JSON, the line.
    pub fn methods(&self) -> Vec<String> {
        let method = |line: &String| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            value["method"].as_str().map_or_else(|| line.clone(), str::to_owned)
        };
        self.pod.state().received.iter().map(method).collect()
    }

    /// The lines received, as JSON.
    pub fn received(&self) -> Vec<Value> {
        self.pod.state().received.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Closes all connections and removes the socket, as when the process dies; a new one may take its place.
    pub async fn kill(mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }
}

impl Drop for OlderPod {
    fn drop(&mut self) {
        self.server.abort();
        std::fs::remove_file(&self.socket).ok();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &str, data: Value) {
        self.events.send(line_of(event, data)).ok();
    }

    fn tell_error(&self, code: &str, message: &str) {
        self.tell("error", json!({ "code": code, "message": message }));
    }

    fn tell_status(&self) {
        let status = self.state().status.clone();
        self.tell("status", json!({ "status": status }));
    }

    /// Alerts and snapshot, as lines.
    fn prelude(&self) -> String {
        let state = self.state();
        let mut lines: Vec<String> = state.alerts.iter().map(|alert| line_of("alert", alert.clone())).collect();
        let greeting = json!({
            "pod_name": self.name, "cwd": format!("/home/example/{}", self.name), "provider": "scripted",
            "model": "script-1",
            "scope_summary": format!("Readable:\n  - /home/example\n  - {}/{}/output\nWritable:\n  - /home/example/{}",
                self.folder.display(), self.name, self.name),
            "tools": ["Bash"], "context_window": 1000, "context_tokens": 7
        });
        let snapshot = json!({ "entries": state.entries, "greeting": greeting, "status": state.status });
        lines.push(line_of("snapshot", snapshot));
        lines.concat()
    }
}

fn line_of(event: &str, data: Value) -> String {
    let line = match data {
        Value::Null => json!({ "event": event }),
        data => json!({ "event": event, "data": data }),
    };
    format!("{line}\n")
}

async fn serve(listener: UnixListener, pod: Arc<Shared>, socket: PathBuf) {
    // Aborting the server drops these, and with them every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(connection(stream, pod.clone()));
            }
            Some(_) = connections.join_next() => {
                if pod.state().is_shut_down {
                    std::fs::remove_file(&socket).ok();
                    return;
                }
            }
        }
    }
}

/// One client: it is sent the prelude first, and is read only once it has received all of it.
async fn connection(stream: UnixStream, pod: Arc<Shared>) {
    let (reader, mut writer) = stream.into_split();
    let mut events = pod.events.subscribe();
    if let Some(trouble) = &pod.trouble
        && !trouble.begin(&mut writer, &pod.prelude()).await
    {
        return;
    }
    if pod.trouble.as_ref().is_none_or(Trouble::sends_prelude)
        && writer.write_all(pod.prelude().as_bytes()).await.is_err()
    {
        return;
    }
    let mut lines = BufReader::new(reader).lines();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Ok(line) if line == life::HANG_UP => return,
                Ok(line) => if writer.write_all(line.as_bytes()).await.is_err() { return },
                Err(_) => return,
            },
            line = lines.next_line() => match line {
                Ok(Some(line)) if line.trim().is_empty() => (),
                Ok(Some(line)) => {
                    pod.state().received.push(line.clone());
                    if pod.trouble.as_ref().is_some_and(Trouble::is_mute) {
                        continue;
                    }
                    if let Some(answer) = life::take(&pod, &line)
                        && writer.write_all(answer.as_bytes()).await.is_err()
                    {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
