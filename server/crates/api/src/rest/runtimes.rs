//! Which runtimes and which models there are.

use axum::{Json, extract::State};
use protocol::{Listing, ProviderView, RuntimeView, UnconfiguredProvider};
use serde::Serialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller},
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
