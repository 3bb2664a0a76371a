//! Pictures and files attached to conversations: stored by this server, and by the servers of the Pods that are sent
//! them.

use bytes::Bytes;
use client::{Client, ClientError};
use protocol::{ApiError, BlobId, BlobView, ErrorCode, InputCommand, RuntimeId, Segment};
use runtime::Origin;

use super::Backend;

/// Stores and finds pictures and files.
#[derive(Debug, Clone, Copy)]
pub struct Blobs<'a> {
    pub(super) backend: &'a Backend,
}

impl Blobs<'_> {
    /// Stores a blob on this server, once per content: the same content has the same id. Audited as `blob_keep`.
    ///
    /// # Errors
    /// `invalid_input`: empty. `payload_too_large`.
    pub async fn keep(self, origin: &Origin, media_type: String, body: Bytes) -> Result<BlobView, ApiError> {
        let done = self.backend.host.blobs().keep(media_type, body).await;
        let target = done.as_ref().map_or_else(|_| "blob".to_owned(), |view| view.blob.to_string());
        self.backend.audit().ended(origin, "blob_keep", target, None, &done).await;
        done
    }

    /// The blob with its content, from here or else from a server that this one knows. `None` if no server has it.
    pub async fn read(self, blob: &BlobId) -> Result<Option<(BlobView, Bytes)>, ApiError> {
        if let Some(found) = self.backend.host.blobs().read(blob).await? {
            return Ok(Some(found));
        }
        for client in self.clients() {
            // A server that fails may or may not have it; the next one may.
            let Ok((media_type, body)) = client.blob(blob).await else { continue };
            let view = BlobView { blob: blob.clone(), media_type, bytes: body.len() as u64 };
            return Ok(Some((view, body)));
        }
        Ok(None)
    }

    /// Sends another server the blobs that a message to one of its Pods refers to, as far as they are stored here.
    pub(super) async fn bring(self, runtime_id: &RuntimeId, input: &InputCommand) -> Result<(), ApiError> {
        let client = self.backend.registry.get(runtime_id).and_then(|entry| entry.client);
        let Some(client) = client else { return Ok(()) };
        for blob in input.segments.iter().filter_map(Segment::blob) {
            if let Some((view, body)) = self.backend.host.blobs().read(blob).await? {
                client.keep_blob(&view.media_type, body).await.map_err(|error| not_brought(runtime_id, error))?;
            }
        }
        Ok(())
    }

    fn clients(self) -> impl Iterator<Item = Client> {
        self.backend.registry.entries().into_iter().filter_map(|(_, entry)| entry.client)
    }
}

/// A refusal is passed on; any other error only says that the other server could not be reached.
fn not_brought(runtime_id: &RuntimeId, error: ClientError) -> ApiError {
    match error {
        ClientError::Api(error) if error.code == ErrorCode::PayloadTooLarge => error,
        _ => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            format!(
                "the runtime \"{runtime_id}\" did not take what goes with the message, so it was not sent; try again"
            ),
        ),
    }
}
