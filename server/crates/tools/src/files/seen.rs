//! Read before write: only a caller who has seen a file's current content may change it.

use protocol::Seen;

use super::{content::sha256, failure::Failure, work::Work};

/// Fails unless the caller has seen these bytes at `path` (canonical), which is called `asked` in errors.
pub(super) fn require(work: &Work, path: &str, asked: &str, bytes: &[u8]) -> Result<(), Failure> {
    let why = match work.seen.get(path) {
        Some(hashes) if hashes.contains(&sha256(bytes)) => return Ok(()),
        Some(_) => "has changed since you read it",
        None => "has content that you have not read",
    };
    Err(Failure::ReadFirst { path: asked.to_owned(), why })
}

/// What a caller knows after seeing or writing these bytes.
pub(super) fn file(path: &str, bytes: &[u8]) -> Seen {
    Seen::File { path: path.to_owned(), sha256: sha256(bytes) }
}
