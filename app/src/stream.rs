//! The event stream: one connection for the whole page, its subscriptions, and the feed of the Pod on screen.
//!
//! On the server the same functions exist and do nothing.

#[cfg(feature = "hydrate")]
mod bell;
mod heard;
mod hub;
#[cfg(not(feature = "hydrate"))]
mod inert;
#[cfg(feature = "hydrate")]
mod socket;

use protocol::PodSummary;

pub(crate) use self::heard::Written;
#[cfg(not(feature = "hydrate"))]
pub(crate) use self::inert::*;
#[cfg(feature = "hydrate")]
pub(crate) use self::socket::{connect, prepare, unwatch, watch};

/// What arrives for the Pod on screen.
#[derive(Debug, Clone)]
pub(crate) enum PodFeed {
    Records(Written),
    /// Replaces everything: the cursor was stale, or this page was too slow.
    Snapshot {
        summary: Box<PodSummary>,
        records: Written,
        has_more: bool,
    },
    /// Nothing more follows; with the reason.
    Closed(String),
}
