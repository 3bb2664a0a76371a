//! Another server's runtime: commands and reads use its API, and everything observed comes over one socket for all
//! viewers.
//!
//! Its address and token never leave this module and the file that keeps them: no answer, record, log or error contains
//! them.

mod export;
mod feeds;
mod known;
mod line;
mod look;
mod port;
mod queue;
mod seen;
mod viewer;

use std::{path::PathBuf, sync::Arc, time::Duration};

use client::{Client, ClientError};
use protocol::{ApiError, ErrorCode, PodRef, RuntimeId, RuntimeState, WorkerId};
use tokio::{
    sync::mpsc,
    task::AbortHandle,
    time::{error::Elapsed, timeout},
};

use self::{known::Known, line::Attach};
use crate::{
    Registry, Terms,
    kept::{Kept, KeptRuntime},
    port::WAIT_MAX,
};

/// How long a caller waits for the connection right after the start, or right after the runtime was added.
const CONNECTING_WAIT: Duration = Duration::from_secs(5);
/// How long adding a runtime waits for its list, if it can be reached at all.
const SETTLE_WAIT: Duration = Duration::from_secs(2);
/// The most viewers that wait to be served by the line.
const ATTACHING_MAX: usize = 64;

/// One added runtime. Dropping it closes its socket and ends its viewers.
#[derive(Debug)]
pub(crate) struct Remote {
    client: Client,
    known: Arc<Known>,
    attach: mpsc::Sender<Attach>,
    /// The parts of the line, until it begins.
    unbegun: std::sync::Mutex<Option<line::Parts>>,
    /// The file with its last list.
    list: Option<PathBuf>,
    /// The line, and the task that writes its list to the file.
    tasks: std::sync::OnceLock<Vec<AbortHandle>>,
}

impl Remote {
    /// A client for its server.
    pub(crate) fn client(runtime: &KeptRuntime) -> Result<Client, ApiError> {
        match Client::of_server(&runtime.url, runtime.token.as_str()) {
            Ok(client) => Ok(client.named("remote")),
            Err(error) => Err(ApiError::invalid(error.to_string())),
        }
    }

    /// Sends no request before [`Remote::begin`].
    pub(crate) fn open(runtime: &KeptRuntime, client: Client, registry: Registry, kept: Arc<Kept>) -> Arc<Self> {
        let terms = Arc::new(Terms::new(runtime.runtime_id.clone()));
        let known = Arc::new(Known::new(terms));
        let list = kept.list_path(&runtime.runtime_id);
        if let (Some(path), Some(store_id)) = (&list, &runtime.store_id) {
            known.set_store(store_id);
            if let Some(seen) = seen::read(path, store_id) {
                known.restore(seen.pods, seen.at);
            }
        }
        let (attach, attaching) = mpsc::channel(ATTACHING_MAX);
        let parts = line::Parts {
            client: client.clone(),
            known: known.clone(),
            attaching,
            store_id: runtime.store_id.clone(),
            registry,
            kept,
        };
        let unbegun = std::sync::Mutex::new(Some(parts));
        Arc::new(Self { client, known, attach, unbegun, list, tasks: std::sync::OnceLock::new() })
    }

    /// Opens the socket and keeps it open.
    pub(crate) fn begin(&self) {
        let parts = self.unbegun.lock().expect("no holder of the parts panics").take();
        if let Some(parts) = parts {
            let keeper = self.list.clone().map(|path| tokio::spawn(seen::keep(self.known.clone(), path)));
            let line = tokio::spawn(line::run(parts));
            let _ = self.tasks.set(keeper.into_iter().chain([line]).map(|task| task.abort_handle()).collect());
        }
    }

    /// Deletes the file with its last list.
    pub(crate) fn forget_list(path: &PathBuf) {
        seen::forget(path);
    }

    pub(crate) fn terms(&self) -> Arc<Terms> {
        self.known.terms.clone()
    }

    /// Returns when it is known whether the server answers, or after a short wait.
    pub(crate) async fn settled(&self) {
        let _ = self.known.settled(SETTLE_WAIT).await;
    }

    fn id(&self) -> &RuntimeId {
        self.known.terms.id()
    }

    /// A Pod's address on its own server.
    fn there(worker_id: &WorkerId) -> PodRef {
        PodRef::new(RuntimeId::local(), worker_id.clone())
    }

    /// Whether a request makes sense. A server that is known not to answer delays nobody.
    async fn reachable(&self) -> Result<(), ApiError> {
        let state = self.known.settled(CONNECTING_WAIT).await;
        match state {
            Ok(RuntimeState::Live | RuntimeState::Connecting) => Ok(()),
            Ok(_) | Err(Elapsed { .. }) => Err(self.known.unavailable()),
        }
    }

    /// A read, limited to 5 s.
    async fn asked<T>(&self, call: impl Future<Output = Result<T, ClientError>>) -> Result<T, ApiError> {
        self.reachable().await?;
        match timeout(WAIT_MAX, call).await {
            Ok(answer) => answer.map_err(|error| self.failed(error)),
            Err(_) => {
                let sentence = format!("the runtime \"{}\" did not answer in time; try again", self.id());
                Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence))
            }
        }
    }

    /// A command; it takes as long as its server allows.
    async fn command<T>(&self, call: impl Future<Output = Result<T, ClientError>>) -> Result<T, ApiError> {
        self.reachable().await?;
        call.await.map_err(|error| self.failed(error))
    }

    /// The error for an answer that cannot be read here.
    fn strange(&self) -> ApiError {
        let sentence = format!("the runtime \"{}\" answers as no yoi of this version", self.id());
        ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
    }

    /// A refusal by its server is passed on, with candidates in our terms; any other error means that it cannot be
    /// reached.
    fn failed(&self, error: ClientError) -> ApiError {
        let id = self.id();
        let unavailable = |sentence| ApiError::new(ErrorCode::RuntimeUnavailable, sentence);
        match error {
            ClientError::Api(error) => match error.code {
                ErrorCode::Unauthorized => unavailable(format!(
                    "the runtime \"{id}\" refuses our token; remove it, and add it again with its present one"
                )),
                ErrorCode::ForbiddenHost | ErrorCode::ForbiddenOrigin => {
                    unavailable(format!("the runtime \"{id}\" does not answer under the name that it was added with"))
                }
                _ => self.known.terms.answer(error),
            },
            ClientError::NoServer { .. } => unavailable(format!(
                "the runtime \"{id}\" does not answer; a command that is repeated with the same key happens once"
            )),
            ClientError::Protocol { .. } => self.strange(),
            ClientError::Invalid(sentence) => ApiError::invalid(sentence),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        for task in self.tasks.get().into_iter().flatten() {
            task.abort();
        }
    }
}
