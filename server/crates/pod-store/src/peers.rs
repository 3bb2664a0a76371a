//! Peers: the changes that can happen to a pair, and what is known of it.

use jiff::Timestamp;

use crate::{PodKey, PodRow};

/// A change to a pair of Pods; changes are applied in the order in which they are listed. The order of the two Pods has
/// no meaning; only a request knows who asked. A deleted Pod makes the batch fail ([`crate::StoreError::PodGone`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerChange {
    /// Makes the two peers and settles any request between them. An existing pair stays as it is.
    Link { a: PodKey, b: PodKey, by: String, at: Timestamp },
    /// Ends the pair, if there is one.
    Unlink { a: PodKey, b: PodKey },
    /// The pace of their messages. Ignored if they are not peers.
    Pace { a: PodKey, b: PodKey, level: u32, at: Timestamp },
    /// A new request. [`crate::StoreError::Conflict`] if they are peers, or there is a request between them already.
    Request(NewRequest),
    /// It was answered or withdrawn, or has expired. Ignored if it does not exist.
    RequestDone { id: String },
}

/// A request of one Pod to become a peer of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// Unique in the database.
    pub id: String,
    pub from: PodKey,
    pub to: PodKey,
    pub note: Option<String>,
    pub by: String,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

/// A peer of a Pod.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerLinkRow {
    pub pod: PodRow,
    pub by: String,
    pub since: Timestamp,
}

/// A pair of peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairRow {
    pub by: String,
    pub since: Timestamp,
    /// The level of the last [`PeerChange::Pace`], in thousandths of a message; 0 for a new pair.
    pub pace_level: u32,
    /// The time of the last [`PeerChange::Pace`]; `since` for a new pair.
    pub pace_at: Timestamp,
}

/// An open request. Readers have to check for themselves whether it has expired.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRow {
    pub id: String,
    pub from: PodRow,
    pub to: PodRow,
    pub note: Option<String>,
    pub by: String,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

impl PeerChange {
    /// The Pods that must exist.
    pub(crate) fn pods(&self) -> Option<[PodKey; 2]> {
        match self {
            Self::Link { a, b, .. } | Self::Unlink { a, b } | Self::Pace { a, b, .. } => Some([*a, *b]),
            Self::Request(request) => Some([request.from, request.to]),
            Self::RequestDone { .. } => None,
        }
    }
}
