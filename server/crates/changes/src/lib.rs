//! What changed between two states of a folder: snapshots and who changed what between them, files, hunks, and how a
//! hunk is reverted.
//!
//! Pure: states and contents come from the caller, who alone touches the disk.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chronicle;
mod hunks;
mod review;
mod tree;

pub use chronicle::{Chronicle, Snapshot, Undoing};
pub use hunks::{Compared, compare, reverted};
pub use review::{Remark, message};
pub use tree::{Entry, Stamp, Tree, differing, is_text, sha256};
