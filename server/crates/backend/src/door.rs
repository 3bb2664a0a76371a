//! The one door. Whoever asks — page, API, terminal — comes through here: it finds the runtime, applies policy,
//! and writes the audit. Nothing else knows which runtime a Pod lives in.

mod audit;
mod commands;
mod everywhere;
mod gather;
mod journals;
mod link;
mod once;
mod previews;
mod queries;
mod resolve;
mod runtimes;
mod sessions;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
};

use jiff::Timestamp;
use protocol::{ApiError, PodRef, RuntimeId};
use runtime::{Health, Host, Observation, RecordForm, RecordPage, Settings};

use self::{audit::Audit, previews::Previews, sessions::Sessions};
pub use self::{
    journals::{ExportFormat, ExportText},
    runtimes::{BackendOptions, NotStarted},
};
use crate::{
    Entry, EntryKind, Registry, RuntimePort, embedded::Embedded, kept::Kept, lines::Lines, previews::OpenPreviews,
    sessions::Endings,
};

/// Everything that the server can do, for all its clients.
#[derive(Clone)]
pub struct Backend {
    host: Host,
    registry: Registry,
    since: Timestamp,
    endings: Endings,
    /// What this server announces to others.
    name: RuntimeId,
    /// Where runtimes are written down that were added.
    kept: Arc<Kept>,
    /// To and from other stores.
    lines: Lines,
    previews: OpenPreviews,
    /// Of the list of all Pods.
    revision: Arc<AtomicU64>,
}

impl fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Backend").finish_non_exhaustive()
    }
}

impl Backend {
    /// A backend that knows its own runtime, and keeps none that is added over a restart.
    pub fn new(host: Host) -> Self {
        Self::of(host, RuntimeId::local(), Kept::nowhere())
    }

    fn of(host: Host, name: RuntimeId, kept: Kept) -> Self {
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
            lines: Lines::default(),
            previews: OpenPreviews::default(),
            revision: Arc::new(AtomicU64::new(1)),
        }
    }

    /// All runtimes that this server reaches.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn audit(&self) -> Audit<'_> {
        Audit { backend: self }
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { backend: self }
    }

    pub fn previews(&self) -> Previews<'_> {
        Previews { backend: self }
    }

    /// What this server's own runtime works with: providers, profiles, limits.
    pub fn settings(&self) -> Settings<'_> {
        self.host.settings()
    }

    /// How this server's own runtime is.
    pub fn health(&self) -> Health<'_> {
        self.host.health()
    }

    fn port(&self, runtime_id: &RuntimeId) -> Result<Arc<dyn RuntimePort>, ApiError> {
        self.registry.port(runtime_id)
    }

    /// The newest records, or those before a seq: at most `limit`, and about [`protocol::PAGE_BYTES_MAX`] bytes of them, but one if
    /// there is any.
    pub async fn transcript(
        &self,
        pod: &PodRef,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        self.port(&pod.runtime_id)?.transcript(&pod.worker_id, before, limit, form).await
    }

    /// A Pod's stream: a snapshot of the newest `tail` records and all that follows, or what follows a cursor.
    pub async fn observe(&self, pod: &PodRef, after: Option<String>, tail: u32) -> Result<Observation, ApiError> {
        Ok(self.port(&pod.runtime_id)?.observe(&pod.worker_id, after, tail).await)
    }
}
