//! Lists across Pods: search and the audit.

use axum::{Json, extract::State};
use protocol::{AuditEntry, Listing, SearchHit};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, invalid, limit},
};

const HITS_DEFAULT: u32 = 50;
const HITS_MAX: u32 = 200;
const AUDIT_DEFAULT: u32 = 200;
const AUDIT_MAX: u32 = 1_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchAsked {
    /// The words to find.
    #[param(required = true)]
    q: Option<String>,
    /// At most so many; 50 when absent, never more than 200.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// Finds words in the journals of all Pods.
#[utoipa::path(get, path = "/api/v1/search", tag = "lists", params(SearchAsked),
    responses((status = 200, description = "The best hits", body = Listing<SearchHit>)))]
pub(crate) async fn search(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<SearchAsked>,
) -> Result<Json<Listing<SearchHit>>, Problem> {
    let words = asked.q.filter(|words| !words.trim().is_empty());
    let words = words.ok_or_else(|| invalid("say what to look for: `?q=`"))?;
    let limit = limit(asked.limit.as_deref(), HITS_DEFAULT, HITS_MAX)?;
    Ok(Json(Listing { items: api.backend().search(&words, limit).await?, next: None }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditAsked {
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many; 200 when absent, never more than 1,000.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// Who did what, from where, with what result.
#[utoipa::path(get, path = "/api/v1/audit", tag = "lists", params(AuditAsked),
    responses((status = 200, description = "One page", body = Listing<AuditEntry>)))]
pub(crate) async fn audit(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<AuditAsked>,
) -> Result<Json<Listing<AuditEntry>>, Problem> {
    let after = asked.after.as_deref().filter(|after| !after.is_empty());
    let limit = limit(asked.limit.as_deref(), AUDIT_DEFAULT, AUDIT_MAX)?;
    Ok(Json(api.backend().audit(after, limit).await?))
}
