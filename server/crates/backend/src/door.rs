//! The one door. Every client (page, API, terminal) comes through here: it finds the runtime, applies policy, and
//! writes the audit. Nothing else knows which runtime a Pod lives in.

mod agents;
mod answers;
mod audit;
mod blobs;
mod carrier;
mod commands;
mod everywhere;
mod gather;
mod journals;
mod keys;
mod link;
mod once;
mod previews;
mod queries;
mod resolve;
mod runtimes;
mod servers;
mod sessions;
mod terminals;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use jiff::Timestamp;
use protocol::{ApiError, RuntimeId};
use runtime::{Health, Host, PodTokens, Settings};

use self::{
    agents::Agents, audit::Audit, blobs::Blobs, carrier::Carrier, everywhere::Everywhere, journals::Journals,
    keys::Keys, link::Links, previews::Previews, runtimes::Runtimes, servers::Servers, sessions::Sessions,
    terminals::Terminals,
};
pub use self::{
    journals::{ExportFormat, ExportText},
    servers::{MCP_CALLBACK, MCP_CLIENT, ReturnAddress, redirect_uri},
};
use crate::{
    Entry, EntryKind, Registry, RuntimePort,
    embedded::Embedded,
    kept::Kept,
    kept_keys::KeptKeys,
    lines::Lines,
    previews::OpenPreviews,
    remote::Remote,
    sessions::Endings,
    terminals::{OpenTerminals, TerminalOptions},
};

/// What a backend is made of.
#[derive(Debug)]
pub struct BackendOptions {
    pub host: Host,
    /// The name under which this server announces itself to others.
    pub name: RuntimeId,
    /// The file that keeps added runtimes with their addresses and tokens, readable only by its owner. Without it they
    /// are forgotten when the server ends.
    pub runtimes_file: Option<PathBuf>,
    /// API keys that were given to the running server; the host's providers were created with them.
    pub keys: KeptKeys,
    /// A server that announced itself is forgotten after being silent for this long, unless a Pod here has a peer
    /// there.
    pub forget_after: Duration,
    /// What terminals are made of; `None`: there are none.
    pub terminals: Option<TerminalOptions>,
}

/// The file of runtimes cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotStarted(pub(crate) String);

/// Everything that the server can do, for all its clients.
#[derive(Clone)]
pub struct Backend {
    host: Host,
    registry: Registry,
    since: Timestamp,
    endings: Endings,
    /// The name under which this server announces itself to others.
    name: RuntimeId,
    /// The file that keeps added runtimes.
    kept: Arc<Kept>,
    kept_keys: Arc<KeptKeys>,
    /// The state of the lines to other stores.
    lines: Lines,
    previews: OpenPreviews,
    terminals: OpenTerminals,
    /// The revision of the list of all Pods.
    revision: Arc<AtomicU64>,
}

impl fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Backend").finish_non_exhaustive()
    }
}

impl Backend {
    /// A backend that knows only its own runtime and keeps nothing across a restart.
    pub fn new(host: Host) -> Self {
        Self::of(host, RuntimeId::local(), Kept::nowhere(), KeptKeys::default())
    }

    /// The same, with terminals.
    #[must_use]
    pub fn with_terminals(mut self, options: TerminalOptions) -> Self {
        self.terminals = OpenTerminals::new(Some(options));
        self
    }

    /// A backend that knows its own runtime and those that were added before.
    ///
    /// # Errors
    /// The file of runtimes exists and cannot be read: a server that forgets where its Pods are is worse than one that
    /// does not start.
    pub fn start(options: BackendOptions) -> Result<Self, NotStarted> {
        let BackendOptions { host, name, runtimes_file, keys, forget_after, terminals } = options;
        let (kept, runtimes) = Kept::open(runtimes_file).map_err(NotStarted)?;
        let backend = Self { terminals: OpenTerminals::new(terminals), ..Self::of(host, name, kept, keys) };
        for runtime in runtimes {
            let client = Remote::client(&runtime).map_err(|error| NotStarted(error.detail))?;
            backend.runtimes().put_remote(&runtime, client).map_err(|error| NotStarted(error.detail))?;
        }
        backend.links().begin(forget_after);
        Ok(backend)
    }

    fn of(host: Host, name: RuntimeId, kept: Kept, keys: KeptKeys) -> Self {
        let embedded: Arc<dyn RuntimePort> = Arc::new(Embedded::new(host.clone()));
        let store_id = Some(host.stores().own_id().to_owned());
        let registry = Registry::new(Entry { store_id, ..Entry::new(EntryKind::Embedded, embedded) });
        Self {
            host,
            registry,
            since: Timestamp::now(),
            endings: Endings::new(),
            name,
            kept: Arc::new(kept),
            kept_keys: Arc::new(keys),
            lines: Lines::default(),
            previews: OpenPreviews::default(),
            terminals: OpenTerminals::new(None),
            revision: Arc::new(AtomicU64::new(1)),
        }
    }

    /// The name under which this server announces itself to others.
    pub fn name(&self) -> &RuntimeId {
        &self.name
    }

    /// The id of the database of this server's own runtime.
    pub fn store_id(&self) -> &str {
        self.host.stores().own_id()
    }

    /// All runtimes that this server reaches.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn runtimes(&self) -> Runtimes<'_> {
        Runtimes { backend: self }
    }

    pub fn links(&self) -> Links<'_> {
        Links { backend: self }
    }

    pub fn journals(&self) -> Journals<'_> {
        Journals { backend: self }
    }

    pub fn everywhere(&self) -> Everywhere<'_> {
        Everywhere { backend: self }
    }

    pub fn audit(&self) -> Audit<'_> {
        Audit { backend: self }
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { backend: self }
    }

    pub fn agents(&self) -> Agents<'_> {
        Agents { backend: self }
    }

    /// The tokens with which agents of Pods reach this server's `/mcp` and nothing else.
    pub fn pod_tokens(&self) -> &PodTokens {
        self.host.pod_tokens()
    }

    pub fn keys(&self) -> Keys<'_> {
        Keys { backend: self }
    }

    pub fn servers(&self) -> Servers<'_> {
        Servers { backend: self }
    }

    pub fn blobs(&self) -> Blobs<'_> {
        Blobs { backend: self }
    }

    pub fn previews(&self) -> Previews<'_> {
        Previews { backend: self }
    }

    pub fn terminals(&self) -> Terminals<'_> {
        Terminals { backend: self }
    }

    /// The settings of this server's own runtime: providers, profiles, limits.
    pub fn settings(&self) -> Settings<'_> {
        self.host.settings()
    }

    /// The health of this server's own runtime.
    pub fn health(&self) -> Health<'_> {
        self.host.health()
    }

    fn port(&self, runtime_id: &RuntimeId) -> Result<Arc<dyn RuntimePort>, ApiError> {
        self.registry.port(runtime_id)
    }
}
