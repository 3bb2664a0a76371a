//! Pictures and files beside conversations: kept by this server, and by those whose Pods are told of them.

use bytes::Bytes;
use client::{Client, ClientError};
use protocol::{ApiError, BlobId, BlobView, ErrorCode, InputCommand, RuntimeId, Segment};
use runtime::Origin;

use super::Backend;

/// This part keeps pictures and files, and finds them.
#[derive(Debug, Clone, Copy)]
pub struct Blobs<'a> {
    pub(super) backend: &'a Backend,
}

impl Blobs<'_> {
    /// Keeps it here, once: the same content has the same name. In the audit as `blob_keep`.
    ///
    /// # Errors
    /// `invalid_input`: empty. `payload_too_large`.
    pub async fn keep(self, origin: &Origin, media_type: String, body: Bytes) -> Result<BlobView, ApiError> {
        let done = self.backend.host.blobs().keep(media_type, body).await;
        let target = done.as_ref().map_or_else(|_| "blob".to_owned(), |view| view.blob.to_string());
        self.backend.audit().ended(origin, "blob_keep", target, None, &done).await;
        done
    }

    /// All of it: from here, else from a server that this one knows. None when nobody has it.
    pub async fn read(self, blob: &BlobId) -> Result<Option<(BlobView, Bytes)>, ApiError> {
        if let Some(found) = self.backend.host.blobs().read(blob).await? {
            return Ok(Some(found));
        }
        for client in self.clients() {
            // A server that does not answer has it, or has not: the next one may.
            let Ok((media_type, body)) = client.blob(blob).await else { continue };
            let view = BlobView { blob: blob.clone(), media_type, bytes: body.len() as u64 };
            return Ok(Some((view, body)));
        }
        Ok(None)
    }

    /// Gives another server what a message to one of its Pods names, as far as it is here.
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

/// A refusal as it is; all else says no more than that the other server was not reached.
fn not_brought(runtime_id: &RuntimeId, error: ClientError) -> ApiError {
    match error {
        ClientError::Api(error) if error.code == ErrorCode::PayloadTooLarge => error,
        _ => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            format!(
                "the runtime \"{runtime_id}\" did not accept the attachments, so the message was not sent; try again"
            ),
        ),
    }
}
