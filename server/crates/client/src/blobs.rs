//! Pictures and files attached to messages.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use protocol::{BLOB_BYTES_MAX, BlobId, BlobView, Segment};
use reqwest::{Method, header::CONTENT_TYPE};

use crate::{Client, ClientError};

/// Enough for 20 MiB over a slow line.
const TIMEOUT: Duration = Duration::from_secs(300);

impl Client {
    /// Stores content on the server. The id is a hash: storing the same content again gives the same id.
    pub async fn keep_blob(&self, media_type: &str, body: Bytes) -> Result<BlobView, ClientError> {
        self.call(Method::POST, "/api/v1/blobs", &[])?.bytes(media_type, body).within(TIMEOUT).json().await
    }

    /// Uploads a local file. Returns the message segment that refers to it.
    ///
    /// # Errors
    /// `Invalid` if the file cannot be read, is not a regular file, is empty or too large.
    pub async fn attach(&self, path: &Path) -> Result<Segment, ClientError> {
        let invalid = |why: &dyn std::fmt::Display| ClientError::Invalid(format!("{}: {why}", path.display()));
        let known = tokio::fs::metadata(path).await.map_err(|error| invalid(&error))?;
        if !known.is_file() {
            return Err(invalid(&"it is no regular file; attach a file"));
        }
        if known.len() > BLOB_BYTES_MAX as u64 {
            return Err(invalid(&format!("it has {} bytes, and at most {BLOB_BYTES_MAX} are attached", known.len())));
        }
        let body = tokio::fs::read(path).await.map_err(|error| invalid(&error))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The server detects the type from the content.
        let kept = self.keep_blob("application/octet-stream", body.into()).await?;
        Ok(Segment::kept(&kept, name))
    }

    /// The media type with which it is served, and its content.
    pub async fn blob(&self, blob: &BlobId) -> Result<(String, Bytes), ClientError> {
        let mut response = self.get(&format!("/api/v1/blobs/{blob}"))?.within(TIMEOUT).response().await?;
        let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or("application/octet-stream").to_owned();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.no_server(&error))? {
            if body.len() + chunk.len() > BLOB_BYTES_MAX {
                return Err(self.protocol("a picture or a file is larger than any that is kept"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((media_type, body.into()))
    }
}
