//! Pictures and files attached to conversations.

use bytes::Bytes;
use protocol::{ApiError, BlobId, BlobView};

use super::Inner;
use crate::blobs;

/// Pictures and files attached to conversations.
#[derive(Debug, Clone, Copy)]
pub struct Blobs<'a> {
    pub(super) inner: &'a Inner,
}

impl Blobs<'_> {
    /// Stores a blob, once per content: the same content has the same id.
    ///
    /// # Errors
    /// `invalid_input`: empty. `payload_too_large`.
    pub async fn keep(self, media_type: String, body: Bytes) -> Result<BlobView, ApiError> {
        blobs::keep(&self.inner.store, media_type, body).await
    }

    /// The blob with its content, or `None` if it is not stored here.
    pub async fn read(self, blob: &BlobId) -> Result<Option<(BlobView, Bytes)>, ApiError> {
        Ok(self.inner.store.blobs().read(blob).await?)
    }

    /// The blob without its content, or `None` if it is not stored here.
    pub async fn find(self, blob: &BlobId) -> Result<Option<BlobView>, ApiError> {
        Ok(self.inner.store.blobs().find(blob).await?)
    }
}
