//! What all tools have in common: the [`Tool`] trait, the place of a call, and the [`Toolbox`].

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    sync::Arc,
};

use async_trait::async_trait;
use pod::{Scope, ToolOutcome};
use protocol::{
    PermissionDecision, ToolBy,
    tool::{self, Changes},
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{drain::Drain, network::Network, questions::Questions};

/// Chunks of live output on their way to the transcript. A full channel makes the tool wait.
pub type Output = mpsc::Sender<String>;

/// The place of a call: whose it is, and what it may touch.
#[derive(Debug, Clone)]
pub struct Place {
    /// The Pod's id, for tools that act on Pods.
    pub worker_id: protocol::WorkerId,
    /// Unique within the Pod.
    pub call_id: String,
    pub by: ToolBy,
    /// The Pod's working directory, against which relative paths are resolved.
    pub cwd: PathBuf,
    /// What may be read and written now.
    pub scope: Scope,
    /// Where the call's path led when the rules were applied; if it leads elsewhere now, the call does nothing. `None`:
    /// no rule covers it.
    pub leads: Option<String>,
    /// Files whose current content the caller has seen: absolute path → SHA-256 as hex digits (one or more versions).
    pub seen: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// Where output that is too long for a transcript is kept, in one file per call. Never revealed to a model.
    pub outputs: PathBuf,
    /// Which part of the network a command can reach, if it has a sandbox.
    pub network: Network,
    /// The socket on which a command's keeper listens for previews. `None`: there are none.
    pub way_in: Option<PathBuf>,
    /// Approvals that the running call waits for, during which a command's time limit is paused.
    pub questions: Questions,
    /// Asks for what a command has written, before the call is ended.
    pub drain: Drain,
    /// Decides on redirects. `None`: a person makes the call, and the address is their own choice.
    pub redirects: Option<Redirects>,
    /// What has to stay open as long as something that the call has started runs: its ways out and in.
    pub doors: Option<Arc<dyn Any + Send + Sync>>,
    /// Held by everything that the call has started, including what continues after its future is dropped (a blocking
    /// write, a process being killed): once nobody holds it, nothing is left that could change a file.
    pub lifeline: Lifeline,
}

impl Place {
    /// An empty place: nothing can be read or written, and nobody can be asked. For a call that is refused before it
    /// touches anything, and for tools that touch nothing.
    pub fn nowhere(worker_id: protocol::WorkerId, call_id: &str, lifeline: Lifeline) -> Self {
        Self {
            worker_id,
            call_id: call_id.to_owned(),
            by: ToolBy::Model,
            cwd: PathBuf::from("/"),
            scope: Scope::default(),
            leads: None,
            seen: Arc::default(),
            outputs: PathBuf::new(),
            network: Network::None,
            way_in: None,
            questions: Questions::none(),
            drain: Drain::none(),
            redirects: None,
            doors: None,
            lifeline,
        }
    }
}

/// The decision of a Pod's rules about an address that a page redirects to.
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

/// A share in something that has ended when all shares are dropped.
#[derive(Debug, Clone)]
pub struct Lifeline(#[expect(dead_code, reason = "its end is what counts")] mpsc::Sender<()>);

impl Lifeline {
    /// A first share, and the receiver that detects the end: `recv` then returns `None`.
    pub fn pair() -> (Self, mpsc::Receiver<()>) {
        let (sender, ended) = mpsc::channel(1);
        (Self(sender), ended)
    }
}

/// Something that a model can call by name.
#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug {
    fn name(&self) -> &str;

    /// One paragraph for the model.
    fn description(&self) -> &str;

    /// JSON schema of the arguments: an object that refuses unknown fields.
    fn schema(&self) -> Value;

    /// It changes nothing, so calls of this kind may run in parallel.
    fn only_reads(&self) -> bool {
        tool::facts(self.name()).changes == Changes::Nothing
    }

    /// The decision for a call that no rule covers.
    fn default_permission(&self) -> PermissionDecision {
        tool::facts(self.name()).default
    }

    /// Why the call would be refused for its arguments alone, as a sentence; nobody is asked about such a call.
    fn misfit(&self, _: &Value) -> Option<String> {
        None
    }

    /// Carries out the call. Dropping the future stops the work.
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

    /// Adds tools; a later one replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools.into_iter().map(|tool| (tool.name().to_owned(), tool)));
        self
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// In order of their names; `only` restricts them to the named ones.
    pub fn offered<'a>(&'a self, only: Option<&'a [String]>) -> impl Iterator<Item = &'a Arc<dyn Tool>> {
        self.tools.values().filter(move |known| only.is_none_or(|names| tool::is_listed(names, known.name())))
    }

    /// What a model is told when it calls an unknown tool. `only` as in [`Toolbox::offered`].
    pub fn unknown(&self, name: &str, only: Option<&[String]>) -> ToolOutcome {
        let known = self.offered(only).map(|tool| tool.name()).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none are available".to_owned() } else { format!("there are {known}") };
        ToolOutcome::failed("not_found", format!("no tool is called \"{name}\"; {known}"))
    }
}
