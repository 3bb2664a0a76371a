//! Which runtimes and which models there are.

use axum::{Json, extract::State};
use protocol::{Listing, ProviderView, RuntimeView, UnconfiguredProvider};
use serde::Serialize;

use crate::{Api, extract::Caller};

/// The providers that were found, and what would make more appear.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Providers {
    items: Vec<ProviderView>,
    unconfigured: Vec<UnconfiguredProvider>,
    next: Option<String>,
}

/// The runtimes that this server reaches; never an address.
#[utoipa::path(get, path = "/api/v1/runtimes", tag = "runtimes",
    responses((status = 200, description = "All of them", body = Listing<RuntimeView>)))]
pub(crate) async fn runtimes(State(api): State<Api>, _: Caller) -> Json<Listing<RuntimeView>> {
    Json(Listing { items: api.backend().runtimes(), next: None })
}

/// The model providers: what was found, with which models, and what is missing; never a key.
#[utoipa::path(get, path = "/api/v1/providers", tag = "runtimes",
    responses((status = 200, description = "All of them", body = Providers)))]
pub(crate) async fn providers(State(api): State<Api>, _: Caller) -> Json<Providers> {
    let (items, unconfigured) = (api.backend().providers().await, api.backend().unconfigured());
    Json(Providers { items, unconfigured, next: None })
}
