use leptos::{prelude::*, server_fn::codec::Json};
use protocol::PodRef;

use crate::UiError;

/// `name`, `name@runtime_id` or `runtime_id/worker_id`.
#[server(prefix = "/fn", endpoint = "resolve", input = Json)]
pub async fn resolve(target: String) -> Result<PodRef, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.resolve(&target).await)
}
