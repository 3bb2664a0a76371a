//! Browser logins.

use jiff::Timestamp;

use super::Shared;
use crate::{
    SessionRow, StoreError,
    chore::Chore,
    columns::{self, micros},
    sessions::{SESSIONS_LISTED_MAX, SessionChange},
};

/// The logins of a store.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'s>(pub(super) &'s Shared);

impl Sessions<'_> {
    /// Stores a login, replacing one with the same hash.
    pub async fn put(self, session: SessionRow) -> Result<(), StoreError> {
        self.change(SessionChange::Put(session)).await
    }

    /// The login, if it exists and is still valid at `now`.
    pub async fn find(self, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError> {
        let text =
            "select hash, client, created_at, seen_at, expires_at from sessions where hash = $1 and expires_at > $2";
        let session = self.0.reader.select(text).bind(hash.as_slice()).bind(micros(now));
        session.one("look up a session", columns::session).await
    }

    /// The logins that are valid at `now`, most recently used first; at most [`SESSIONS_LISTED_MAX`].
    pub async fn list(self, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
        let text = "select hash, client, created_at, seen_at, expires_at from sessions where expires_at > $1
                    order by seen_at desc, hash limit $2";
        let sessions = self.0.reader.select(text).bind(micros(now)).bind(i64::from(SESSIONS_LISTED_MAX));
        sessions.all("list the sessions", columns::session).await
    }

    /// Records that a login was used.
    pub async fn seen(self, hash: &[u8; 32], at: Timestamp) -> Result<(), StoreError> {
        self.change(SessionChange::Seen { hash: *hash, at }).await
    }

    pub async fn delete(self, hash: &[u8; 32]) -> Result<(), StoreError> {
        self.change(SessionChange::Delete { hash: *hash }).await
    }

    /// Ends all logins but `kept`.
    pub async fn delete_others(self, kept: Option<&[u8; 32]>) -> Result<(), StoreError> {
        self.change(SessionChange::DeleteOthers { kept: kept.copied() }).await
    }

    /// Deletes logins that expired at or before `now`.
    pub async fn purge(self, now: Timestamp) -> Result<(), StoreError> {
        self.change(SessionChange::Purge { now }).await
    }

    async fn change(self, change: SessionChange) -> Result<(), StoreError> {
        self.0.chore(Chore::Session(change)).await
    }
}
