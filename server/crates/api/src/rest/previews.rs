//! Previews of what a Pod's commands serve.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use protocol::{Listing, Preview, PreviewCommand};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Fields, Login, PodPath, Within, invalid},
    guard::ConsoleAddress,
};

#[derive(Debug, Deserialize)]
pub(crate) struct PortNamed {
    port: String,
}

impl PortNamed {
    fn read(&self) -> Result<u16, Problem> {
        self.port.parse().map_err(|_| invalid("a port is a number from 1 to 65535"))
    }
}

/// The ports that the Pod's commands listen on and those that are shown, the lowest first.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "What can be shown, and what is", body = Listing<Preview>)))]
pub(crate) async fn previews(
    State(api): State<Api>,
    _: Caller,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
) -> Result<Json<Listing<Preview>>, Problem> {
    let mut items = api.backend().previews(&pod).await?;
    for item in items.iter_mut().filter(|item| item.is_open) {
        // It may have been closed since; and the console may be where no preview can be shown.
        let address = api.backend().preview_of(&pod, item.port).and_then(|open| open.address(&console.0));
        item.url = address.ok().map(|address| format!("{address}/"));
    }
    Ok(Json(Listing { items, next: None }))
}

/// Shows a port of the Pod's commands on an origin of its own. The address in the answer lets one browser in, once and within a minute;
/// opening it again gives another one.
///
/// What listens there need not be there yet. A preview is open until it is closed, or until the server or the Pod ends.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews", tag = "previews",
    request_body = PreviewCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path)),
    responses((status = 200, description = "It is open", body = Preview)))]
pub(crate) async fn open(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(session): Login,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
    Fields(command): Fields<PreviewCommand>,
) -> Result<Json<Preview>, Problem> {
    let open = api.backend().preview_open(&origin, &pod, command.port).await?;
    let url = Some(open.entry(&console.0, session)?);
    let seen = api.backend().previews(&pod).await?.into_iter().find(|seen| seen.port == open.port());
    let is_listening = seen.is_some_and(|seen| seen.is_listening);
    Ok(Json(Preview { port: open.port(), is_open: true, is_listening, url }))
}

/// Leads a browser into an open preview.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("port" = u16, Path)),
    responses((status = 303, description = "To the preview, with a code that lets one browser in")))]
pub(crate) async fn enter(
    State(api): State<Api>,
    _: Caller,
    Login(session): Login,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
    Within(named): Within<PortNamed>,
) -> Result<Response, Problem> {
    let entry = api.backend().preview_of(&pod, named.read()?)?.entry(&console.0, session)?;
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::try_from(entry).map_err(|error| invalid(error.to_string()))?;
    answer.headers_mut().insert(header::LOCATION, to);
    Ok(answer)
}

/// Closes a preview: its address shows nothing any more, and what is open through it ends.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("port" = u16, Path)),
    responses((status = 204, description = "It is closed")))]
pub(crate) async fn close(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(named): Within<PortNamed>,
) -> Result<StatusCode, Problem> {
    api.backend().preview_close(&origin, &pod, named.read()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
