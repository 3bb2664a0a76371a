use leptos::prelude::*;
use protocol::{CommandId, CreatePod, PodSummary};

use crate::{UiError, codec::Json};

#[server(name = CreatePodCall, prefix = "/fn", endpoint = "create_pod", input = Json, output = Json)]
pub async fn create_pod(command_id: CommandId, create: CreatePod) -> Result<PodSummary, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.carry_out(&origin, command_id, protocol::operations::Create { body: create }).await)
}
