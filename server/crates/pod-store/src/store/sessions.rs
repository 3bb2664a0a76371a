//! Browser logins.

use jiff::Timestamp;

use crate::{SessionRow, Store, StoreError, chore::Chore, sessions::SessionChange};

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
