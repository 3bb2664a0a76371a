//! Pictures and files beside conversations.

use bytes::Bytes;
use protocol::{BlobId, BlobView};

use super::Shared;
use crate::{BlobRow, StoreError, chore::Chore, columns::damaged};

/// The pictures and files of a store.
#[derive(Debug, Clone, Copy)]
pub struct Blobs<'s>(pub(super) &'s Shared);

impl Blobs<'_> {
    /// Keeps it. What is there already stays as it is.
    pub async fn put(self, blob: BlobRow) -> Result<(), StoreError> {
        self.0.chore(Chore::Keep(blob)).await
    }

    /// What is known of it, without what it holds.
    pub async fn find(self, id: &BlobId) -> Result<Option<BlobView>, StoreError> {
        let found = self.0.reader.select("select id, media_type, bytes from blobs where id = $1").bind(id.as_str());
        found.one("look up a file", view).await
    }

    /// All of it.
    pub async fn read(self, id: &BlobId) -> Result<Option<(BlobView, Bytes)>, StoreError> {
        let found =
            self.0.reader.select("select id, media_type, bytes, body from blobs where id = $1").bind(id.as_str());
        let whole = |(id, media_type, bytes, body): (String, String, i64, Vec<u8>)| {
            Ok((view((id, media_type, bytes))?, Bytes::from(body)))
        };
        found.one("read a file", whole).await
    }
}

fn view((id, media_type, bytes): (String, String, i64)) -> Result<BlobView, StoreError> {
    let blob = BlobId::parse(&id).map_err(damaged("name of a file"))?;
    Ok(BlobView { blob, media_type, bytes: bytes.unsigned_abs() })
}
