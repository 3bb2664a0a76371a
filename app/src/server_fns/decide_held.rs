use leptos::prelude::*;
use protocol::{CommandId, HeldCommand, MessageAnswer, PodRef};

use crate::{UiError, codec::Json};

/// Releases or drops a message that is held; `pod` sent it, or is to get it.
#[server(prefix = "/fn", endpoint = "decide_held", input = Json, output = Json)]
pub async fn decide_held(
    pod: PodRef,
    command_id: CommandId,
    message_id: String,
    command: HeldCommand,
) -> Result<MessageAnswer, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(
                &origin,
                command_id,
                protocol::operations::DecideHeld { pod: pod.clone(), message_id: message_id.clone(), body: command },
            )
            .await,
    )
}
