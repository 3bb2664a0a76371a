use leptos::prelude::*;
use protocol::RuntimeView;

use crate::{UiError, codec::Json};

/// Where Pods live, and whether it answers now.
#[server(prefix = "/fn", endpoint = "list_runtimes", input = Json, output = Json)]
pub async fn list_runtimes() -> Result<Vec<RuntimeView>, UiError> {
    let (backend, _) = super::door::caller()?;
    Ok(backend.runtimes())
}
