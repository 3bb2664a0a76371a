//! What a Pod changed on the disk: its page, and the ways that lead there.

mod commit;
pub(crate) mod drafts;
mod file;
mod lines;
mod meanwhile;
pub(crate) mod page;
pub(crate) mod seen;
mod side;
mod undo;

use protocol::PodRef;

use crate::console::pod_href;

/// The page of a Pod's changes.
pub(crate) fn changes_href(pod: &PodRef) -> String {
    format!("{}/changes", pod_href(pod))
}
