//! Pods that know each other: introductions, and messages between them.
//!
//! A pair is one row in the store, written in the transaction that writes both journals, so one-sided cannot happen. An
//! introduction is metadata: it touches no conversation and starts no run.

mod deliver;
pub(crate) mod guard;
mod held;
mod link;
mod list;
mod message;
mod requests;
mod unlink;

pub use self::link::Introduced;
pub(crate) use self::{
    held::decide_held,
    link::{NOTE_CHARS_MAX, check_note, introduce, readable, refused},
    list::{end_page, exchange, of_pod, open_requests, read_cursor, write_cursor},
    message::{Cause, Outgoing, check, send},
    requests::{EXPIRED, decide_request, expire, how_it_ended},
    unlink::{end_all, knows_anybody, unlink},
};
use pod_store::PodRow;
use protocol::{PeerLabel, PodLabel};

use crate::view;

/// How records name a peer.
pub(crate) fn label(pod: &PodLabel) -> PeerLabel {
    PeerLabel { runtime_id: pod.pod.runtime_id.clone(), worker_id: pod.pod.worker_id.clone(), name: pod.name.clone() }
}

fn label_of_row(row: &PodRow) -> PeerLabel {
    label(&view::label(row))
}
