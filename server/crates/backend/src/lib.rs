//! The one door. Whoever asks — page, API, terminal — comes through here: it finds the runtime, applies policy,
//! and writes the audit. Nothing else knows which runtime a Pod lives in.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod codes;
mod compat;
mod conversation;
mod embedded;
mod everywhere;
mod gathered;
mod link;
mod lists;
mod once;
mod peers;
mod port;
mod previews;
mod random;
mod registry;
mod remote;
mod resolve;
mod runtimes;
mod sessions;
mod settings;
mod sums;
mod terms;
mod tools;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
};

use jiff::Timestamp;
use protocol::{
    ApiError, AuditAbout, AuditEntry, CommandId, ControlVerb, CreatePod, ErrorCode, History, InputCommand, PatchPod,
    PodDetail, PodRef, PodSummary, ProviderView, Receipt, RestoreCommand, RuntimeId, UnconfiguredProvider,
};
pub use runtime::watched;
use runtime::{CommandKey, Host};
pub use runtime::{
    DatabaseState, Export, FeedItem, Figures, Introduced, Observation, Origin, PodQuery, PodsItem, PodsObservation,
    Readiness, RecordForm, RecordPage,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use crate::codes::{CODE_LIFE, Codes};
pub use crate::compat::CompatSockets;
pub use crate::lists::{ExportFormat, ExportText, SearchQuery};
pub use crate::port::{RuntimePort, Verb};
pub use crate::previews::{Guest, OpenPreview, PREVIEW_ENTER};
pub use crate::registry::{Entry, EntryKind, Registry};
pub use crate::runtimes::{BackendOptions, NotStarted};
pub use crate::sessions::{SESSION_SECONDS, Session, SessionSecret};
pub use crate::settings::AuditQuery;
pub use crate::terms::Terms;
use crate::{embedded::Embedded, previews::Previews, runtimes::Kept, sessions::Endings};

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
    links: link::Links,
    previews: Previews,
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
        let store_id = Some(host.store_id().to_owned());
        let registry = Registry::new(Entry { store_id, ..Entry::new(EntryKind::Embedded, embedded) });
        Self {
            host,
            registry,
            since: Timestamp::now(),
            endings: Endings::new(),
            name,
            kept: Arc::new(kept),
            links: link::Links::default(),
            previews: Previews::default(),
            revision: Arc::new(AtomicU64::new(1)),
        }
    }

    /// All runtimes that this server reaches.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    fn port(&self, runtime_id: &RuntimeId) -> Result<Arc<dyn RuntimePort>, ApiError> {
        self.registry.port(runtime_id)
    }

    pub async fn providers(&self) -> Vec<ProviderView> {
        self.host.providers().await
    }

    /// What would make more providers appear.
    pub fn unconfigured(&self) -> Vec<UnconfiguredProvider> {
        self.host.unconfigured()
    }

    pub async fn readiness(&self) -> Readiness {
        self.host.readiness().await
    }

    /// Figures for `/metrics`.
    pub fn figures(&self) -> Figures {
        self.host.figures()
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ApiError> {
        self.port(&pod.runtime_id)?.pod(&pod.worker_id).await
    }

    pub async fn create(&self, origin: &Origin, id: CommandId, create: CreatePod) -> Result<PodSummary, ApiError> {
        let key = command_key(id, "pod_create", None, &create);
        let target = create.name.to_string();
        let runtime_id = create.runtime_id.clone().unwrap_or_else(RuntimeId::local);
        let work = async { self.port(&runtime_id)?.create(key.clone(), origin, create).await };
        self.carry_out(origin, "pod_create", &key, (&runtime_id, target), work).await
    }

    pub async fn input(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        let key = command_key(id, "input", Some(pod), &input);
        let work = async { self.port(&pod.runtime_id)?.input(key.clone(), origin, &pod.worker_id, input).await };
        self.carry_out(origin, "input", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// Pause, resume, cancel, stop, compact; restore is [`Backend::restore`] of this Pod alone.
    pub async fn control(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        // One command, however it is asked for: a repeat of it the other way is no other one.
        if verb == ControlVerb::Restore {
            return self.restore(origin, id, pod, RestoreCommand::default()).await;
        }
        let key = command_key(id, verb.as_str(), Some(pod), &());
        let work = async { self.port(&pod.runtime_id)?.control(key.clone(), origin, &pod.worker_id, verb).await };
        self.carry_out(origin, verb.as_str(), &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// Renames a Pod, or changes its policies.
    pub async fn patch(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        let key = command_key(id, "rename", Some(pod), &patch);
        let work = async { self.port(&pod.runtime_id)?.patch(key.clone(), origin, &pod.worker_id, patch).await };
        self.carry_out(origin, "rename", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// Stops a Pod and removes it with all that it holds. `confirm` is its name.
    pub async fn delete(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        let key = command_key(id, "delete", Some(pod), &confirm);
        let work = async { self.port(&pod.runtime_id)?.delete(key.clone(), origin, &pod.worker_id, confirm).await };
        self.carry_out(origin, "delete", &key, (&pod.runtime_id, pod.to_string()), work).await?;
        self.previews_end(pod);
        Ok(())
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

    /// What the Pod's model would be sent now.
    pub async fn history(&self, pod: &PodRef) -> Result<History, ApiError> {
        self.port(&pod.runtime_id)?.history(&pod.worker_id).await
    }

    /// A Pod's stream: a snapshot of the newest `tail` records and all that follows, or what follows a cursor.
    pub async fn observe(&self, pod: &PodRef, after: Option<String>, tail: u32) -> Result<Observation, ApiError> {
        Ok(self.port(&pod.runtime_id)?.observe(&pod.worker_id, after, tail).await)
    }

    /// A command that the runtime in this process carried out is audited with it, in its own transaction, by the
    /// runtime; one that was not, or was carried out elsewhere, here.
    async fn audited<T>(
        &self,
        origin: &Origin,
        action: &str,
        runtime_id: &RuntimeId,
        target: String,
        about: Option<AuditAbout>,
        done: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let (result, code) = match &done {
            Ok(_) if *runtime_id == RuntimeId::local() => return done,
            Ok(_) => ("done", None),
            Err(error) if error.code.status() >= 500 => ("failed", Some(error.code)),
            Err(error) => ("refused", Some(error.code)),
        };
        self.append_audit(AuditEntry { about, ..audit_entry(origin, action, Some(target), result, code) }).await;
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
        if let Err(error) = self.host.audit_append(entry).await {
            tracing::error!(%error, action, "could not write the audit");
        }
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

/// The same key with another verb, address or body is another command, and is refused as `key_reused`.
fn command_key(id: CommandId, verb: &str, pod: Option<&PodRef>, body: &impl Serialize) -> CommandKey {
    let mut hash = Sha256::new();
    hash.update(verb);
    hash.update([0]);
    hash.update(pod.map(PodRef::to_string).unwrap_or_default());
    hash.update([0]);
    hash.update(serde_json::to_vec(body).expect("protocol types always encode"));
    CommandKey { id, fingerprint: hash.finalize().into() }
}
