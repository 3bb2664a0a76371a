use leptos::prelude::*;
use protocol::{CommandId, PeerAnswer, PeerCommand, PodRef};

use crate::{UiError, codec::Json};

/// Introduces a Pod to another one: they know each other now, or the other side was asked.
#[server(prefix = "/fn", endpoint = "introduce_pods", input = Json, output = Json)]
pub async fn introduce_pods(pod: PodRef, command_id: CommandId, command: PeerCommand) -> Result<PeerAnswer, UiError> {
    let (backend, origin) = super::door::caller()?;
    let introduced = backend
        .carry_out(&origin, command_id, protocol::operations::Introduce { pod: pod.clone(), body: command })
        .await;
    super::door::answer(introduced.map(|introduced| introduced.answer))
}
