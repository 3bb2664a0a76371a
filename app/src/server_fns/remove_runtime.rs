use leptos::prelude::*;
use protocol::{RuntimeId, RuntimeView};

use crate::{UiError, codec::Json};

/// Forgets another server's runtime; those that are left.
#[server(prefix = "/fn", endpoint = "remove_runtime", input = Json, output = Json)]
pub async fn remove_runtime(runtime_id: RuntimeId) -> Result<Vec<RuntimeView>, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.remove_runtime(&origin, protocol::CommandId::random(), &runtime_id).await)?;
    Ok(backend.runtimes())
}
