//! What a server knows about its agents: their configuration, the tasks of the running ones, why one did not start, and
//! their versions.

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

/// How long a program may take to print its version.
const VERSION_MAX: Duration = Duration::from_secs(5);
const VERSION_CHARS_MAX: usize = 100;
const VERSION_BYTES_MAX: u64 = 4 * 1024;
/// The variables of the server that the program gets when it is asked for its version.
const VERSION_VARIABLES: [&str; 4] = ["HOME", "LANG", "PATH", "TMPDIR"];

/// The settings for running agents.
#[derive(Debug)]
pub struct AgentsOptions {
    /// The agents in the configuration, by name.
    pub configured: BTreeMap<String, AgentConfig>,
    /// The search path for programs that are named without a folder.
    pub path: Option<OsString>,
    /// How programs run on this machine, and how sandboxes are built for confined agents.
    pub bash: BashOptions,
    /// Whether the built-in agents are looked up on the PATH.
    pub finds_known: bool,
}

impl AgentsOptions {
    /// Settings without any agents.
    pub fn none() -> Self {
        let (configured, path, finds_known) = (BTreeMap::new(), None, false);
        Self { configured, path, bash: BashOptions::of_this_process(), finds_known }
    }
}

/// Everything that is known about the agents.
pub(crate) struct Inner {
    options: AgentsOptions,
    /// The tasks of the running agents.
    live: Mutex<HashMap<WorkerId, Live>>,
    /// Why an agent last failed to start, by its name.
    failed: Mutex<HashMap<String, String>>,
    versions: Mutex<HashMap<PathBuf, Option<String>>>,
    door: OnceLock<Arc<dyn Door>>,
}

/// The task of one running agent.
pub(crate) struct Live {
    pub(crate) agent: String,
    pub(crate) orders: mpsc::UnboundedSender<Order>,
}

/// What is needed to start one agent.
pub(crate) struct Starting {
    pub(crate) config: AgentConfig,
    pub(crate) bash: BashOptions,
    /// How to log in to it, if that is known.
    pub(crate) login: Option<&'static str>,
}

impl Inner {
    pub(crate) fn new(options: AgentsOptions) -> Self {
        let (live, failed, versions) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { options, live, failed, versions, door: OnceLock::new() }
    }

    /// Sets where agents get access to yoi's own tools. Only the first call counts.
    pub(crate) fn give_door(&self, door: Arc<dyn Door>) {
        let _ = self.door.set(door);
    }

    /// Returns why the agent last failed to start.
    pub(crate) fn failure(&self, name: &str) -> Option<String> {
        self.failed.lock().expect("no holder of this list panics").get(name).cloned()
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, HashMap<WorkerId, Live>> {
        self.live.lock().expect("no holder of the tasks panics")
    }

    /// Returns the configured agents and the built-in ones.
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
    /// A sentence that says what to do about it.
    pub(crate) fn program(&self, name: &str, config: &AgentConfig) -> Result<PathBuf, String> {
        let word = config.command.first().map(String::as_str).unwrap_or_default();
        program(word, self.options.path.as_deref()).ok_or_else(|| {
            let way = match known(name) {
                Some(known) => format!("; `{}` installs it", known.install),
                None => format!("; see `command` in [agents.{name}]"),
            };
            // For a configured agent, not even the program's name is revealed.
            match self.options.configured.contains_key(name) {
                true => format!("its program is not there, or cannot be run{way}"),
                false => format!("{word} is not on the PATH{way}"),
            }
        })
    }

    /// # Errors
    /// A sentence: the agent cannot be started.
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

    /// Records that the agent started, or why it did not.
    pub(crate) fn note_start(&self, name: &str, failure: Option<String>) {
        let mut failed = self.failed.lock().expect("no holder of this list panics");
        match failure {
            Some(why) => failed.insert(name.to_owned(), why),
            None => failed.remove(name),
        };
    }

    /// Forgets an idle task. Returns false if an order has arrived meanwhile.
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

    /// Returns the version that a known program prints. Each program is asked once.
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
    // The program gets none of the server's keys.
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
