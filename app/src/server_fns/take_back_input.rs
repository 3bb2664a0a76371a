use leptos::prelude::*;
use protocol::{CommandId, PodRef, QueuedInput};

use crate::{UiError, codec::Json};

/// Takes a queued message out of the queue, and gives it back. One that has begun is `already_answered`.
#[server(prefix = "/fn", endpoint = "take_back_input", input = Json, output = Json)]
pub async fn take_back_input(pod: PodRef, command_id: CommandId, queued: CommandId) -> Result<QueuedInput, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(
                &origin,
                command_id,
                protocol::operations::TakeBack { pod: pod.clone(), command_id: queued.clone() },
            )
            .await,
    )
}
