//! What another server tells this one, so that their Pods can know each other.

use axum::{Json, extract::State};
use protocol::{LinkAnswer, LinkExchange};

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Fields},
};

/// One exchange with another yoi: what it tells is taken in, and what there is to tell it is the answer. It answers at once
/// when there is something, or when it was told something; else it waits, for `wait_ms` at most. Each item is taken once,
/// however often it comes.
#[utoipa::path(post, operation_id = "exchange_link", path = "/api/v1/link", tag = "runtimes", request_body = LinkExchange,
    responses((status = 200, description = "What was taken, and what there is to tell", body = LinkAnswer)))]
pub(crate) async fn exchange(
    State(api): State<Api>,
    _: Caller,
    Fields(exchange): Fields<LinkExchange>,
) -> Result<Json<LinkAnswer>, Problem> {
    Ok(Json(api.backend().exchange_link(exchange).await?))
}
