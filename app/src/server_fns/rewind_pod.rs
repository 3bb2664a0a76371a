use leptos::prelude::*;
use protocol::{CommandId, PodRef, Receipt, RewindCommand};

use crate::{UiError, codec::Json};

/// Refused as `head_moved` when the journal has grown since the person decided.
#[server(prefix = "/fn", endpoint = "rewind_pod", input = Json, output = Json)]
pub async fn rewind_pod(pod: PodRef, command_id: CommandId, command: RewindCommand) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Rewind { pod: pod.clone(), body: command }).await,
    )
}
