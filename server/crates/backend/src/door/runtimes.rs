//! Runtimes that come and go while the server runs: added by a person, kept across restarts, removed again.

use std::sync::Arc;

use client::Client;
use protocol::{AddRuntime, ApiError, CommandId, ErrorCode, RuntimeId, RuntimeView};
use runtime::{CommandKey, Origin};
use serde::{Serialize, de::DeserializeOwned};

use super::{Backend, Carrier, commands::fingerprint, once::Keeping};
use crate::{Entry, EntryKind, kept::KeptRuntime, remote::Remote};

/// The most other servers.
const RUNTIMES_MAX: usize = 64;
/// The runtime name of a refused attempt goes into the audit, cut to this length.
const TARGET_CHARS_MAX: usize = 100;

/// Lists, adds and removes the runtimes that this server reaches.
#[derive(Debug, Clone, Copy)]
pub struct Runtimes<'a> {
    pub(super) backend: &'a Backend,
}

impl Runtimes<'_> {
    /// The runtimes that this server reaches; never their addresses.
    pub fn list(self) -> Vec<RuntimeView> {
        self.backend.registry.entries().into_iter().map(|(_, entry)| entry.port.view(self.backend.since)).collect()
    }

    /// Adds another server's runtime. One that cannot be reached now is added and shown as such.
    ///
    /// # Errors
    /// `name_taken`, also if that server is here under another name; `invalid_input` if what answers there is no yoi,
    /// refuses the token, or is this server itself; `rate_limited` beyond 64 of them.
    pub async fn add(self, origin: &Origin, id: CommandId, add: AddRuntime) -> Result<RuntimeView, ApiError> {
        let key = fingerprint(id, "runtime_add", None, &json(&add));
        let target = add.runtime_id.to_string();
        self.once(origin, &key, "runtime_add", target, async |was_begun| self.put_in(add, was_begun).await).await
    }

    /// Removes another server's runtime, with its address and token. Its Pods stay where they are.
    pub async fn remove(self, origin: &Origin, id: CommandId, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let key = fingerprint(id, "runtime_remove", None, &json(runtime_id));
        let work = async |was_begun| match self.take_out(runtime_id).await {
            Err(error) if was_begun && error.code == ErrorCode::RuntimeNotFound => Ok(()),
            done => done,
        };
        self.once(origin, &key, "runtime_remove", runtime_id.to_string(), work).await
    }

    /// Changes the runtimes and audits that, or returns the first answer.
    async fn once<T: Serialize + DeserializeOwned>(
        self,
        origin: &Origin,
        key: &CommandKey,
        action: &str,
        target: String,
        work: impl AsyncFnOnce(bool) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let _turn = self.backend.kept.turn().await;
        if let Ok(Some(first)) = self.backend.host.claims().first_answer(key).await
            && let Ok(answer) = serde_json::from_str(&first)
        {
            return Ok(answer);
        }
        let keeping = Keeping { write: |answer: &T| json(answer), read: |text: &str| serde_json::from_str(text) };
        let done = Carrier { backend: self.backend, origin, key }.claimed(keeping, work).await;
        let target = target.chars().take(TARGET_CHARS_MAX).collect();
        self.backend.audit().ended(origin, action, target, None, &done).await;
        done
    }

    /// With `was_begun`, an existing runtime with this address and token is taken to be the one that the command added.
    async fn put_in(self, add: AddRuntime, was_begun: bool) -> Result<RuntimeView, ApiError> {
        let mut runtime = KeptRuntime::new(add)?;
        if was_begun
            && self.backend.kept.hold().await.has(&runtime)
            && let Some(entry) = self.backend.registry.get(&runtime.runtime_id)
        {
            return Ok(entry.port.view(self.backend.since));
        }
        self.check_free(&runtime.runtime_id)?;
        let client = Remote::client(&runtime)?;
        runtime.store_id = Remote::look(&client, &runtime.runtime_id).await?;
        if let Some(store_id) = &runtime.store_id {
            self.check_new(store_id)?;
        }
        // If two are added at once, one comes first, so the checks are repeated with the file held.
        let mut file = self.backend.kept.hold().await;
        self.check_free(&runtime.runtime_id)?;
        if let Some(store_id) = &runtime.store_id {
            self.check_new(store_id)?;
        }
        file.put(runtime.clone()).await.map_err(not_written)?;
        let port = self.put_remote(&runtime, client)?;
        drop(file);
        port.settled().await;
        Ok(crate::RuntimePort::view(port.as_ref(), self.backend.since))
    }

    async fn take_out(self, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let mut file = self.backend.kept.hold().await;
        match self.backend.registry.entry(runtime_id)?.kind {
            EntryKind::Remote => (),
            EntryKind::Embedded => {
                return Err(ApiError::invalid("\"local\" is this server's own runtime and stays"));
            }
            EntryKind::Announced => {
                let sentence = format!("\"{runtime_id}\" is a server that added this one; remove this one there");
                return Err(ApiError::invalid(sentence));
            }
            EntryKind::Compat => {
                let sentence = format!("\"{runtime_id}\" is there as long as --compat-sockets is given");
                return Err(ApiError::invalid(sentence));
            }
        }
        file.remove(runtime_id).await.map_err(not_written)?;
        self.backend.registry.remove(runtime_id);
        if let Some(path) = self.backend.kept.list_path(runtime_id) {
            Remote::forget_list(&path);
        }
        Ok(())
    }

    fn check_free(self, runtime_id: &RuntimeId) -> Result<(), ApiError> {
        let entries = self.backend.registry.entries();
        if entries.iter().any(|(id, _)| id == runtime_id) {
            let sentence = format!("a runtime called \"{runtime_id}\" already exists; choose another name");
            return Err(ApiError::new(ErrorCode::NameTaken, sentence));
        }
        if entries.len() > RUNTIMES_MAX {
            let sentence = format!("there can be at most {RUNTIMES_MAX} other runtimes; remove one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        Ok(())
    }

    /// The same Pods under two names would be listed twice, and our own would come back to us.
    fn check_new(self, store_id: &str) -> Result<(), ApiError> {
        match self.backend.registry.by_store(store_id) {
            None => Ok(()),
            Some(known) if known == RuntimeId::local() => {
                Err(ApiError::invalid("that address is this server itself; its Pods are already here"))
            }
            // A server that announced itself is reached by address from now on.
            Some(known)
                if self.backend.registry.get(&known).is_some_and(|entry| entry.kind == EntryKind::Announced) =>
            {
                Ok(())
            }
            Some(known) => {
                let sentence = format!("that server is already here, as \"{known}\"");
                Err(ApiError::new(ErrorCode::NameTaken, sentence))
            }
        }
    }

    pub(super) fn put_remote(self, runtime: &KeptRuntime, client: Client) -> Result<Arc<Remote>, ApiError> {
        let remote = Remote::open(runtime, client.clone(), self.backend.registry.clone(), self.backend.kept.clone());
        let entry = Entry {
            store_id: runtime.store_id.clone(),
            link: Some(Arc::new(client.clone())),
            client: Some(client),
            terms: Some(remote.terms()),
            ..Entry::new(EntryKind::Remote, remote.clone())
        };
        self.backend.registry.insert(runtime.runtime_id.clone(), entry)?;
        remote.begin();
        Ok(remote)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("protocol types always encode")
}

fn not_written(error: std::io::Error) -> ApiError {
    tracing::error!(%error, "the file of runtimes could not be written");
    ApiError::new(ErrorCode::Internal, "yoi could not store its runtimes, so nothing was done; its log says why")
}
