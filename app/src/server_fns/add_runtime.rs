use leptos::prelude::*;
use protocol::RuntimeView;

use crate::{UiError, codec::Json};

/// Adds another server's runtime; all that there are then. The token goes in, and never comes out again.
#[server(prefix = "/fn", endpoint = "add_runtime", input = Json, output = Json)]
pub async fn add_runtime(add: protocol::AddRuntime) -> Result<Vec<RuntimeView>, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.add_runtime(&origin, protocol::CommandId::random(), add).await)?;
    Ok(backend.runtimes())
}
