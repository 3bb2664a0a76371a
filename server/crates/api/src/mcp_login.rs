//! Where a browser comes back to after it has logged in to an MCP server, and what an authorization server can read about
//! yoi.
//!
//! The answer comes from a stranger's page: it counts only with the secret that was made when the login began, once, and
//! if a browser began it, only in that browser.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use backend::{LoginAnswer, MCP_CLIENT, Origin, ReturnAddress, Session, redirect_uri};
use protocol::{ApiError, ErrorCode};
use serde::Deserialize;
use serde_json::json;

use crate::{Api, access::Host, answer::problem, guard::ConsoleAddress, previews};

/// The page with the servers.
const SETTINGS: &str = "/settings";
/// Marks the second visit, which comes from our own page and so brings the cookie.
const AGAIN: &str = "yoi_again=1";
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What comes back. Other fields are ignored, as the protocol wants.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Brought {
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl Brought {
    fn answer(self) -> LoginAnswer {
        let error = match (self.error, self.error_description) {
            (Some(error), Some(description)) => Some(format!("{error}: {description}")),
            (error, _) => error,
        };
        LoginAnswer { state: self.state, code: self.code, issuer: self.iss, error }
    }
}

pub(crate) async fn come_back(
    State(api): State<Api>,
    (Extension(origin), Extension(ConsoleAddress(console))): (Extension<Origin>, Extension<ConsoleAddress>),
    session: Option<Extension<Session>>,
    Path(name): Path<String>,
    brought: Result<Query<Brought>, axum::extract::rejection::QueryRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let Ok(Query(brought)) = brought else {
        return previews::page(StatusCode::BAD_REQUEST, "This is not an answer to a login", "Begin the login again.");
    };
    let session = session.map(|Extension(session)| session);
    let again = elsewhere(&console, &uri, &headers);
    let servers = api.backend().servers();
    let done = servers.come_back(&origin, &name, brought.answer(), session.as_ref(), again.is_some()).await;
    match done {
        Ok(()) if session.is_some() => crate::guard::redirect(SETTINGS),
        Ok(()) => {
            let title = format!("yoi is logged in to {name}");
            previews::page(StatusCode::OK, &title, "You can close this page. Pods get new connections to the server.")
        }
        // A browser sends its cookie to the console's own name, and only when a page of ours leads there.
        Err(error) if error.code == ErrorCode::PermissionDenied && session.is_none() => {
            again.unwrap_or_else(|| failed(&error))
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &ApiError) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::BAD_REQUEST);
    previews::page(status, "The login did not work", &error.detail)
}

/// Leads the browser to the same answer under the console's own name, or from a page of ours. `None` if it was there.
fn elsewhere(console: &str, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let target = uri.path_and_query()?.as_str();
    let host = headers.get(header::HOST).and_then(|host| Host::parse(host.to_str().ok()?))?;
    if format!("http://{host}") != console {
        return Some(crate::guard::redirect(&format!("{console}{target}")));
    }
    if target.contains(AGAIN) {
        return None;
    }
    let escaped = target.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&#39;");
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>yoi</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={escaped}&amp;{AGAIN}\"></head>\
         <body><p><a href=\"{escaped}&amp;{AGAIN}\">Go on</a></p></body></html>"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Some((StatusCode::OK, headers, Body::from(page)).into_response())
}

/// Describes yoi as a client, for authorization servers that read this instead of registering anybody.
pub(crate) async fn client(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| Host::parse(host.to_str().ok()?));
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let Some(host) = host.filter(|host| is_name && host.may_be_proxied()) else {
        return problem(ApiError::new(ErrorCode::NotFound, "yoi has no description here: nobody reaches it by https"));
    };
    let back = ReturnAddress(format!("https://{host}"));
    Json(json!({
        "client_id": format!("{}{MCP_CLIENT}{name}", back.0),
        "client_name": "yoi",
        "application_type": "web",
        "redirect_uris": [redirect_uri(&back, &name)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }))
    .into_response()
}
