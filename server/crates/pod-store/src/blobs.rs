//! Pictures and files beside conversations, each kept once.

use std::fmt;

use bytes::Bytes;
use jiff::Timestamp;
use protocol::BlobView;

/// One of them, with what it holds.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobRow {
    /// Its name is the SHA-256 of the body; whoever puts it in has seen to that.
    pub view: BlobView,
    pub body: Bytes,
    pub created_at: Timestamp,
}

/// Without what it holds: that is no matter of a log.
impl fmt::Debug for BlobRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlobRow").field("view", &self.view).finish_non_exhaustive()
    }
}
