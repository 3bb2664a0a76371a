//! Observation: a WebSocket with many subscriptions, or one subscription as server-sent events.
//!
//! Streams are pulled. Between a Pod's journal and a viewer's socket there are only a few frames; a viewer that reads
//! slowly stops pulling, and the runtime tells it `lagged` when it is too far behind. Nobody else waits.

mod asked;
mod frame;
mod socket;
mod sse;
mod subscriptions;

use std::time::Duration;

use axum::{
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, header},
    response::Response,
};
use backend::{Backend, Session};
use protocol::RuntimeId;
use serde::Deserialize;
use tokio::sync::watch;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Login, invalid},
};

/// After this much silence a heartbeat is sent.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How many records a snapshot contains by default, and at most.
const TAIL_DEFAULT: u32 = 200;
const TAIL_MAX: u32 = 2_000;

/// What the server-sent form of the stream is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsAsked {
    /// `runtime_id/worker_id`; when absent, the list of Pods. For server-sent events only.
    pod: Option<String>,
    /// Continue after this cursor; `Last-Event-ID` takes precedence. For server-sent events only.
    after: Option<String>,
    /// How many of the newest records a snapshot contains; 200 when absent. For server-sent events only.
    #[param(value_type = Option<u32>)]
    tail: Option<String>,
    /// Lists contain only the Pods of this runtime; those of all runtimes when absent. Also for the socket.
    runtime: Option<String>,
}

impl EventsAsked {
    /// The runtime whose lists are requested.
    fn listed(&self) -> Result<Option<RuntimeId>, Problem> {
        let runtime = self.runtime.as_deref().filter(|runtime| !runtime.is_empty());
        runtime.map(RuntimeId::parse).transpose().map_err(invalid)
    }
}

/// The event socket (frames: ClientFrame, ServerFrame); with `Accept: text/event-stream`, one stream of ServerFrame.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(EventsAsked,
        ("Last-Event-ID" = Option<String>, Header, description = "Continue after this cursor")),
    responses((status = 101, description = "The socket is open"),
        (status = 200, description = "The stream is open", body = protocol::ServerFrame,
            content_type = "text/event-stream")))]
pub(crate) async fn events(
    State(api): State<Api>,
    _: Caller,
    Login(session): Login,
    headers: HeaderMap,
    Asked(asked): Asked<EventsAsked>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    match upgrade {
        Ok(upgrade) => Ok(socket::open(api, session, asked.listed()?, upgrade)),
        Err(error) if headers.contains_key(header::UPGRADE) => {
            Err(invalid(format!("this is not a WebSocket handshake: {}", error.body_text())))
        }
        Err(_) if accepts_event_stream(&headers) => sse::open(&api, session, &headers, asked),
        Err(_) => Err(invalid("open this as a WebSocket, or send `Accept: text/event-stream` for server-sent events")),
    }
}

fn accepts_event_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("text/event-stream")
    })
}

/// What a stream is told before it is closed because its login has ended.
pub(crate) const LOGGED_OUT: &str = "this login has ended; log in again";

/// Resolves when the login with which a stream was opened has ended; never if it was opened with the token.
pub(crate) async fn logged_out(backend: Backend, session: Option<Session>) {
    match session {
        Some(session) => backend.sessions().ended(&session).await,
        None => std::future::pending().await,
    }
}

/// Resolves when the server stops; never if nobody can signal that any more.
pub(crate) async fn stopping(mut shutdown: watch::Receiver<bool>) {
    if shutdown.wait_for(|stopping| *stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}
