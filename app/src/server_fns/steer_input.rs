use leptos::prelude::*;
use protocol::{CommandId, PodRef, Receipt, Segment};

use crate::{UiError, codec::Json};

/// A message for the run that goes on: its model gets it when it is asked next. Where none goes on, it begins one.
#[server(prefix = "/fn", endpoint = "steer_input", input = Json, output = Json)]
pub async fn steer_input(pod: PodRef, command_id: CommandId, segments: Vec<Segment>) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    let input = protocol::InputCommand { segments, queue: true, steer: true };
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Input { pod: pod.clone(), body: input }).await,
    )
}
