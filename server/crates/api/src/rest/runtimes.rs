//! Adding and removing other servers' runtimes.

use axum::{Json, extract::State, http::StatusCode};
use protocol::{AddRuntime, RuntimeId, RuntimeView};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Fields, Key, Within, invalid},
};

/// Adds another server's runtime by its address and token; both are stored, and never shown. It has 5 s to
/// answer: one that refuses the token or is not a yoi is not added; one that does not answer is added and
/// shown as unreachable.
#[utoipa::path(post, path = "/api/v1/runtimes", tag = "runtimes", request_body = AddRuntime,
    params(("Idempotency-Key" = Option<String>, Header, description = "The command's id; generated when absent")),
    responses((status = 201, description = "It was added", body = RuntimeView)))]
pub(crate) async fn add(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Fields(add): Fields<AddRuntime>,
) -> Result<(StatusCode, Json<RuntimeView>), Problem> {
    Ok((StatusCode::CREATED, Json(api.backend().runtimes().add(&origin, key, add).await?)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct RuntimeNamed {
    runtime_id: String,
}

/// Removes another server's runtime, with its address and token. Its Pods stay where they are.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; generated when absent")),
    responses((status = 204, description = "It was removed")))]
pub(crate) async fn remove(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Within(RuntimeNamed { runtime_id }): Within<RuntimeNamed>,
) -> Result<StatusCode, Problem> {
    let runtime_id = RuntimeId::parse(&runtime_id).map_err(invalid)?;
    api.backend().runtimes().remove(&origin, key, &runtime_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
