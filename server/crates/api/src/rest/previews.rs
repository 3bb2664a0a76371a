//! Previews of what a Pod's commands serve.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use protocol::{ApiError, ErrorCode, Listing, PodRef, Preview, PreviewCommand};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Fields, PodPath, Within, invalid},
    guard::ConsoleAddress,
};

#[derive(Debug, Deserialize)]
pub(crate) struct PortNamed {
    port: String,
}

impl PortNamed {
    fn read(&self) -> Result<u16, Problem> {
        checked(self.port.parse().map_err(|_| invalid("a port is a number from 1 to 65535"))?)
    }
}

fn checked(port: u16) -> Result<u16, Problem> {
    if port == 0 { Err(invalid("a port is a number from 1 to 65535")) } else { Ok(port) }
}

/// The ports of the Pod's commands that are shown now, the oldest first.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "What is open", body = Listing<Preview>)))]
pub(crate) async fn previews(
    State(api): State<Api>,
    _: Caller,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
) -> Result<Json<Listing<Preview>>, Problem> {
    api.backend().pod(&pod).await?;
    let shown = |opened: &crate::previews::Opened| -> Result<Preview, ApiError> {
        Ok(Preview { port: opened.port, url: format!("{}/", opened.address(&console.0)?) })
    };
    let items = api.previews().of_pod(&pod).iter().map(|opened| shown(opened)).collect::<Result<_, _>>()?;
    Ok(Json(Listing { items, next: None }))
}

/// Shows a port of the Pod's commands on an origin of its own. The address in the answer lets one browser in, once and within a minute;
/// opening it again gives another one.
///
/// What listens there need not be there yet. A preview is open until it is closed, or until the server ends.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews", tag = "previews",
    request_body = PreviewCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "It is open", body = Preview)))]
pub(crate) async fn open(
    State(api): State<Api>,
    Caller(origin): Caller,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
    Fields(command): Fields<PreviewCommand>,
) -> Result<Json<Preview>, Problem> {
    let port = checked(command.port)?;
    let opened = open_for(&api, &console, &pod, port).await;
    let (result, code) = match &opened {
        Ok(_) => ("done", None),
        Err(error) => ("refused", Some(error.code)),
    };
    api.backend().record_audit(&origin, "preview_open", Some(pod.to_string()), result, code).await;
    Ok(Json(opened?))
}

async fn open_for(api: &Api, console: &ConsoleAddress, pod: &PodRef, port: u16) -> Result<Preview, ApiError> {
    api.backend().can_look_in(pod).await?;
    let url = api.previews().open(pod, port)?.entry(&console.0)?;
    Ok(Preview { port, url })
}

/// Leads a browser into an open preview.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("port" = u16, Path)),
    responses((status = 303, description = "To the preview, with a code that lets one browser in")))]
pub(crate) async fn enter(
    State(api): State<Api>,
    _: Caller,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
    Within(named): Within<PortNamed>,
) -> Result<Response, Problem> {
    let port = named.read()?;
    let opened = api.previews().of(&pod, port).ok_or_else(|| not_open(port))?;
    let entry = opened.entry(&console.0)?;
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::try_from(entry).map_err(|error| invalid(error.to_string()))?;
    answer.headers_mut().insert(header::LOCATION, to);
    Ok(answer)
}

/// Closes a preview: its address shows nothing any more.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("port" = u16, Path)),
    responses((status = 204, description = "It is closed")))]
pub(crate) async fn close(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(named): Within<PortNamed>,
) -> Result<StatusCode, Problem> {
    let port = named.read()?;
    if !api.previews().close(&pod, port) {
        return Err(not_open(port));
    }
    api.backend().record_audit(&origin, "preview_close", Some(pod.to_string()), "done", None).await;
    Ok(StatusCode::NO_CONTENT)
}

fn not_open(port: u16) -> Problem {
    Problem(ApiError::new(ErrorCode::NotFound, format!("no preview of port {port} is open; POST …/previews opens one")))
}
