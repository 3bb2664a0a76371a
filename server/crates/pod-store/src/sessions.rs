//! Browser logins. A login is known by a hash of its secret, and by nothing else.

use jiff::Timestamp;

use crate::{Store, StoreError, chore::Chore};

/// So many logins are listed at most; those that were seen last.
pub const SESSIONS_LISTED_MAX: u32 = 200;

/// One login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub hash: [u8; 32],
    /// What the browser called itself, bounded by whoever writes it.
    pub client: String,
    pub created_at: Timestamp,
    /// Coarse: it is not written with each request.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A small write to the logins.
#[derive(Debug, Clone)]
pub(crate) enum SessionChange {
    Put(SessionRow),
    /// Never goes back, and brings no login back that has ended.
    Seen {
        hash: [u8; 32],
        at: Timestamp,
    },
    Delete {
        hash: [u8; 32],
    },
    /// All but this one.
    DeleteOthers {
        kept: Option<[u8; 32]>,
    },
    Purge {
        now: Timestamp,
    },
}

impl Store {
    /// Begins a login, or puts another one in the place of one with the same hash.
    pub async fn session_put(&self, session: SessionRow) -> Result<(), StoreError> {
        self.session_change(SessionChange::Put(session)).await
    }

    /// The login, when it is known and still good at `now`.
    pub async fn session_find(&self, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError> {
        self.read(self.engine().session_find(hash, now)).await
    }

    /// The logins that are good at `now`, the one that was seen last first; at most [`SESSIONS_LISTED_MAX`].
    pub async fn sessions(&self, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
        self.read(self.engine().sessions(now)).await
    }

    /// Notes that a login was used.
    pub async fn session_seen(&self, hash: &[u8; 32], at: Timestamp) -> Result<(), StoreError> {
        self.session_change(SessionChange::Seen { hash: *hash, at }).await
    }

    pub async fn session_delete(&self, hash: &[u8; 32]) -> Result<(), StoreError> {
        self.session_change(SessionChange::Delete { hash: *hash }).await
    }

    /// Ends all logins but `kept`.
    pub async fn sessions_delete_others(&self, kept: Option<&[u8; 32]>) -> Result<(), StoreError> {
        self.session_change(SessionChange::DeleteOthers { kept: kept.copied() }).await
    }

    /// Forgets logins that expired at or before `now`.
    pub async fn sessions_purge(&self, now: Timestamp) -> Result<(), StoreError> {
        self.session_change(SessionChange::Purge { now }).await
    }

    async fn session_change(&self, change: SessionChange) -> Result<(), StoreError> {
        self.chore(Chore::Session(change)).await
    }
}
