use leptos::prelude::*;
use protocol::{CommandId, PodRef, Receipt, Segment};

use crate::{UiError, codec::Json};

/// The receipt means that the text is on the disk: only then may a composer forget it.
#[server(prefix = "/fn", endpoint = "submit_input", input = Json, output = Json)]
pub async fn submit_input(
    pod: PodRef,
    command_id: CommandId,
    segments: Vec<Segment>,
    queue: bool,
) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    let input = protocol::InputCommand { segments, queue, steer: false };
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Input { pod: pod.clone(), body: input }).await,
    )
}
