use leptos::prelude::*;
use protocol::{CommandId, PeerAnswer, PodRef, RequestCommand};

use crate::{UiError, codec::Json};

/// Accepts or declines what `pod` was asked; of two answers the first counts.
#[server(prefix = "/fn", endpoint = "decide_request", input = Json, output = Json)]
pub async fn decide_request(
    pod: PodRef,
    command_id: CommandId,
    request_id: String,
    command: RequestCommand,
) -> Result<PeerAnswer, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(
                &origin,
                command_id,
                protocol::operations::DecideRequest { pod: pod.clone(), request_id: request_id.clone(), body: command },
            )
            .await,
    )
}
