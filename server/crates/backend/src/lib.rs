//! The one door. Whoever asks — page, API, terminal — comes through here: it finds the runtime, applies policy,
//! and writes the audit. Nothing else knows which runtime a Pod lives in.

mod conversation;
mod embedded;
mod lists;
mod peers;
mod port;
mod sessions;
mod settings;
mod tools;

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use protocol::{
    ApiError, AuditEntry, CommandId, ControlVerb, CreatePod, ErrorCode, History, InputCommand, Listing, PatchPod,
    PodDetail, PodRef, PodSummary, ProviderView, Receipt, RestoreCommand, RuntimeId, RuntimeView, Target,
    UnconfiguredProvider,
};
use runtime::{CommandKey, Host};
pub use runtime::{
    Export, FeedItem, Figures, Introduced, Observation, Origin, PodQuery, PodsItem, PodsObservation, Readiness,
    RecordPage,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use crate::lists::{ExportFormat, ExportText, SearchQuery};
pub use crate::port::RuntimePort;
pub use crate::sessions::{SESSION_SECONDS, Session, SessionSecret};
pub use crate::settings::AuditQuery;
use crate::{embedded::Embedded, sessions::Endings};

/// Everything that the server can do, for all its clients.
#[derive(Clone)]
pub struct Backend {
    host: Host,
    embedded: Arc<dyn RuntimePort>,
    since: Timestamp,
    endings: Endings,
}

impl fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Backend").finish_non_exhaustive()
    }
}

impl Backend {
    pub fn new(host: Host) -> Self {
        Self { embedded: Arc::new(Embedded::new(host.clone())), host, since: Timestamp::now(), endings: Endings::new() }
    }

    fn port(&self, runtime_id: &RuntimeId) -> Result<&dyn RuntimePort, ApiError> {
        match runtime_id.as_str() {
            "local" => Ok(self.embedded.as_ref()),
            other => Err(ApiError::new(
                ErrorCode::RuntimeNotFound,
                format!("no runtime is called \"{other}\"; GET /api/v1/runtimes lists those that are"),
            )),
        }
    }

    /// The runtimes that this server reaches.
    pub fn runtimes(&self) -> Vec<RuntimeView> {
        vec![self.embedded.view(self.since)]
    }

    pub async fn providers(&self) -> Vec<ProviderView> {
        self.host.providers().await
    }

    /// What would make more providers appear.
    pub fn unconfigured(&self) -> Vec<UnconfiguredProvider> {
        self.host.unconfigured()
    }

    pub fn readiness(&self) -> Readiness {
        self.host.readiness()
    }

    /// Figures for `/metrics`.
    pub fn figures(&self) -> Figures {
        self.host.figures()
    }

    pub async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.embedded.pods(query).await
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ApiError> {
        self.port(&pod.runtime_id)?.pod(&pod.worker_id).await
    }

    /// Turns what a person wrote (`name`, `name@runtime`, `runtime/worker`) into an address.
    pub async fn resolve(&self, target: &str) -> Result<PodRef, ApiError> {
        match target.parse::<Target>().map_err(|error| ApiError::invalid(error.to_string()))? {
            Target::Ref(pod) => self.pod(&pod).await.map(|detail| detail.summary.pod),
            Target::Name { name, runtime_id } => {
                let port = self.port(runtime_id.as_ref().unwrap_or(&RuntimeId::local()))?;
                match port.pod_named(&name).await? {
                    Some(pod) => Ok(pod),
                    None => Err(self.unknown_name(name.as_str()).await?),
                }
            }
        }
    }

    async fn unknown_name(&self, name: &str) -> Result<ApiError, ApiError> {
        let near = self.host.near_names(name).await?;
        let hint = match near.first() {
            Some(candidate) => format!("; did you mean \"{}\"?", candidate.name),
            None => String::new(),
        };
        Ok(ApiError::new(ErrorCode::PodNotFound, format!("no Pod is called \"{name}\"{hint}")).with_candidates(near))
    }

    pub async fn create(&self, origin: &Origin, id: CommandId, create: CreatePod) -> Result<PodSummary, ApiError> {
        let key = command_key(id, "pod_create", None, &create);
        let target = create.name.to_string();
        let runtime_id = create.runtime_id.clone().unwrap_or_else(RuntimeId::local);
        let done = async { self.port(&runtime_id)?.create(key, origin, create).await }.await;
        self.audited(origin, "pod_create", Some(target), done).await
    }

    pub async fn input(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        let key = command_key(id, "input", Some(pod), &input);
        let done = async { self.port(&pod.runtime_id)?.input(key, origin, &pod.worker_id, input).await }.await;
        self.audited(origin, "input", Some(pod.to_string()), done).await
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
        let done = async { self.port(&pod.runtime_id)?.control(key, origin, &pod.worker_id, verb).await }.await;
        self.audited(origin, verb.as_str(), Some(pod.to_string()), done).await
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
        let done = async { self.port(&pod.runtime_id)?.patch(key, origin, &pod.worker_id, patch).await }.await;
        self.audited(origin, "rename", Some(pod.to_string()), done).await
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
        let done = async { self.port(&pod.runtime_id)?.delete(key, origin, &pod.worker_id, confirm).await }.await;
        self.audited(origin, "delete", Some(pod.to_string()), done).await
    }

    pub async fn transcript(&self, pod: &PodRef, before: Option<&str>, limit: u32) -> Result<RecordPage, ApiError> {
        self.port(&pod.runtime_id)?.transcript(&pod.worker_id, before, limit).await
    }

    /// What the Pod's model would be sent now.
    pub async fn history(&self, pod: &PodRef) -> Result<History, ApiError> {
        self.port(&pod.runtime_id)?.history(&pod.worker_id).await
    }

    /// A Pod's stream: a snapshot of the newest `tail` records and all that follows, or what follows a cursor.
    pub async fn observe(&self, pod: &PodRef, after: Option<String>, tail: u32) -> Result<Observation, ApiError> {
        Ok(self.port(&pod.runtime_id)?.observe(&pod.worker_id, after, tail).await)
    }

    /// The list of Pods and its changes.
    pub fn observe_pods(&self) -> PodsObservation {
        self.embedded.observe_pods()
    }

    /// A command that was carried out is audited with it, in its own transaction, by the runtime; one that was not,
    /// here.
    async fn audited<T>(
        &self,
        origin: &Origin,
        action: &str,
        target: Option<String>,
        done: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if let Err(error) = &done {
            let result = if error.code.status() >= 500 { "failed" } else { "refused" };
            self.record_audit(origin, action, target, result, Some(error.code)).await;
        }
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
        let entry = AuditEntry {
            at: Timestamp::now(),
            by: origin.by.clone(),
            client: origin.client.clone(),
            action: action.to_owned(),
            target,
            result: result.to_owned(),
            code: code.map(|code| code.to_string()),
        };
        if let Err(error) = self.host.audit_append(entry).await {
            tracing::error!(%error, action, "could not write the audit");
        }
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
