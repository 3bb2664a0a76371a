//! Sessions of clients that speak the older protocol: their owners, and their number.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rmcp::transport::streamable_http_server::session::{
    SessionManager,
    local::{LocalSessionManager, SessionConfig},
};

use crate::Caller;

/// How many may be open; for one more, the one that has been silent longest ends.
const SESSIONS_MAX: usize = 256;
/// A session ends after being silent for this long. An editor may stay open overnight.
const SILENCE_MAX: Duration = Duration::from_secs(24 * 3_600);

/// The open sessions.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    owners: Arc<Mutex<HashMap<String, Owned>>>,
}

#[derive(Debug)]
struct Owned {
    by: Caller,
    heard: Instant,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        let mut config = SessionConfig::default();
        config.keep_alive = Some(SILENCE_MAX);
        manager.session_config = config;
        Self { manager: Arc::new(manager), owners: Arc::default() }
    }

    /// Whether this session belongs to the caller. Another caller's session does not exist for it.
    pub(crate) fn is_of(&self, id: &str, caller: &Caller) -> bool {
        let mut owners = self.owners();
        match owners.get_mut(id).filter(|owned| owned.by.is_same(caller)) {
            Some(owned) => {
                owned.heard = Instant::now();
                true
            }
            None => false,
        }
    }

    /// A session has begun. It ends with its caller's token.
    pub(crate) async fn begun(&self, id: &str, caller: &Caller) {
        let (owned, silent) = (Owned { by: caller.clone(), heard: Instant::now() }, self.silent().await);
        self.owners().insert(id.to_owned(), owned);
        for id in silent {
            self.end(&id).await;
        }
        if let Some(ended) = caller.ended().cloned() {
            let (sessions, id) = (self.clone(), id.to_owned());
            tokio::spawn(async move {
                ended.cancelled().await;
                sessions.end(&id).await;
            });
        }
    }

    pub(crate) async fn end(&self, id: &str) {
        self.owners().remove(id);
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(%error, "a session of an MCP client was over already");
        }
    }

    /// The sessions that have to end to make room for one more. Forgets those that ended by themselves.
    async fn silent(&self) -> Vec<String> {
        let open: Vec<String> = self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let mut owners = self.owners();
        owners.retain(|id, _| open.contains(id));
        let mut heard: Vec<_> = owners.iter().map(|(id, owned)| (owned.heard, id.clone())).collect();
        heard.sort_unstable_by_key(|(heard, _)| *heard);
        let too_many = (heard.len() + 1).saturating_sub(SESSIONS_MAX);
        heard.into_iter().take(too_many).map(|(_, id)| id).collect()
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Owned>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
