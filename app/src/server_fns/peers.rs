//! Peers, peer requests, and the messages between peers.

use leptos::prelude::*;
use protocol::{
    CommandId, ExchangeMessage, HeldCommand, MessageAnswer, OpenRequest, PeerAnswer, PeerCommand, PeerView, PodRef,
    PodSummary, RequestCommand,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// A Pod's peers, and the peer requests from and to it.
#[server(prefix = "/fn", endpoint = "pod_peers", input = Json, output = Json)]
pub async fn pod_peers(pod: PodRef) -> Result<Vec<PeerView>, UiError> {
    Ok(door::read(operations::Peers { pod, page: Default::default() }).await?.items)
}

/// The relation between two Pods, and a page of their messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeData {
    pub pod: PodSummary,
    pub peer: PodSummary,
    /// `None` if they are not peers, or no longer.
    pub link: Option<PeerView>,
    /// Oldest first.
    pub messages: Vec<ExchangeMessage>,
    /// The cursor of the page before; `None` if these reach back to the first message.
    pub earlier: Option<String>,
}

/// The newest messages between the Pods at these addresses, or those before `before`.
#[server(prefix = "/fn", endpoint = "pod_exchange", input = Json, output = Json)]
pub async fn pod_exchange(pod: String, peer: String, before: Option<String>) -> Result<ExchangeData, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(reader::load(&backend, &pod, &peer, before.as_deref()).await)
}

#[cfg(feature = "ssr")]
mod reader {
    use backend::Backend;
    use protocol::{ApiError, ErrorCode, PodRef, operation, operations};

    use super::ExchangeData;

    const PAGE_MESSAGES: u32 = 50;

    pub(super) async fn load(
        backend: &Backend,
        pod: &str,
        peer: &str,
        before: Option<&str>,
    ) -> Result<ExchangeData, ApiError> {
        let (pod, peer) = (address(pod)?, address(peer)?);
        let page = backend
            .read(operations::Exchange {
                pod: pod.clone(),
                peer: peer.clone(),
                before: operation::Loose(before.map(str::to_owned)),
                limit: operation::Limit(PAGE_MESSAGES),
            })
            .await?;
        let link = backend
            .read(operations::Peers { pod: pod.clone(), page: Default::default() })
            .await?
            .items
            .into_iter()
            .find(|known| known.pod == peer);
        let (pod, peer) = (backend.pod(&pod).await?.summary, backend.pod(&peer).await?.summary);
        let messages = page.items.into_iter().rev().collect();
        Ok(ExchangeData { pod, peer, link, messages, earlier: page.next })
    }

    fn address(text: &str) -> Result<PodRef, ApiError> {
        text.parse().map_err(|error| ApiError::new(ErrorCode::PodNotFound, format!("no such Pod: {error}")))
    }
}

/// Makes two Pods peers, or sends a peer request; the answer says which.
#[server(prefix = "/fn", endpoint = "introduce_pods", input = Json, output = Json)]
pub async fn introduce_pods(pod: PodRef, command_id: CommandId, command: PeerCommand) -> Result<PeerAnswer, UiError> {
    Ok(door::carry_out(command_id, operations::Introduce { pod, body: command }).await?.answer)
}

/// Ends the relation between two peers, or withdraws a pending request.
#[server(prefix = "/fn", endpoint = "unlink_pods", input = Json, output = Json)]
pub async fn unlink_pods(pod: PodRef, command_id: CommandId, peer: PodRef) -> Result<(), UiError> {
    door::carry_out(command_id, operations::Unlink { pod, peer }).await
}

/// All open peer requests, oldest first.
#[server(prefix = "/fn", endpoint = "open_requests", input = Json, output = Json)]
pub async fn open_requests() -> Result<Vec<OpenRequest>, UiError> {
    Ok(door::read(operations::OpenRequests { runtime: Default::default(), page: Default::default() }).await?.items)
}

/// Accepts or declines a peer request to `pod`; the first of two answers counts.
#[server(prefix = "/fn", endpoint = "decide_request", input = Json, output = Json)]
pub async fn decide_request(
    pod: PodRef,
    command_id: CommandId,
    request_id: String,
    command: RequestCommand,
) -> Result<PeerAnswer, UiError> {
    door::carry_out(command_id, operations::DecideRequest { pod, request_id, body: command }).await
}

/// Releases or drops a held message; `pod` is its sender or its receiver.
#[server(prefix = "/fn", endpoint = "decide_held", input = Json, output = Json)]
pub async fn decide_held(
    pod: PodRef,
    command_id: CommandId,
    message_id: String,
    command: HeldCommand,
) -> Result<MessageAnswer, UiError> {
    door::carry_out(command_id, operations::DecideHeld { pod, message_id, body: command }).await
}
