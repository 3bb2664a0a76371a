//! Peers, the requests for them, and what they write to each other.

use leptos::prelude::*;
use protocol::{
    CommandId, ExchangeMessage, HeldCommand, MessageAnswer, OpenRequest, PeerAnswer, PeerCommand, PeerView, PodRef,
    PodSummary, RequestCommand,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// Whom a Pod knows, and the requests between it and others.
#[server(prefix = "/fn", endpoint = "pod_peers", input = Json, output = Json)]
pub async fn pod_peers(pod: PodRef) -> Result<Vec<PeerView>, UiError> {
    Ok(door::read(operations::Peers { pod, page: Default::default() }).await?.items)
}

/// What two Pods are to each other, and a page of what they wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeData {
    pub pod: PodSummary,
    pub peer: PodSummary,
    /// None when they do not know each other, or not any more.
    pub link: Option<PeerView>,
    /// Oldest first.
    pub messages: Vec<ExchangeMessage>,
    /// For the page before; none when these reach back to the first message.
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

/// Introduces a Pod to another one: they know each other now, or the other side was asked.
#[server(prefix = "/fn", endpoint = "introduce_pods", input = Json, output = Json)]
pub async fn introduce_pods(pod: PodRef, command_id: CommandId, command: PeerCommand) -> Result<PeerAnswer, UiError> {
    Ok(door::carry_out(command_id, operations::Introduce { pod, body: command }).await?.answer)
}

/// Ends a link, or withdraws a request that waits.
#[server(prefix = "/fn", endpoint = "unlink_pods", input = Json, output = Json)]
pub async fn unlink_pods(pod: PodRef, command_id: CommandId, peer: PodRef) -> Result<(), UiError> {
    door::carry_out(command_id, operations::Unlink { pod, peer }).await
}

/// Every request to be introduced that waits for an answer, oldest first.
#[server(prefix = "/fn", endpoint = "open_requests", input = Json, output = Json)]
pub async fn open_requests() -> Result<Vec<OpenRequest>, UiError> {
    Ok(door::read(operations::OpenRequests { runtime: Default::default(), page: Default::default() }).await?.items)
}

/// Accepts or declines what `pod` was asked; of two answers the first counts.
#[server(prefix = "/fn", endpoint = "decide_request", input = Json, output = Json)]
pub async fn decide_request(
    pod: PodRef,
    command_id: CommandId,
    request_id: String,
    command: RequestCommand,
) -> Result<PeerAnswer, UiError> {
    door::carry_out(command_id, operations::DecideRequest { pod, request_id, body: command }).await
}

/// Releases or drops a message that is held; `pod` sent it, or is to get it.
#[server(prefix = "/fn", endpoint = "decide_held", input = Json, output = Json)]
pub async fn decide_held(
    pod: PodRef,
    command_id: CommandId,
    message_id: String,
    command: HeldCommand,
) -> Result<MessageAnswer, UiError> {
    door::carry_out(command_id, operations::DecideHeld { pod, message_id, body: command }).await
}
