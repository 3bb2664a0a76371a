//! The logins.

use jiff::Timestamp;
use pod_store::SessionRow;
use protocol::ApiError;

use super::Inner;

/// The logins.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    pub(super) inner: &'a Inner,
}

impl Sessions<'_> {
    /// Begins a login, and forgets those that have expired.
    pub async fn put(self, session: SessionRow) -> Result<(), ApiError> {
        self.inner.store.sessions().purge(session.created_at).await?;
        Ok(self.inner.store.sessions().put(session).await?)
    }

    /// The login, while it is good.
    pub async fn find(self, hash: &[u8; 32]) -> Result<Option<SessionRow>, ApiError> {
        Ok(self.inner.store.sessions().find(hash, Timestamp::now()).await?)
    }

    /// The logins that are good, the one that was seen last first.
    pub async fn list(self) -> Result<Vec<SessionRow>, ApiError> {
        Ok(self.inner.store.sessions().list(Timestamp::now()).await?)
    }

    /// Notes that a login is used now.
    pub async fn seen(self, hash: &[u8; 32]) -> Result<(), ApiError> {
        if self.inner.store.health().is_out() {
            return Ok(());
        }
        Ok(self.inner.store.sessions().seen(hash, Timestamp::now()).await?)
    }

    pub async fn delete(self, hash: &[u8; 32]) -> Result<(), ApiError> {
        Ok(self.inner.store.sessions().delete(hash).await?)
    }

    /// Ends all logins but `kept`.
    pub async fn delete_others(self, kept: Option<&[u8; 32]>) -> Result<(), ApiError> {
        Ok(self.inner.store.sessions().delete_others(kept).await?)
    }
}
