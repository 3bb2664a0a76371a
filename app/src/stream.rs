//! The event stream: one connection for the whole page, what it subscribes to, and what comes for the Pod that is viewed.
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
pub(crate) use self::socket::{connect, unwatch, watch};

/// What comes for the Pod that is viewed.
#[derive(Debug, Clone)]
pub(crate) enum PodFeed {
    Records(Written),
    /// Everything anew: the cursor was no longer good, or we were too slow.
    Snapshot {
        summary: Box<PodSummary>,
        records: Written,
        has_more: bool,
    },
    /// Nothing follows.
    Closed(String),
}
