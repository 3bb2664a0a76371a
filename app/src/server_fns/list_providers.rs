use leptos::prelude::*;
use protocol::{ProviderView, UnconfiguredProvider};
use serde::{Deserialize, Serialize};

use crate::{UiError, codec::Json};

/// Which models there are, and what would make more appear. Never a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvidersFound {
    pub found: Vec<ProviderView>,
    pub missing: Vec<UnconfiguredProvider>,
}

#[server(prefix = "/fn", endpoint = "list_providers", input = Json, output = Json)]
pub async fn list_providers() -> Result<ProvidersFound, UiError> {
    let (backend, _) = super::door::caller()?;
    Ok(ProvidersFound { found: backend.providers().await, missing: backend.unconfigured() })
}
