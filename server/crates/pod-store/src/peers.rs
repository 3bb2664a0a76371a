//! Pods that know each other: what can happen to a pair, and what is known of it.

use jiff::Timestamp;

use crate::{PodKey, PodRow};

/// What happens to two Pods, in the order in which it is listed. Which of them is named first says nothing; only a
/// request knows who asked. A Pod that is gone refuses the batch ([`crate::StoreError::PodGone`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerChange {
    /// They know each other from now on, and what one asked the other is settled. A link that stands stays as it is.
    Link { a: PodKey, b: PodKey, by: String, at: Timestamp },
    /// They do not know each other any more. Nothing, if they did not.
    Unlink { a: PodKey, b: PodKey },
    /// How fast they write to each other. Nothing, if they do not know each other.
    Pace { a: PodKey, b: PodKey, level: u32, at: Timestamp },
    /// One asks. [`crate::StoreError::Conflict`] when they know each other, or one of them has asked already.
    Request(NewRequest),
    /// It was answered, withdrawn, or has expired. Nothing, if it is gone.
    RequestDone { id: String },
}

/// A Pod that asks to know another one.
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

/// A Pod that another one knows.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerLinkRow {
    pub pod: PodRow,
    pub by: String,
    pub since: Timestamp,
}

/// Two Pods that know each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairRow {
    pub by: String,
    pub since: Timestamp,
    /// What the last [`PeerChange::Pace`] said, in thousandths of a message; 0 for a new pair.
    pub pace_level: u32,
    /// When it said so; `since` for a new pair.
    pub pace_at: Timestamp,
}

/// A request that waits for its answer. That it has expired is for its reader to see.
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
    /// The Pods that must be there for it.
    pub(crate) fn pods(&self) -> Option<[PodKey; 2]> {
        match self {
            Self::Link { a, b, .. } | Self::Unlink { a, b } | Self::Pace { a, b, .. } => Some([*a, *b]),
            Self::Request(request) => Some([request.from, request.to]),
            Self::RequestDone { .. } => None,
        }
    }
}
