use leptos::prelude::*;
use protocol::{ExchangeMessage, PeerView, PodSummary};
use serde::{Deserialize, Serialize};

use crate::{UiError, codec::Json};

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
    let (backend, _) = super::door::caller()?;
    super::door::answer(reader::load(&backend, &pod, &peer, before.as_deref()).await)
}

#[cfg(feature = "ssr")]
mod reader {
    use backend::Backend;
    use protocol::{ApiError, ErrorCode, PodRef};

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
            .read(protocol::operations::Exchange {
                pod: pod.clone(),
                peer: peer.clone(),
                before: protocol::operation::Loose(before.map(str::to_owned)),
                limit: protocol::operation::Limit(PAGE_MESSAGES),
            })
            .await?;
        let link = backend
            .read(protocol::operations::Peers { pod: pod.clone(), page: Default::default() })
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
