//! A Pod's journal: its pages for people, what its model would be sent, and what compacting that would do.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use protocol::{CompactionPreview, History, Listing, Record};
use serde::Deserialize;

use crate::{
    Api,
    answer::{Problem, records_page},
    extract::{Asked, Caller, PodPath, limit},
};

const RECORDS_DEFAULT: u32 = 200;
const RECORDS_MAX: u32 = 1_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageAsked {
    /// Only records with a lower seq: `next` of the page before.
    before: Option<String>,
    /// At most so many; 200 when absent, never more than 1,000.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// One page of records in seq order: the newest, or those before `before`.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/transcript", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), PageAsked),
    responses((status = 200, description = "One page", body = Listing<Record>)))]
pub(crate) async fn transcript(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(asked): Asked<PageAsked>,
) -> Result<Response, Problem> {
    let limit = limit(asked.limit.as_deref(), RECORDS_DEFAULT, RECORDS_MAX)?;
    let page = api.backend().transcript(&pod, asked.before.as_deref(), limit).await?;
    Ok(records_page(&page.items, page.next.as_deref()))
}

/// What this Pod's model would be sent now. The same journal gives the same bytes.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/history", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "The messages", body = History)))]
pub(crate) async fn history(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
) -> Result<Json<History>, Problem> {
    Ok(Json(api.backend().history(&pod).await?))
}

/// What compacting the Pod now would drop and keep. Changes nothing.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/compact", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "What it would do", body = CompactionPreview),
        (status = 204, description = "There is nothing to drop")))]
pub(crate) async fn compaction_preview(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
) -> Result<Response, Problem> {
    Ok(match api.backend().compaction_preview(&pod).await? {
        Some(preview) => Json(preview).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}
