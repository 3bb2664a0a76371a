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
    /// The id of the caller's database.
    pub store_id: String,
    /// The name that the caller asks for.
    pub name: RuntimeId,
    /// The last item of the other side that the caller has accepted.
    pub after: i64,
    /// In order. Items that were accepted before are skipped.
    pub items: Vec<LinkItem>,
    /// How long to wait when there is nothing to send, in milliseconds; at most 15,000.
    #[serde(default)]
    pub wait_ms: u64,
}

/// Answer of `POST /api/v1/link`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkAnswer {
    /// The id of the answering side's database.
    pub store_id: String,
    /// The name of the caller on the answering side.
    pub runtime_id: RuntimeId,
    /// The last item of the caller that was accepted.
    pub taken: i64,
    /// In order, from the first one that the caller does not have.
    pub items: Vec<LinkItem>,
}

/// One numbered item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkItem {
    /// Counted from 1, without gaps.
    pub seq: i64,
    pub item: LinkNews,
}

/// What one store tells the other. `handshake` is the id of a peer request, the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkNews {
    /// A Pod here is to become a peer of one of yours.
    Propose {
        handshake: String,
        from: LinkCard,
        to: WorkerId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A Pod here is to become a peer of one of yours, and asks first: the request is already pending here.
    Invite {
        handshake: String,
        from: LinkCard,
        to: WorkerId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The request was accepted: the two are peers on this side.
    Accepted { handshake: String, card: LinkCard, by: String },
    /// The request is pending: somebody here has to answer it.
    Asked { handshake: String, card: LinkCard },
    /// The request was refused, and nothing is kept here.
    Refused { handshake: String, code: ErrorCode, sentence: String },
    /// The request was declined here, or nobody here answered in time.
    Declined {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The proposal no longer holds, whatever became of it.
    Withdraw {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The two are no longer peers on this side.
    Unlinked {
        handshake: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A message from a Pod here to one of yours.
    Message { message_id: String, from: WorkerId, to: WorkerId, text: String, hops: u32 },
    /// How far a message from one of your Pods (`to`) to one here (`from`) has got.
    Receipt {
        message_id: String,
        from: WorkerId,
        to: WorkerId,
        state: ReceiptState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Why it is refused, as a code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
        /// Why it is held or refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What was decided here about a message from a Pod here that your side holds.
    Decision { message_id: String, from: WorkerId, to: WorkerId, decision: HeldDecision },
    /// A Pod here that is a peer of one of yours has changed; this is what it is like now.
    Card { card: LinkCard },
}

/// A Pod as described to another server. It contains no path.
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
