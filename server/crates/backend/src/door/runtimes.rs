//! Runtimes that come and go while the server runs: added by a person, kept over restarts, taken out again.

use std::{path::PathBuf, time::Duration};

use client::Client;
use protocol::{AddRuntime, ApiError, CommandId, ErrorCode, RuntimeId, RuntimeView};
use runtime::{CommandKey, Host, Origin};
use serde::{Serialize, de::DeserializeOwned};

use super::{Backend, commands::fingerprint, once::Keeping};
use crate::{
    Entry, EntryKind,
    kept::{Kept, KeptRuntime},
    registry,
    remote::Remote,
};

/// So many other servers, at most.
const RUNTIMES_MAX: usize = 64;
/// What a refused attempt called the runtime goes into the audit, cut to this.
const TARGET_CHARS_MAX: usize = 100;

/// What a backend is made of.
#[derive(Debug)]
pub struct BackendOptions {
    pub host: Host,
    /// What this server announces to others.
    pub name: RuntimeId,
    /// Where runtimes are kept that are added, with their addresses and tokens; for its owner alone. Without it they
    /// are forgotten at the end.
    pub runtimes_file: Option<PathBuf>,
    /// A server that added this one, in which no Pod here knows anybody, and that says nothing for so long, is forgotten.
    pub forget_after: Duration,
}

/// The runtimes that were kept cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotStarted(pub(crate) String);

impl Backend {
    /// A backend that knows its own runtime and those that were added before.
    ///
    /// # Errors
    /// When the file of runtimes is there and cannot be read: a server that forgets where its Pods are is worse than
    /// one that does not start.
    pub fn start(options: BackendOptions) -> Result<Self, NotStarted> {
        let BackendOptions { host, name, runtimes_file, forget_after } = options;
        let (kept, runtimes) = Kept::open(runtimes_file).map_err(NotStarted)?;
        let backend = Self::of(host, name, kept);
        for runtime in runtimes {
            let client = Remote::client(&runtime).map_err(|error| NotStarted(error.detail))?;
            backend.put_remote(&runtime, client).map_err(|error| NotStarted(error.detail))?;
        }
        backend.begin_links(forget_after);
        Ok(backend)
    }

    /// What this server announces to others.
    pub fn name(&self) -> &RuntimeId {
        &self.name
    }

    /// Names the database of this server's own runtime.
    pub fn store_id(&self) -> &str {
        self.host.stores().own_id()
    }

    /// The runtimes that this server reaches; never an address.
    pub fn runtimes(&self) -> Vec<RuntimeView> {
        self.registry.entries().into_iter().map(|(_, entry)| entry.port.view(self.since)).collect()
    }

    /// Adds another server's runtime. One that cannot be reached now is added and shown as such.
    ///
    /// # Errors
    /// `name_taken`, also when that server is here under another name; `invalid_input` when what answers there is no
    /// yoi, refuses the token, or is this server itself; `rate_limited` beyond 64 of them.
    pub async fn add_runtime(&self, origin: &Origin, id: CommandId, add: AddRuntime) -> Result<RuntimeView, ApiError> {
        let key = fingerprint(id, "runtime_add", None, &json(&add));
        let _turn = self.kept.turn().await;
        if let Ok(Some(view)) = self.told_before(&key).await {
            return Ok(view);
        }
        let target = add.runtime_id.to_string();
        let done = self.claimed(&key, as_json(), async |was_begun| self.add(add, was_begun).await).await;
        self.told(origin, "runtime_add", target, done).await
    }

    /// Forgets another server's runtime, its address and its token. Its Pods stay where they are.
    pub async fn remove_runtime(&self, origin: &Origin, id: CommandId, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let key = fingerprint(id, "runtime_remove", None, &json(runtime_id));
        let _turn = self.kept.turn().await;
        if let Ok(Some(())) = self.told_before(&key).await {
            return Ok(());
        }
        let work = async |was_begun| match self.take_out(runtime_id).await {
            Err(error) if was_begun && error.code == ErrorCode::RuntimeNotFound => Ok(()),
            done => done,
        };
        let done = self.claimed(&key, as_json(), work).await;
        self.told(origin, "runtime_remove", runtime_id.to_string(), done).await
    }

    async fn told<T>(
        &self,
        origin: &Origin,
        action: &str,
        target: String,
        done: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let target = target.chars().take(TARGET_CHARS_MAX).collect();
        self.audit().ended(origin, action, target, None, &done).await;
        done
    }

    /// What a command of this key was answered.
    async fn told_before<T: DeserializeOwned>(&self, key: &CommandKey) -> Result<Option<T>, ApiError> {
        Ok(self.host.claims().first_answer(key).await?.and_then(|answer| serde_json::from_str(&answer).ok()))
    }

    /// With `was_begun` one that is there with this address and token is what the command added.
    async fn add(&self, add: AddRuntime, was_begun: bool) -> Result<RuntimeView, ApiError> {
        let mut runtime = KeptRuntime::new(add)?;
        if was_begun
            && self.kept.hold().await.has(&runtime)
            && let Some(entry) = self.registry.get(&runtime.runtime_id)
        {
            return Ok(entry.port.view(self.since));
        }
        self.check_free(&runtime.runtime_id)?;
        let client = Remote::client(&runtime)?;
        runtime.store_id = Remote::look(&client, &runtime.runtime_id).await?;
        if let Some(store_id) = &runtime.store_id {
            self.check_new(store_id)?;
        }
        // Of two that add at once one comes first: what is looked at is looked at again, with the file held.
        let mut file = self.kept.hold().await;
        self.check_free(&runtime.runtime_id)?;
        if let Some(store_id) = &runtime.store_id {
            self.check_new(store_id)?;
        }
        file.put(runtime.clone()).await.map_err(not_written)?;
        let port = self.put_remote(&runtime, client)?;
        drop(file);
        port.settled().await;
        Ok(crate::RuntimePort::view(port.as_ref(), self.since))
    }

    async fn take_out(&self, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let mut file = self.kept.hold().await;
        match self.registry.get(runtime_id).map(|entry| entry.kind) {
            None => return Err(registry::not_there(runtime_id)),
            Some(EntryKind::Remote) => (),
            Some(EntryKind::Embedded) => {
                return Err(ApiError::invalid("\"local\" is this server's own runtime and stays"));
            }
            Some(EntryKind::Announced) => {
                let sentence = format!("\"{runtime_id}\" is a server that added this one; remove this one there");
                return Err(ApiError::invalid(sentence));
            }
            Some(EntryKind::Compat) => {
                let sentence = format!("\"{runtime_id}\" is there as long as --compat-sockets is given");
                return Err(ApiError::invalid(sentence));
            }
        }
        file.remove(runtime_id).await.map_err(not_written)?;
        self.registry.remove(runtime_id);
        if let Some(path) = self.kept.list_path(runtime_id) {
            Remote::forget_list(&path);
        }
        Ok(())
    }

    fn check_free(&self, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let entries = self.registry.entries();
        if entries.iter().any(|(id, _)| id == runtime_id) {
            let sentence = format!("a runtime called \"{runtime_id}\" is already there; choose another name");
            return Err(ApiError::new(ErrorCode::NameTaken, sentence));
        }
        if entries.len() > RUNTIMES_MAX {
            let sentence = format!("{RUNTIMES_MAX} other runtimes are the most; remove one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        Ok(())
    }

    /// The same Pods under two names would be told twice, and our own would come back to us.
    fn check_new(&self, store_id: &str) -> Result<(), ApiError> {
        match self.registry.by_store(store_id) {
            None => Ok(()),
            Some(known) if known == RuntimeId::local() => {
                Err(ApiError::invalid("that address is this server itself; its Pods are already here"))
            }
            // One that announced itself is reached by address from now on.
            Some(known) if self.registry.get(&known).is_some_and(|entry| entry.kind == EntryKind::Announced) => Ok(()),
            Some(known) => {
                let sentence = format!("that server is already here, as \"{known}\"");
                Err(ApiError::new(ErrorCode::NameTaken, sentence))
            }
        }
    }

    fn put_remote(&self, runtime: &KeptRuntime, client: Client) -> Result<std::sync::Arc<Remote>, ApiError> {
        let remote = Remote::open(runtime, client.clone(), self.registry.clone(), self.kept.clone());
        let entry = Entry {
            store_id: runtime.store_id.clone(),
            client: Some(client),
            terms: Some(remote.terms()),
            ..Entry::new(EntryKind::Remote, remote.clone())
        };
        self.registry.insert(runtime.runtime_id.clone(), entry)?;
        remote.begin();
        Ok(remote)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("protocol types always encode")
}

/// What is kept as it is.
fn as_json<T: Serialize + DeserializeOwned>()
-> Keeping<impl FnOnce(&T) -> String, impl FnOnce(&str) -> Result<T, serde_json::Error>> {
    Keeping { write: |answer: &T| json(answer), read: |text: &str| serde_json::from_str(text) }
}

fn not_written(error: std::io::Error) -> ApiError {
    tracing::error!(%error, "the file of runtimes could not be written");
    ApiError::new(ErrorCode::Internal, "yoi could not write down its runtimes, so nothing was done; its log says why")
}
