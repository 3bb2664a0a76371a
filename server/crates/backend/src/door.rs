//! The one door. Whoever asks — page, API, terminal — comes through here: it finds the runtime, applies policy,
//! and writes the audit. Nothing else knows which runtime a Pod lives in.

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
mod settings;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
};

use jiff::Timestamp;
use protocol::{
    ApiError, AuditAbout, AuditEntry, ErrorCode, PodRef, ProviderView, RuntimeId, UnconfiguredProvider,
    operations::{Answer, Command},
};
use runtime::{Figures, Host, Observation, Origin, Readiness, RecordForm, RecordPage};

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

    /// The host of this server's own runtime.
    pub fn host(&self) -> &Host {
        &self.host
    }

    fn port(&self, runtime_id: &RuntimeId) -> Result<Arc<dyn RuntimePort>, ApiError> {
        self.registry.port(runtime_id)
    }

    pub async fn providers(&self) -> Vec<ProviderView> {
        self.host.settings().providers().await
    }

    /// What would make more providers appear.
    pub fn unconfigured(&self) -> Vec<UnconfiguredProvider> {
        self.host.settings().unconfigured()
    }

    pub async fn readiness(&self) -> Readiness {
        self.host.health().readiness().await
    }

    /// Figures for `/metrics`.
    pub fn figures(&self) -> Figures {
        self.host.health().figures()
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

    /// A command that the runtime in this process carried out is audited with it, in its own transaction, by the
    /// runtime; one that was not, or was carried out elsewhere, here.
    async fn audited(
        &self,
        origin: &Origin,
        command: &Command,
        about: Option<AuditAbout>,
        done: Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        if done.is_ok() && command.runtime_id() == RuntimeId::local() {
            return done;
        }
        let (result, code) = outcome(done.as_ref());
        let entry = audit_entry(origin, command.action(), Some(command.target()), result, code);
        self.append_audit(AuditEntry { about, ..entry }).await;
        done
    }

    /// Notes something that no runtime carries out, such as a login.
    pub async fn record_audit(
        &self,
        origin: &Origin,
        action: &str,
        target: Option<String>,
        result: &str,
        code: Option<ErrorCode>,
    ) {
        self.append_audit(audit_entry(origin, action, target, result, code)).await;
    }

    async fn append_audit(&self, entry: AuditEntry) {
        let action = entry.action.clone();
        if let Err(error) = self.host.audit().append(entry).await {
            tracing::error!(%error, action, "could not write the audit");
        }
    }
}

/// What the audit calls the end of something.
fn outcome<T>(done: Result<T, &ApiError>) -> (&'static str, Option<ErrorCode>) {
    match done {
        Ok(_) => ("done", None),
        Err(error) if error.code.status() >= 500 => ("failed", Some(error.code)),
        Err(error) => ("refused", Some(error.code)),
    }
}

fn audit_entry(
    origin: &Origin,
    action: &str,
    target: Option<String>,
    result: &str,
    code: Option<ErrorCode>,
) -> AuditEntry {
    AuditEntry {
        at: Timestamp::now(),
        by: origin.by.clone(),
        client: origin.client.clone(),
        action: action.to_owned(),
        target,
        result: result.to_owned(),
        code: code.map(|code| code.to_string()),
        about: None,
    }
}
