use leptos::prelude::*;
use protocol::{CommandId, PodRef};

use crate::{UiError, codec::Json};

/// Ends a link, or withdraws a request that waits.
#[server(prefix = "/fn", endpoint = "unlink_pods", input = Json, output = Json)]
pub async fn unlink_pods(pod: PodRef, command_id: CommandId, peer: PodRef) -> Result<(), UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(&origin, command_id, protocol::operations::Unlink { pod: pod.clone(), peer: peer.clone() })
            .await,
    )
}
