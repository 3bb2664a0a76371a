//! What a server knows of its agents: their configuration, the tasks of those that run, why one did not start, their versions.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, OnceLock},
    time::Duration,
};

use protocol::WorkerId;
use tokio::{io::AsyncReadExt, process::Command, sync::mpsc, time::timeout};
use tools::bash::BashOptions;

use crate::{
    known::{AgentConfig, IDLE, KNOWN, NameRefusal, known, program},
    turn::{Door, Order},
    wire::cut,
};

/// A program that is asked for its version answers within this.
const VERSION_MAX: Duration = Duration::from_secs(5);
const VERSION_CHARS_MAX: usize = 100;
const VERSION_BYTES_MAX: u64 = 4 * 1024;
/// Of the server's variables it gets these.
const VERSION_VARIABLES: [&str; 4] = ["HOME", "LANG", "PATH", "TMPDIR"];

/// What agents are started with.
#[derive(Debug)]
pub struct AgentsOptions {
    /// Those of the configuration, by name.
    pub configured: BTreeMap<String, AgentConfig>,
    /// Where programs are looked for that are named without a folder.
    pub path: Option<OsString>,
    /// How programs are run here, and rooms made for those that are confined.
    pub bash: BashOptions,
    /// Those that are known by name are found on the PATH.
    pub finds_known: bool,
}

impl AgentsOptions {
    /// No agents at all.
    pub fn none() -> Self {
        let (configured, path, finds_known) = (BTreeMap::new(), None, false);
        Self { configured, path, bash: BashOptions::of_this_process(), finds_known }
    }
}

/// What is known of all of them.
pub(crate) struct Inner {
    options: AgentsOptions,
    /// Tasks of those that run.
    live: Mutex<HashMap<WorkerId, Live>>,
    /// Why an agent did not start the last time, by its name.
    failed: Mutex<HashMap<String, String>>,
    versions: Mutex<HashMap<PathBuf, Option<String>>>,
    door: OnceLock<Arc<dyn Door>>,
}

/// The task of one.
pub(crate) struct Live {
    pub(crate) agent: String,
    pub(crate) orders: mpsc::UnboundedSender<Order>,
}

/// How one agent is started.
pub(crate) struct Starting {
    pub(crate) config: AgentConfig,
    pub(crate) bash: BashOptions,
    /// How one logs in to it, where that is known.
    pub(crate) login: Option<&'static str>,
}

impl Inner {
    pub(crate) fn new(options: AgentsOptions) -> Self {
        let (live, failed, versions) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { options, live, failed, versions, door: OnceLock::new() }
    }

    /// Where agents get their way to yoi's own tools from, from now on. The first one counts.
    pub(crate) fn give_door(&self, door: Arc<dyn Door>) {
        let _ = self.door.set(door);
    }

    /// Why it did not start the last time.
    pub(crate) fn failure(&self, name: &str) -> Option<String> {
        self.failed.lock().expect("no holder of this list panics").get(name).cloned()
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, HashMap<WorkerId, Live>> {
        self.live.lock().expect("no holder of the tasks panics")
    }

    /// Configured ones, and those that are known.
    pub(crate) fn names(&self) -> Vec<String> {
        let known = KNOWN.iter().filter(|_| self.options.finds_known).map(|known| known.name.to_owned());
        let mut names: Vec<_> = self.options.configured.keys().cloned().chain(known).collect();
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn config(&self, name: &str) -> Option<AgentConfig> {
        let found = || AgentConfig::known(name).filter(|_| self.options.finds_known);
        self.options.configured.get(name).cloned().or_else(found)
    }

    /// # Errors
    /// A sentence with the way out.
    pub(crate) fn program(&self, name: &str, config: &AgentConfig) -> Result<PathBuf, String> {
        let word = config.command.first().map(String::as_str).unwrap_or_default();
        program(word, self.options.path.as_deref()).ok_or_else(|| {
            let way = match known(name) {
                Some(known) => format!("; `{}` installs it", known.install),
                None => format!("; see `command` in [agents.{name}]"),
            };
            // Of a configured one not even the program's name is told.
            match self.options.configured.contains_key(name) {
                true => format!("its program is not there, or cannot be run{way}"),
                false => format!("{word} is not on the PATH{way}"),
            }
        })
    }

    /// # Errors
    /// A sentence: it cannot be started.
    pub(crate) fn starting(&self, name: &str) -> Result<(Starting, PathBuf), String> {
        let config = self.config(name).ok_or_else(|| NameRefusal::of(name, &self.names()).sentence)?;
        let program = self.program(name, &config)?;
        let login = known(name).map(|known| known.login);
        Ok((Starting { config, bash: self.options.bash.clone(), login }, program))
    }

    pub(crate) fn idle(&self, name: &str) -> Duration {
        self.config(name).map_or(IDLE, |config| config.idle)
    }

    pub(crate) fn door(&self) -> Option<&Arc<dyn Door>> {
        self.door.get()
    }

    /// It started, or why it did not.
    pub(crate) fn note_start(&self, name: &str, failure: Option<String>) {
        let mut failed = self.failed.lock().expect("no holder of this list panics");
        match failure {
            Some(why) => failed.insert(name.to_owned(), why),
            None => failed.remove(name),
        };
    }

    /// A task that has nothing to do is forgotten. False when an order came in meanwhile.
    pub(crate) fn rest(&self, worker_id: &WorkerId, orders: &mut mpsc::UnboundedReceiver<Order>) -> bool {
        let mut live = self.live();
        if !orders.is_empty() {
            return false;
        }
        orders.close();
        if live.get(worker_id).is_some_and(|live| live.orders.is_closed()) {
            live.remove(worker_id);
        }
        true
    }

    /// What a known program says of its version. Asked once for each program.
    pub(crate) async fn version(&self, name: &str, program: PathBuf) -> Option<String> {
        known(name).filter(|_| !self.options.configured.contains_key(name))?;
        let versions = || self.versions.lock().expect("no holder of the versions panics");
        if let Some(version) = versions().get(&program) {
            return version.clone();
        }
        let version = asked_for_version(&program).await;
        versions().insert(program, version.clone());
        version
    }
}

async fn asked_for_version(program: &PathBuf) -> Option<String> {
    let mut asked = Command::new(program);
    asked.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    // It gets none of the server's keys.
    asked.env_clear().envs(VERSION_VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    let answer = async {
        let mut child = asked.spawn().ok()?;
        let mut text = Vec::new();
        child.stdout.take()?.take(VERSION_BYTES_MAX).read_to_end(&mut text).await.ok()?;
        child.wait().await.ok()?.success().then_some(text)
    };
    let text = timeout(VERSION_MAX, answer).await.ok()??;
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| cut(line, VERSION_CHARS_MAX))
}
