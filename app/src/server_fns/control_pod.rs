use leptos::prelude::*;
use protocol::{CommandId, ControlVerb, PodRef, Receipt};

use crate::{UiError, codec::Json};

#[server(prefix = "/fn", endpoint = "control_pod", input = Json, output = Json)]
pub async fn control_pod(pod: PodRef, command_id: CommandId, verb: ControlVerb) -> Result<Receipt, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.control(&origin, command_id, pod, verb).await)
}
