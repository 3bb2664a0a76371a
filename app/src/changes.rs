//! What a Pod changed on the disk: its page, and the ways that lead there.

mod commit;
pub(crate) mod drafts;
mod file;
pub(crate) mod kept;
mod lines;
mod meanwhile;
mod merged;
pub(crate) mod page;
mod saying;
pub(crate) mod seen;
mod side;
mod undo;

use protocol::{FileStatus, PodRef, Since};

use crate::console::pod_href;

/// The page of a Pod's changes.
pub(crate) fn changes_href(pod: &PodRef) -> String {
    format!("{}/changes", pod_href(pod))
}

/// The same, compared with what was there then.
pub(crate) fn changes_since(pod: &PodRef, since: Since) -> String {
    format!("{}?since={}", changes_href(pod), since.as_str())
}

/// A letter and a word for what became of a file.
pub(crate) fn mark_of(status: FileStatus) -> (&'static str, &'static str) {
    match status {
        FileStatus::Added => ("A", "added"),
        FileStatus::Modified => ("M", "modified"),
        FileStatus::Deleted => ("D", "deleted"),
    }
}
