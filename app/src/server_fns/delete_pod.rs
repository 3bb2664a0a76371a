use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{CommandId, PodRef};

use crate::UiError;

/// `confirm` is the Pod's name, typed by the person.
#[server(prefix = "/fn", endpoint = "delete_pod", input = Json)]
pub async fn delete_pod(pod: PodRef, command_id: CommandId, confirm: String) -> Result<(), UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.delete(&origin, command_id, &pod, Some(&confirm)).await)
}
