use leptos::prelude::*;
use protocol::PodRef;

use crate::{UiError, codec::Json};

/// `name`, `name@runtime_id` or `runtime_id/worker_id`.
#[server(prefix = "/fn", endpoint = "resolve", input = Json, output = Json)]
pub async fn resolve(target: String) -> Result<PodRef, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.resolve(&target).await)
}
