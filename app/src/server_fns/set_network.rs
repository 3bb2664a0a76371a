use leptos::prelude::*;
use protocol::{CommandId, NetworkPolicy, PodDetail, PodRef};

use crate::{UiError, codec::Json};

/// Says what commands of a Pod reach.
#[server(prefix = "/fn", endpoint = "set_network", input = Json, output = Json)]
pub async fn set_network(pod: PodRef, command_id: CommandId, network: NetworkPolicy) -> Result<PodDetail, UiError> {
    let (backend, origin) = super::door::caller()?;
    let patch = protocol::PatchPod { network: Some(network), ..Default::default() };
    super::door::answer(
        backend.carry_out(&origin, command_id, protocol::operations::Patch { pod: pod.clone(), body: patch }).await,
    )
}
