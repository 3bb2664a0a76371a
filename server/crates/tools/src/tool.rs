//! What every tool has in common: the [`Tool`] trait, where a call stands, and the [`Toolbox`] of those that are there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    sync::Arc,
};

use async_trait::async_trait;
use pod::{Scope, ToolOutcome};
use protocol::{
    PermissionDecision,
    tool::{self, Changes},
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{network::Network, questions::Questions};

/// Pieces of live output on their way to the transcript. A full channel makes the tool wait.
pub type Output = mpsc::Sender<String>;

/// Where a call stands: whose it is, and what it may touch.
#[derive(Debug, Clone)]
pub struct Place {
    /// The Pod's id, for tools that act among Pods.
    pub worker_id: protocol::WorkerId,
    /// Unique within the Pod.
    pub call_id: String,
    /// The Pod's working directory: relative paths are taken from it.
    pub cwd: PathBuf,
    /// What may be read and written now.
    pub scope: Scope,
    /// Where the path of the call led when rules decided on it: elsewhere it does nothing. None: no rule is about it.
    pub leads: Option<String>,
    /// Files whose present content the caller has seen: absolute path → SHA-256 as hex digits (one or more versions).
    pub seen: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// Where output that is too long for a transcript is kept, in a file per call. Never told to a model.
    pub outputs: PathBuf,
    /// What a command reaches of the network, where it has a room.
    pub network: Network,
    /// Where a command's keeper listens for whoever looks at what it serves. None: nobody does.
    pub way_in: Option<PathBuf>,
    /// What its call asks a person meanwhile: the time limit of a command stands still.
    pub questions: Questions,
    /// Decides on addresses that the call is led on to. None: a person makes the call, and its address is their own choice.
    pub redirects: Option<Redirects>,
    /// Held by everything that the call has started, also by what goes on after its future is dropped (a blocking
    /// write, a process that is being killed): once nobody holds it, nothing is left that could change a file.
    pub lifeline: Lifeline,
}

/// What the rules of a Pod say of an address that a page leads on to.
#[derive(Clone)]
pub struct Redirects(Arc<dyn Fn(&str) -> PermissionDecision + Send + Sync>);

impl Redirects {
    pub fn new(decide: impl Fn(&str) -> PermissionDecision + Send + Sync + 'static) -> Self {
        Self(Arc::new(decide))
    }

    pub fn decide(&self, url: &str) -> PermissionDecision {
        (self.0)(url)
    }
}

impl fmt::Debug for Redirects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redirects").finish_non_exhaustive()
    }
}

/// A share in something that is known to be over when all shares are gone.
#[derive(Debug, Clone)]
pub struct Lifeline(#[expect(dead_code, reason = "its end is what counts")] mpsc::Sender<()>);

impl Lifeline {
    /// A first share, and where the end is heard: `recv` gives none then.
    pub fn pair() -> (Self, mpsc::Receiver<()>) {
        let (sender, ended) = mpsc::channel(1);
        (Self(sender), ended)
    }
}

/// Something a model can call by name.
#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug {
    fn name(&self) -> &str;

    /// One paragraph for the model.
    fn description(&self) -> &str;

    /// JSON schema of the arguments: an object that refuses unknown fields.
    fn schema(&self) -> Value;

    /// It changes nothing, so calls of this kind may run beside each other.
    fn only_reads(&self) -> bool {
        tool::facts(self.name()).changes == Changes::Nothing
    }

    /// What becomes of a call that no rule is about.
    fn default_permission(&self) -> PermissionDecision {
        tool::facts(self.name()).default
    }

    /// Carries the call out. Dropping the future stops the work.
    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome;
}

/// The tools of a server, by name.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Toolbox {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name().to_owned(), tool)).collect() }
    }

    /// These and those; of two with one name, the later.
    #[must_use]
    pub fn with(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools.into_iter().map(|tool| (tool.name().to_owned(), tool)));
        self
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// In name order; `only` keeps those that are named in it.
    pub fn offered<'a>(&'a self, only: Option<&'a [String]>) -> impl Iterator<Item = &'a Arc<dyn Tool>> {
        self.tools.values().filter(move |tool| only.is_none_or(|names| names.iter().any(|name| name == tool.name())))
    }

    /// What a model is told that calls something that is not there. `only` as in [`Toolbox::offered`].
    pub fn unknown(&self, name: &str, only: Option<&[String]>) -> ToolOutcome {
        let known = self.offered(only).map(|tool| tool.name()).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none are available".to_owned() } else { format!("there are {known}") };
        ToolOutcome::failed("not_found", format!("no tool is called \"{name}\"; {known}"))
    }
}
