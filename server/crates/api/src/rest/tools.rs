//! Tools that a person runs, the questions of a Pod, whom it sees and what it may read.

use axum::{Json, extract::State};
use protocol::{Approval, ApprovalCommand, Listing, ToolAnswer, ToolCommand, VisiblePod};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Fields, Key, PodPath, Within, flag, invalid},
    rest::paging::PageAsked,
};

#[derive(Debug, Deserialize)]
pub(crate) struct ToolNamed {
    name: String,
}

/// Runs a tool as the Pod would, under its scope and its deny rules.
///
/// The call is the person's answer where a rule asks. It is in the transcript with `by: operator`, and no model is told
/// of it. A tool that fails is an answer with `is_error` and a `code`, no error of the request.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/tools/{name}", tag = "tools",
    request_body = ToolCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("name" = String, Path, example = "Read"),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "How it ended", body = ToolAnswer)))]
pub(crate) async fn run(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(tool): Within<ToolNamed>,
    Key(key): Key,
    Fields(command): Fields<ToolCommand>,
) -> Result<Json<ToolAnswer>, Problem> {
    if !command.arguments.is_object() {
        return Err(invalid("`arguments` is a JSON object of what the tool takes"));
    }
    Ok(Json(api.backend().run_tool(&origin, key, &pod, &tool.name, command).await?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalsAsked {
    /// Also what was answered or withdrawn.
    #[param(value_type = Option<bool>)]
    all: Option<String>,
}

/// What the Pod asks a person, oldest first.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/approvals", tag = "tools",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ApprovalsAsked, PageAsked),
    responses((status = 200, description = "The questions", body = Listing<Approval>)))]
pub(crate) async fn approvals(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(asked): Asked<ApprovalsAsked>,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<Approval>>, Problem> {
    let all = flag("all", asked.all.as_deref())?;
    Ok(Json(page.of(api.backend().approvals(&pod, all).await?.items, |approval| approval.id.clone())?))
}

#[derive(Debug, Deserialize)]
pub(crate) struct ApprovalNamed {
    id: String,
}

/// Answers a question; the first answer counts.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/approvals/{id}", tag = "tools",
    request_body = ApprovalCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "The question with its answer", body = Approval)))]
pub(crate) async fn answer(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(approval): Within<ApprovalNamed>,
    Key(key): Key,
    Fields(command): Fields<ApprovalCommand>,
) -> Result<Json<Approval>, Problem> {
    Ok(Json(api.backend().answer(&origin, key, &pod, &approval.id, command).await?))
}

/// The Pods that this one sees: itself, its children, its peers. Its model is told exactly this by ListPods.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/visible", tag = "tools",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), PageAsked),
    responses((status = 200, description = "The Pods", body = Listing<VisiblePod>)))]
pub(crate) async fn visible(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<VisiblePod>>, Problem> {
    Ok(Json(page.of(api.backend().visible(&pod).await?.items, |seen| seen.pod.to_string())?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilesAsked {
    /// A few letters of a path; all that is near when absent.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    q: String,
}

/// Files that the Pod may read and whose path fits, the best first; as many as a list shows, so there is no next page.
///
/// A message names one with a segment `{ "type": "file_ref", "path": … }`.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/files", tag = "tools",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), FilesAsked),
    responses((status = 200, description = "Paths, from the working directory where they are in it",
        body = Listing<String>)))]
pub(crate) async fn files(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(asked): Asked<FilesAsked>,
) -> Result<Json<Listing<String>>, Problem> {
    Ok(Json(Listing { items: api.backend().files(&pod, &asked.q).await?, next: None }))
}
