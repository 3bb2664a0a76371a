//! Peers: requests, relations and messages.

use serde::{Deserialize, Serialize};

use crate::{PodName, PodRef, PodState, ReceiptState, Timestamp};

/// Body of `POST P/peers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PeerCommand {
    /// `name`, `name@runtime_id` or `runtime_id/worker_id`.
    pub target: String,
    /// A note for people on the other side; no model sees it. At most 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The relation between two Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PeerLink {
    Linked,
    /// One side has to accept.
    Pending,
    /// Another version or store left only one half; it carries no messages.
    OneSided,
    /// Somebody said no, or withdrew it. In answers alone: such a request is in no list.
    Declined,
    /// Nobody answered in time. In answers alone, too.
    Expired,
}

/// Answer of `POST P/peers` and of a decision about a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeerAnswer {
    pub source: PodRef,
    pub peer: PodRef,
    pub state: PeerLink,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The result of making two Pods peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduced {
    pub answer: PeerAnswer,
    /// Whether they were peers before.
    pub stood: bool,
}

/// A peer of a Pod, or the other side of a peer request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeerView {
    pub pod: PodRef,
    pub name: PodName,
    pub state: PodState,
    pub link: PeerLink,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// It is a request that has to be answered on this side.
    #[serde(default)]
    pub is_asked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub since: Timestamp,
    pub by: String,
}

/// Body of `POST P/peers/requests/{request_id}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestCommand {
    pub decision: RequestDecision,
}

/// The answer to a peer request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestDecision {
    Accept,
    Decline,
}

/// A pending peer request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenRequest {
    pub request_id: String,
    /// The Pod that asks.
    pub from: PodRef,
    pub from_name: PodName,
    /// The Pod on whose side the request is answered.
    pub to: PodRef,
    pub to_name: PodName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

/// Body of `POST P/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageCommand {
    /// `name`, `name@runtime_id` or `runtime_id/worker_id` of a peer.
    pub to: String,
    /// At most 65,536 bytes.
    pub text: String,
}

/// Answer of `POST P/messages`: the message is on disk at its receiver, or, when `state` is `sent`, on its way there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessageAnswer {
    pub message_id: String,
    pub state: ReceiptState,
}

/// Body of `POST P/messages/{message_id}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HeldCommand {
    pub decision: HeldDecision,
}

/// What happens to a held message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeldDecision {
    Release,
    Drop,
}

/// One message between two Pods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExchangeMessage {
    pub message_id: String,
    pub from: PodRef,
    pub to: PodRef,
    pub text: String,
    pub hops: u32,
    pub state: ReceiptState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    pub at: Timestamp,
}
