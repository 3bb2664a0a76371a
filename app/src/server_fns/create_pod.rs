use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{CommandId, CreatePod, PodSummary};

use crate::UiError;

#[server(name = CreatePodCall, prefix = "/fn", endpoint = "create_pod", input = Json)]
pub async fn create_pod(command_id: CommandId, create: CreatePod) -> Result<PodSummary, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.create(&origin, command_id, create).await)
}
