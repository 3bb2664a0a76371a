use leptos::prelude::*;
use protocol::{PeerView, PodRef};

use crate::{UiError, codec::Json};

/// Whom a Pod knows, and the requests between it and others.
#[server(prefix = "/fn", endpoint = "pod_peers", input = Json, output = Json)]
pub async fn pod_peers(pod: PodRef) -> Result<Vec<PeerView>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(
        backend
            .read(protocol::operations::Peers { pod: pod.clone(), page: Default::default() })
            .await
            .map(|page| page.items),
    )
}
