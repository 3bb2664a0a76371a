//! Pods: the list, one of them, making, changing and deleting them.

use axum::{Json, extract::State, http::StatusCode};
use backend::PodQuery;
use protocol::{CreatePod, Listing, PatchPod, PodDetail, PodName, PodRef, PodState, PodSummary};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Fields, Key, PodPath, cursor, filled, invalid, limit},
};

const PODS_DEFAULT: u32 = 500;
const PODS_MAX: u32 = 1_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PodsAsked {
    /// Exactly this name.
    name: Option<String>,
    /// Only Pods in this state.
    #[param(value_type = Option<PodState>)]
    state: Option<String>,
    /// Part of a name, working directory, model or activity; case does not matter.
    q: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many; 500 when absent, never more than 1,000.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

impl PodsAsked {
    fn query(self) -> Result<PodQuery, Problem> {
        let name = filled("name", self.name)?.map(|name| PodName::parse(&name)).transpose();
        Ok(PodQuery {
            name: name.map_err(|error| invalid(format!("`name`: {error}")))?,
            state: filled("state", self.state)?.map(|state| parse_state(&state)).transpose()?,
            // Every text has the empty one as a part.
            q: self.q.filter(|q| !q.is_empty()),
            after: cursor(self.after),
            limit: Some(limit(self.limit.as_deref(), PODS_DEFAULT, PODS_MAX)?),
        })
    }
}

fn parse_state(text: &str) -> Result<PodState, Problem> {
    let known = PodState::ALL.into_iter().find(|state| state.as_str() == text);
    known.ok_or_else(|| {
        let states: Vec<&str> = PodState::ALL.into_iter().map(PodState::as_str).collect();
        invalid(format!("`state`: \"{text}\" is no state; there are {}", states.join(", ")))
    })
}

/// Summaries of the Pods of all runtimes.
#[utoipa::path(get, path = "/api/v1/pods", tag = "pods", params(PodsAsked),
    responses((status = 200, description = "One page of them", body = Listing<PodSummary>)))]
pub(crate) async fn pods(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<PodsAsked>,
) -> Result<Json<Listing<PodSummary>>, Problem> {
    Ok(Json(api.backend().pods(&asked.query()?).await?))
}

/// Makes a Pod.
#[utoipa::path(post, path = "/api/v1/pods", tag = "pods", request_body = CreatePod,
    params(("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 201, description = "The Pod", body = PodSummary)))]
pub(crate) async fn create(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Fields(create): Fields<CreatePod>,
) -> Result<(StatusCode, Json<PodSummary>), Problem> {
    let summary = api.backend().create(&origin, key, create).await?;
    Ok((StatusCode::CREATED, Json(summary)))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Targeted {
    /// `name`, `name@runtime_id` or `runtime_id/worker_id`.
    #[param(required = true)]
    target: Option<String>,
}

/// Turns what a person wrote into a Pod's address.
#[utoipa::path(get, path = "/api/v1/pods/resolve", tag = "pods", params(Targeted),
    responses((status = 200, description = "The address", body = PodRef)))]
pub(crate) async fn resolve(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<Targeted>,
) -> Result<Json<PodRef>, Problem> {
    let target = asked.target.ok_or_else(|| invalid("say which Pod is meant: `?target=`"))?;
    Ok(Json(api.backend().resolve(&target).await?))
}

/// A Pod, with all that its page shows.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}", tag = "pods",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "The Pod", body = PodDetail)))]
pub(crate) async fn pod(State(api): State<Api>, _: Caller, PodPath(pod): PodPath) -> Result<Json<PodDetail>, Problem> {
    Ok(Json(api.backend().pod(&pod).await?))
}

/// Renames a Pod, or changes its policies.
#[utoipa::path(patch, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}", tag = "pods",
    request_body = PatchPod,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "The Pod as it is now", body = PodDetail)))]
pub(crate) async fn patch(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Fields(patch): Fields<PatchPod>,
) -> Result<Json<PodDetail>, Problem> {
    Ok(Json(api.backend().patch(&origin, key, &pod, patch).await?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Confirmed {
    /// The Pod's name, to confirm that it is meant.
    #[param(required = true)]
    confirm: Option<String>,
}

/// Stops a Pod and removes it with its journal.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}", tag = "pods",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), Confirmed,
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Asked(asked): Asked<Confirmed>,
) -> Result<StatusCode, Problem> {
    api.backend().delete(&origin, key, &pod, asked.confirm.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}
