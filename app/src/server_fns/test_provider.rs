use leptos::prelude::*;
use protocol::ProviderTest;

use crate::{UiError, codec::Json};

/// Asks a provider now; answers within 10 s.
#[server(prefix = "/fn", endpoint = "test_provider", input = Json, output = Json)]
pub async fn test_provider(name: String) -> Result<ProviderTest, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.test_provider(&name).await)
}
