//! Previews of what a Pod's commands serve.

use axum::{
    Extension,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use protocol::{
    Listing, Preview,
    operations::{ClosePreview, OpenPreview, Previews},
};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Login, PodPath, Within, invalid},
    guard::ConsoleAddress,
    sent::{Sent, reply},
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

pub(crate) async fn previews(
    State(api): State<Api>,
    _: Caller,
    Extension(console): Extension<ConsoleAddress>,
    Sent(asked): Sent<Previews>,
) -> Result<Response, Problem> {
    let mut items = api.backend().previews().list(&asked.pod).await?;
    for item in items.iter_mut().filter(|item| item.is_open) {
        // It may have been closed since, or the console may be at an address where no preview can be shown.
        let address = api.backend().previews().of(&asked.pod, item.port).and_then(|open| open.address(&console.0));
        item.url = address.ok().map(|address| format!("{address}/"));
    }
    reply(&asked, Listing { items, next: None })
}

pub(crate) async fn open(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(session): Login,
    Extension(console): Extension<ConsoleAddress>,
    Sent(asked): Sent<OpenPreview>,
) -> Result<Response, Problem> {
    let open = api.backend().previews().open(&origin, &asked.pod, asked.body.port).await?;
    let url = Some(open.entry(&console.0, session)?);
    let seen = api.backend().previews().list(&asked.pod).await?.into_iter().find(|seen| seen.port == open.port());
    let is_listening = seen.is_some_and(|seen| seen.is_listening);
    reply(&asked, Preview { port: open.port(), is_open: true, is_listening, url })
}

/// Redirects a browser to an open preview.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}", tag = "previews",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("port" = u16, Path, minimum = 1, maximum = 65_535)),
    responses((status = 303, description = "To the preview, with a code that lets one browser in")))]
pub(crate) async fn enter(
    State(api): State<Api>,
    _: Caller,
    Login(session): Login,
    Extension(console): Extension<ConsoleAddress>,
    PodPath(pod): PodPath,
    Within(named): Within<PortNamed>,
) -> Result<Response, Problem> {
    let entry = api.backend().previews().of(&pod, named.read()?)?.entry(&console.0, session)?;
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::try_from(entry).map_err(|error| invalid(error.to_string()))?;
    answer.headers_mut().insert(header::LOCATION, to);
    Ok(answer)
}

pub(crate) async fn close(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(asked): Sent<ClosePreview>,
) -> Result<Response, Problem> {
    api.backend().previews().close(&origin, &asked.pod, asked.port).await?;
    reply(&asked, ())
}
