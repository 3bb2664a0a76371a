//! Which runtimes and which models there are.

use axum::{Json, extract::State, http::StatusCode};
use protocol::{
    About, AddRuntime, Listing, PROTOCOL_VERSION, ProviderView, RuntimeId, RuntimeView, UnconfiguredProvider,
};
use serde::{Deserialize, Serialize};

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Fields, Key, Within, invalid},
    rest::paging::PageAsked,
};

/// The providers that were found, and what would make more appear.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Providers {
    items: Vec<ProviderView>,
    unconfigured: Vec<UnconfiguredProvider>,
    next: Option<String>,
}

/// The runtimes that this server reaches; never an address.
#[utoipa::path(get, path = "/api/v1/runtimes", tag = "runtimes", params(PageAsked),
    responses((status = 200, description = "All of them", body = Listing<RuntimeView>)))]
pub(crate) async fn runtimes(
    State(api): State<Api>,
    _: Caller,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<RuntimeView>>, Problem> {
    Ok(Json(page.of(api.backend().runtimes(), |runtime| runtime.runtime_id.to_string())?))
}

/// Adds another server's runtime by its address and token; both are kept, and never told. It has 5 s to answer: one that
/// refuses the token or is no yoi is not added, one that is away is added and shown as unreachable.
#[utoipa::path(post, path = "/api/v1/runtimes", tag = "runtimes", request_body = AddRuntime,
    params(("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 201, description = "It is added", body = RuntimeView)))]
pub(crate) async fn add(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Fields(add): Fields<AddRuntime>,
) -> Result<(StatusCode, Json<RuntimeView>), Problem> {
    Ok((StatusCode::CREATED, Json(api.backend().add_runtime(&origin, key, add).await?)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct RuntimeNamed {
    runtime_id: String,
}

/// Forgets another server's runtime, its address and its token. Its Pods stay where they are.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 204, description = "It is gone from here")))]
pub(crate) async fn remove(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Within(RuntimeNamed { runtime_id }): Within<RuntimeNamed>,
) -> Result<StatusCode, Problem> {
    let runtime_id = RuntimeId::parse(&runtime_id).map_err(invalid)?;
    api.backend().remove_runtime(&origin, key, &runtime_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which server this is: for other servers, that have to know whether they can speak with it, and whether they know it.
#[utoipa::path(get, path = "/api/v1/about", tag = "runtimes",
    responses((status = 200, description = "Its protocol, its name and its database's id", body = About)))]
pub(crate) async fn about(State(api): State<Api>, _: Caller) -> Json<About> {
    Json(About {
        protocol: PROTOCOL_VERSION,
        server: api.options().server.clone(),
        name: api.backend().name().clone(),
        store_id: api.backend().store_id().to_owned(),
    })
}

/// The model providers: what was found, with which models, and what is missing; never a key.
#[utoipa::path(get, path = "/api/v1/providers", tag = "runtimes", params(PageAsked),
    responses((status = 200, description = "All of them", body = Providers)))]
pub(crate) async fn providers(
    State(api): State<Api>,
    _: Caller,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Providers>, Problem> {
    let Listing { items, next } = page.of(api.backend().providers().await, |provider| provider.name.clone())?;
    Ok(Json(Providers { items, unconfigured: api.backend().unconfigured(), next }))
}
