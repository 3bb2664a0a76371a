//! The agents of a server: which there are, and the tasks of those that run, one for each Pod.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    fmt,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, OnceLock},
    time::Duration,
};

use protocol::{AgentItem, AgentState, WorkerId};
use tokio::{process::Command, sync::mpsc, time::timeout};
use tools::bash::BashOptions;

use crate::{
    known::{AgentConfig, KNOWN, NameRefusal, known, program},
    session,
    turn::{Begin, Door, Order, Turn},
    wire::cut,
};

/// A program that is asked for its version answers within this.
const VERSION_MAX: Duration = Duration::from_secs(5);
const VERSION_CHARS_MAX: usize = 100;

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

/// The agents of a server. Cheap to clone.
#[derive(Clone)]
pub struct Agents {
    pub(crate) inner: Arc<Inner>,
}

impl fmt::Debug for Agents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Agents").finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    options: AgentsOptions,
    /// Tasks of those that run.
    live: Mutex<HashMap<WorkerId, Live>>,
    /// Why an agent did not start the last time, by its name.
    failed: Mutex<HashMap<String, String>>,
    versions: Mutex<HashMap<PathBuf, Option<String>>>,
    door: OnceLock<Arc<dyn Door>>,
}

struct Live {
    agent: String,
    orders: mpsc::UnboundedSender<Order>,
}

/// How one agent is started.
pub(crate) struct Starting {
    pub(crate) config: AgentConfig,
    pub(crate) bash: BashOptions,
    /// How one logs in to it, where that is known.
    pub(crate) login: Option<&'static str>,
}

/// Why there is no Pod with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    Unknown(NameRefusal),
    /// A sentence: its program is not there.
    Missing(String),
}

impl Agents {
    pub fn new(options: AgentsOptions) -> Self {
        let inner = Inner {
            options,
            live: Mutex::default(),
            failed: Mutex::default(),
            versions: Mutex::default(),
            door: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Where agents get their way to yoi's own tools from, from now on. The first one counts.
    pub fn give_door(&self, door: Arc<dyn Door>) {
        let _ = self.inner.door.set(door);
    }

    /// Whether Pods can be made with this agent now.
    ///
    /// # Errors
    /// No agent is called so, or its program is not there.
    pub fn check(&self, name: &str) -> Result<(), Unusable> {
        let config =
            self.inner.config(name).ok_or_else(|| Unusable::Unknown(NameRefusal::of(name, &self.inner.names())))?;
        self.inner.program(name, &config).map(|_| ()).map_err(Unusable::Missing)
    }

    /// It runs as a whole in a room of its Pod's scope.
    pub fn is_confined(&self, name: &str) -> bool {
        self.inner.config(name).is_some_and(|config| config.confine)
    }

    /// Every agent by name, with what is known of it.
    pub async fn list(&self) -> Vec<AgentItem> {
        let mut items = Vec::new();
        for name in self.inner.names() {
            if let Some(config) = self.inner.config(&name) {
                items.push(self.item(name, config).await);
            }
        }
        items
    }

    async fn item(&self, name: String, config: AgentConfig) -> AgentItem {
        let inner = &self.inner;
        let confined = config.confine;
        let item = |state, detail| AgentItem { name: name.clone(), state, detail, tools: Vec::new(), confined };
        let program = match inner.program(&name, &config) {
            Ok(program) => program,
            Err(sentence) => return item(AgentState::Missing, Some(sentence)),
        };
        if inner.live().values().any(|live| live.agent == name && !live.orders.is_closed()) {
            return item(AgentState::Running, inner.version(&name, program).await);
        }
        let failed = inner.failed.lock().expect("no holder of this list panics").get(&name).cloned();
        match failed {
            Some(why) => item(AgentState::Failed, Some(why)),
            None => item(AgentState::Ready, inner.version(&name, program).await),
        }
    }

    /// Begins a turn of a Pod's agent, which is started where it does not run.
    pub fn begin(&self, begin: Begin) -> Turn {
        let mut live = self.inner.live();
        let worker_id = begin.worker_id.clone();
        let known = live.get(&worker_id).filter(|known| known.agent == begin.agent && !known.orders.is_closed());
        let orders = match known {
            Some(known) => known.orders.clone(),
            None => {
                let (orders, taken) = mpsc::unbounded_channel();
                let agent = begin.agent.clone();
                live.insert(worker_id.clone(), Live { agent, orders: orders.clone() });
                tokio::spawn(session::run(self.inner.clone(), worker_id, taken));
                orders
            }
        };
        let (turn, link) = Turn::pair(orders.clone());
        // Where nobody takes it any more, the link is dropped, and the turn ends at once.
        let _ = orders.send(Order::Begin(Box::new(begin), link));
        turn
    }

    /// A Pod's agent is not wanted any more: its process ends.
    pub fn end(&self, worker_id: &WorkerId) {
        if let Some(live) = self.inner.live().get(worker_id) {
            let _ = live.orders.send(Order::End);
        }
    }

    /// All processes end.
    pub fn end_all(&self) {
        self.inner.live().values().for_each(|live| drop(live.orders.send(Order::End)));
    }

    /// Pods whose agent has a process now, or is about to.
    pub fn running(&self) -> usize {
        self.inner.live().values().filter(|live| !live.orders.is_closed()).count()
    }
}

impl Inner {
    fn live(&self) -> MutexGuard<'_, HashMap<WorkerId, Live>> {
        self.live.lock().expect("no holder of the tasks panics")
    }

    /// Configured ones, and those that are known.
    fn names(&self) -> Vec<String> {
        let known = KNOWN.iter().filter(|_| self.options.finds_known).map(|known| known.name.to_owned());
        let mut names: Vec<_> = self.options.configured.keys().cloned().chain(known).collect();
        names.sort();
        names.dedup();
        names
    }

    fn config(&self, name: &str) -> Option<AgentConfig> {
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
        self.config(name).map_or(crate::IDLE, |config| config.idle)
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
    async fn version(&self, name: &str, program: PathBuf) -> Option<String> {
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
    let asked =
        Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).output();
    let answer = timeout(VERSION_MAX, asked).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    answer.status.success().then(|| cut(line, VERSION_CHARS_MAX))
}
