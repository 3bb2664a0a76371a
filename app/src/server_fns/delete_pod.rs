use leptos::prelude::*;
use protocol::{CommandId, PodRef};

use crate::{UiError, codec::Json};

/// `confirm` is the Pod's name, typed by the person.
#[server(prefix = "/fn", endpoint = "delete_pod", input = Json, output = Json)]
pub async fn delete_pod(pod: PodRef, command_id: CommandId, confirm: String) -> Result<(), UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(&origin, command_id, protocol::operations::Delete { pod: pod.clone(), confirm: Some(confirm) })
            .await,
    )
}
