use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{CommandId, PodDetail, PodName, PodRef};

use crate::UiError;

#[server(prefix = "/fn", endpoint = "rename_pod", input = Json)]
pub async fn rename_pod(pod: PodRef, command_id: CommandId, name: PodName) -> Result<PodDetail, UiError> {
    let (backend, origin) = super::door::caller()?;
    let patch = protocol::PatchPod { name: Some(name), ..Default::default() };
    super::door::answer(backend.patch(&origin, command_id, &pod, patch).await)
}
