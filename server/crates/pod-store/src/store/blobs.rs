//! Pictures and files attached to conversations.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{BlobId, BlobView};

use super::Shared;
use crate::{
    BlobRow, StoreError,
    chore::Chore,
    columns::{damaged, micros},
};

/// The most blobs that one sweep deletes.
const SWEPT_MAX: i64 = 1_000;

/// The pictures and files of a store.
#[derive(Debug, Clone, Copy)]
pub struct Blobs<'s>(pub(super) &'s Shared);

impl Blobs<'_> {
    /// Stores a blob. An existing one stays as it is.
    pub async fn put(self, blob: BlobRow) -> Result<(), StoreError> {
        self.0.chore(Chore::Keep(blob)).await
    }

    /// Notes that these blobs are being used, because they are about to be referred to.
    pub async fn touch(self, blobs: Vec<BlobId>, at: Timestamp) -> Result<(), StoreError> {
        match blobs.is_empty() {
            true => Ok(()),
            false => self.0.chore(Chore::Touch { blobs, at }).await,
        }
    }

    /// Deletes blobs to which no journal and no queued input refers and that have not been used since `before`: a
    /// limited number, each in its own transaction.
    pub async fn sweep(self, before: Timestamp) -> Result<(), StoreError> {
        let unused = self.0.reader.select(
            "select id from blobs where created_at < $1
             and not exists (select 1 from blob_uses where blob_uses.blob = blobs.id) order by created_at limit $2",
        );
        let unused = unused.bind(micros(before)).bind(SWEPT_MAX);
        let name = |(id,): (String,)| BlobId::parse(&id).map_err(damaged("name of a file"));
        for blob in unused.all("look for files that nobody names", name).await? {
            self.0.chore(Chore::Sweep { blob, before }).await?;
        }
        Ok(())
    }

    /// The blob without its content.
    pub async fn find(self, id: &BlobId) -> Result<Option<BlobView>, StoreError> {
        let found = self.0.reader.select("select id, media_type, bytes from blobs where id = $1").bind(id.as_str());
        found.one("look up a file", view).await
    }

    /// The blob with its content.
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
