//! Read before write: a file is changed only by a caller who has seen what is in it now.

use protocol::Seen;

use super::{content::sha256, failure::Failure, work::Work};

/// Fails unless the caller has seen these bytes at `path` (real), which is told as `asked`.
pub(super) fn require(work: &Work, path: &str, asked: &str, bytes: &[u8]) -> Result<(), Failure> {
    let why = match work.seen.get(path) {
        Some(hashes) if hashes.contains(&sha256(bytes)) => return Ok(()),
        Some(_) => "has changed since you read it",
        None => "has content that you have not read",
    };
    Err(Failure::ReadFirst { path: asked.to_owned(), why })
}

/// What a caller knows who was shown, or wrote, these bytes.
pub(super) fn file(path: &str, bytes: &[u8]) -> Seen {
    Seen::File { path: path.to_owned(), sha256: sha256(bytes) }
}
