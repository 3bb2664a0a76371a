use leptos::prelude::*;
use protocol::OpenRequest;

use crate::{UiError, codec::Json};

/// Every request to be introduced that waits for an answer, oldest first.
#[server(prefix = "/fn", endpoint = "open_requests", input = Json, output = Json)]
pub async fn open_requests() -> Result<Vec<OpenRequest>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(
        backend
            .read(protocol::operations::OpenRequests { runtime: Default::default(), page: Default::default() })
            .await
            .map(|page| page.items),
    )
}
