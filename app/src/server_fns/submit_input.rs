use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{CommandId, PodRef, Receipt, Segment};

use crate::UiError;

/// The receipt means that the text is on the disk: only then may a composer forget it.
#[server(prefix = "/fn", endpoint = "submit_input", input = Json)]
pub async fn submit_input(
    pod: PodRef,
    command_id: CommandId,
    segments: Vec<Segment>,
    queue: bool,
) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.input(&origin, command_id, &pod, protocol::InputCommand { segments, queue }).await)
}
