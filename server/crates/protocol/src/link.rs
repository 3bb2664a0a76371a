//! Messages between two yoi servers, which let their Pods be peers.
//!
//! Only the server that was given the other's address and token makes connections; items travel both ways over them.
//! Each side numbers its items from 1, repeats each until the other confirms it, and accepts each number once.

use serde::{Deserialize, Serialize};

use crate::{ErrorCode, HeldDecision, PodName, PodState, ReceiptState, RuntimeId, Timestamp, WorkerId};

/// The maximum number of items in one exchange, in each direction.
pub const LINK_ITEMS_MAX: usize = 256;

/// How long an exchange waits for something to send at most, in milliseconds.
pub const LINK_WAIT_MS_MAX: u64 = 15_000;

/// Body of `POST /api/v1/link`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkExchange {
    /// [`crate::PROTOCOL_VERSION`] of the caller.
    pub protocol: u32,
    /// Of the caller's database.
    pub store_id: String,
    /// How the caller wants to be called.
    pub name: RuntimeId,
    /// The last item of the other side that the caller has taken.
    pub after: i64,
    /// In order. Those that were taken before are passed over.
    pub items: Vec<LinkItem>,
    /// How long to wait when there is nothing to tell; at most 15,000.
    #[serde(default)]
    pub wait_ms: u64,
}

/// Answer of `POST /api/v1/link`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkAnswer {
    /// Of the answering database.
    pub store_id: String,
    /// How the caller is called there.
    pub runtime_id: RuntimeId,
    /// The last item of the caller that was taken.
    pub taken: i64,
    /// In order, after what the caller said to have.
    pub items: Vec<LinkItem>,
}

/// One numbered item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkItem {
    /// From 1 on, without a gap.
    pub seq: i64,
    pub item: LinkNews,
}

/// What one store tells the other. `handshake` is the id of an introduction, the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkNews {
    /// A Pod wants to know one of yours.
    Propose {
        handshake: String,
        from: LinkCard,
        to: WorkerId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// One of yours is wanted to know a Pod here, which is asked first: its people here have the request already.
    Invite {
        handshake: String,
        from: LinkCard,
        to: WorkerId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It was taken: this side holds the link.
    Accepted { handshake: String, card: LinkCard, by: String },
    /// It waits for somebody here.
    Asked { handshake: String, card: LinkCard },
    /// It was not taken, and nothing is held here.
    Refused { handshake: String, code: ErrorCode, sentence: String },
    /// Somebody here said no, or nobody said anything in time.
    Declined {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The one that was proposed is meant no longer, whatever came of it.
    Withdraw {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The link has ended here.
    Unlinked {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// From a Pod here to one of yours.
    Message { message_id: String, from: WorkerId, to: WorkerId, text: String, hops: u32 },
    /// How far a message has come that one of your Pods (`to`) sent to one here (`from`).
    Receipt {
        message_id: String,
        from: WorkerId,
        to: WorkerId,
        state: ReceiptState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Of what is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
        /// Why it is held or refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What somebody here decided about a message from a Pod here that you hold.
    Decision { message_id: String, from: WorkerId, to: WorkerId, decision: HeldDecision },
    /// A Pod that one of yours knows is like this now.
    Card { card: LinkCard },
}

/// A Pod as another server is told of it. No path is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkCard {
    pub worker_id: WorkerId,
    pub name: PodName,
    pub state: PodState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    pub provider: String,
    pub model: String,
    pub created_at: Timestamp,
    pub needs_you: bool,
    pub children: u32,
}
