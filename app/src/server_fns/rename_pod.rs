use leptos::prelude::*;
use protocol::{CommandId, PodDetail, PodName, PodRef};

use crate::{UiError, codec::Json};

#[server(prefix = "/fn", endpoint = "rename_pod", input = Json, output = Json)]
pub async fn rename_pod(pod: PodRef, command_id: CommandId, name: PodName) -> Result<PodDetail, UiError> {
    let (backend, origin) = super::door::caller()?;
    let patch = protocol::PatchPod { name: Some(name), ..Default::default() };
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Patch { pod: pod.clone(), body: patch }).await,
    )
}
