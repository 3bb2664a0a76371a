//! Where Pods live.

use leptos::prelude::*;
use protocol::{RuntimeId, RuntimeView};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// All runtimes, and whether each is reachable now.
#[server(prefix = "/fn", endpoint = "list_runtimes", input = Json, output = Json)]
pub async fn list_runtimes() -> Result<Vec<RuntimeView>, UiError> {
    let (backend, _) = door::caller()?;
    Ok(backend.runtimes().list())
}

/// Adds another server as a runtime; returns the updated list. The token is write-only.
#[server(prefix = "/fn", endpoint = "add_runtime", input = Json, output = Json)]
pub async fn add_runtime(add: protocol::AddRuntime) -> Result<Vec<RuntimeView>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.runtimes().add(&origin, protocol::CommandId::random(), add).await)?;
    Ok(backend.runtimes().list())
}

/// Removes another server's runtime; returns the updated list.
#[server(prefix = "/fn", endpoint = "remove_runtime", input = Json, output = Json)]
pub async fn remove_runtime(runtime_id: RuntimeId) -> Result<Vec<RuntimeView>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.runtimes().remove(&origin, protocol::CommandId::random(), &runtime_id).await)?;
    Ok(backend.runtimes().list())
}
