//! Lists across Pods: search, usage and the audit.

use axum::{Json, extract::State};
use backend::{AuditQuery, SearchQuery};
use protocol::{AuditRow, Gathered, PodRef, RuntimeId, SearchHit, UsageReport};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, cursor, filled, invalid, limit},
};

const HITS_DEFAULT: u32 = 50;
const HITS_MAX: u32 = 200;
const AUDIT_DEFAULT: u32 = 200;
const AUDIT_MAX: u32 = 1_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchAsked {
    /// The words to find; the last one may be the beginning of one.
    #[param(required = true)]
    q: Option<String>,
    /// In this Pod's journal alone: `runtime_id/worker_id`.
    pod: Option<String>,
    /// In the journals of this runtime alone.
    runtime: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many; 50 when absent, never more than 200.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// Finds words in the journals of all Pods, of one runtime, or of one Pod; the newest first.
#[utoipa::path(get, path = "/api/v1/search", tag = "lists", params(SearchAsked),
    responses((status = 200, description = "One page of hits", body = Gathered<SearchHit>)))]
pub(crate) async fn search(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<SearchAsked>,
) -> Result<Json<Gathered<SearchHit>>, Problem> {
    let words = asked.q.filter(|words| !words.trim().is_empty());
    let words = words.ok_or_else(|| invalid("say what to look for: `?q=`"))?;
    let limit = limit(asked.limit.as_deref(), HITS_DEFAULT, HITS_MAX)?;
    let pod = filled("pod", asked.pod)?.map(|pod| pod.parse::<PodRef>().map_err(invalid)).transpose()?;
    let (runtime, after) = (runtime(asked.runtime)?, cursor(asked.after));
    Ok(Json(api.backend().search(SearchQuery { words, pod, runtime, after, limit }).await?))
}

/// Which part of a report is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageAsked {
    /// Of this runtime alone.
    runtime: Option<String>,
}

/// Tokens and cost: over all, per Pod, per day (UTC), per tree, per pair; of all runtimes, or of one.
#[utoipa::path(get, path = "/api/v1/usage", tag = "lists", params(UsageAsked),
    responses((status = 200, description = "What was used", body = UsageReport)))]
pub(crate) async fn usage(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<UsageAsked>,
) -> Result<Json<UsageReport>, Problem> {
    Ok(Json(api.backend().usage(runtime(asked.runtime)?.as_ref()).await?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditAsked {
    /// Of this action alone, such as `input`.
    action: Option<String>,
    /// With this result alone: `done`, `refused` or `failed`.
    result: Option<String>,
    /// About this target alone; a Pod's is `runtime_id/worker_id`.
    target: Option<String>,
    /// Of this runtime's server alone.
    runtime: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many; 200 when absent, never more than 1,000.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// Who did what, from where, with what result.
#[utoipa::path(get, path = "/api/v1/audit", tag = "lists", params(AuditAsked),
    responses((status = 200, description = "One page", body = Gathered<AuditRow>)))]
pub(crate) async fn audit(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<AuditAsked>,
) -> Result<Json<Gathered<AuditRow>>, Problem> {
    let limit = limit(asked.limit.as_deref(), AUDIT_DEFAULT, AUDIT_MAX)?;
    let query = AuditQuery {
        action: filled("action", asked.action)?,
        result: filled("result", asked.result)?,
        target: filled("target", asked.target)?,
        runtime: runtime(asked.runtime)?,
        after: cursor(asked.after),
        limit,
    };
    Ok(Json(api.backend().audit(query).await?))
}

/// The runtime that is asked for alone.
pub(crate) fn runtime(text: Option<String>) -> Result<Option<RuntimeId>, Problem> {
    filled("runtime", text)?.map(|text| RuntimeId::parse(&text).map_err(invalid)).transpose()
}
