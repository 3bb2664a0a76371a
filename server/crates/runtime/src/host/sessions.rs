//! Login sessions.

use jiff::Timestamp;
use pod_store::SessionRow;
use protocol::ApiError;

use super::Inner;

/// Login sessions.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    pub(super) inner: &'a Inner,
}

impl Sessions<'_> {
    /// Stores a session and removes those that have expired.
    pub async fn put(self, session: SessionRow) -> Result<(), ApiError> {
        self.inner.store.sessions().purge(session.created_at).await?;
        Ok(self.inner.store.sessions().put(session).await?)
    }

    /// The session, if it is valid.
    pub async fn find(self, hash: &[u8; 32]) -> Result<Option<SessionRow>, ApiError> {
        Ok(self.inner.store.sessions().find(hash, Timestamp::now()).await?)
    }

    /// The valid sessions, most recently used first.
    pub async fn list(self) -> Result<Vec<SessionRow>, ApiError> {
        Ok(self.inner.store.sessions().list(Timestamp::now()).await?)
    }

    /// Notes that a session is being used.
    pub async fn seen(self, hash: &[u8; 32]) -> Result<(), ApiError> {
        if self.inner.store.health().is_out() {
            return Ok(());
        }
        Ok(self.inner.store.sessions().seen(hash, Timestamp::now()).await?)
    }

    pub async fn delete(self, hash: &[u8; 32]) -> Result<(), ApiError> {
        Ok(self.inner.store.sessions().delete(hash).await?)
    }

    /// Ends all sessions except `kept`.
    pub async fn delete_others(self, kept: Option<&[u8; 32]>) -> Result<(), ApiError> {
        Ok(self.inner.store.sessions().delete_others(kept).await?)
    }
}
