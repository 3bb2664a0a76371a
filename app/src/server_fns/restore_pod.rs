use leptos::prelude::*;
use protocol::{CommandId, PodRef, Receipt, RestoreCommand};

use crate::{UiError, codec::Json};

/// The receipt's report says what became of each Pod of a tree.
#[server(prefix = "/fn", endpoint = "restore_pod", input = Json, output = Json)]
pub async fn restore_pod(pod: PodRef, command_id: CommandId, command: RestoreCommand) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Restore { pod: pod.clone(), body: command }).await,
    )
}
