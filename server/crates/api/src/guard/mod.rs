//! Who may ask. Around everything that the server serves: Host, then Origin, then login, then the body.
//!
//! It never sends a CORS header, and never logs a query: a token may be in it.

mod attempts;
mod body;
mod hosts;
mod login;
mod token;

use std::{any::Any, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use protocol::{ApiError, ErrorCode};
use tower_http::catch_panic::CatchPanicLayer;

pub(crate) use self::attempts::Attempts;
pub use self::hosts::AllowedHosts;
pub use self::token::Token;
use crate::{Api, Visitor, answer::problem};

/// Puts the guard around a router, its fallback included.
pub(crate) fn around(api: Api, router: Router) -> Router {
    router
        .layer(CatchPanicLayer::custom(panicked))
        // The extractors' own limit is lower than ours.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(api, guard))
}

async fn guard(State(api): State<Api>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let answer = match admit(&api, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    };
    let answer = finished(&path, answer);
    api.metrics().count(&method, answer.status());
    tracing::debug!(%method, path, status = answer.status().as_u16(), ms = began.elapsed().as_millis(), "answered");
    answer
}

/// Lets a request in, with its caller among the extensions and its body read, or says why not.
async fn admit(api: &Api, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    if let Err(refusal) = identify(api, &mut parts).await {
        body::drain(&parts.headers, body).await;
        return Err(refusal);
    }
    let body = body::admit(&parts, body).await.map_err(problem)?;
    Ok(Request::from_parts(parts, body))
}

async fn identify(api: &Api, parts: &mut Parts) -> Result<(), Response> {
    let allowed = &api.options().allowed;
    let host = allowed.check_host(parts).map_err(problem)?;
    if needs_own_origin(parts) {
        hosts::check_origin(&host, &parts.headers).map_err(problem)?;
    }
    let place = Place::of(&parts.method, parts.uri.path());
    if place == Place::Health {
        return Ok(());
    }
    if matches!(place, Place::Page | Place::Login)
        && let Some(token) = login::token_in_query(&parts.uri)
    {
        return Err(login::by_link(api, parts, &token).await);
    }
    match (login::caller(api, &parts.headers).await.map_err(problem)?, place) {
        (Some((origin, session)), _) => {
            if let Some(visitor) = parts.extensions.get::<Visitor>() {
                visitor.is_known();
            }
            parts.extensions.insert(origin);
            if let Some(session) = session {
                parts.extensions.insert(session);
            }
            Ok(())
        }
        (None, Place::Login) => Ok(()),
        (None, Place::Page) => Err(login::redirect("/login")),
        (None, _) => Err(problem(ApiError::new(
            ErrorCode::Unauthorized,
            "send `Authorization: Bearer TOKEN`, or open the address that `yoi serve` printed; `yoi token` shows it",
        ))),
    }
}

/// What a path is, as far as login goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Open to everybody who may connect.
    Health,
    /// The one page without login.
    Login,
    /// Something a person looks at: without login it leads to the login page.
    Page,
    /// All else.
    Machine,
}

impl Place {
    fn of(method: &Method, path: &str) -> Self {
        let reads = method == Method::GET || method == Method::HEAD;
        let under = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let machine = ["/api", "/fn", "/pkg", "/metrics", "/readyz", "/healthz"].into_iter().any(under);
        match (reads, path) {
            (true, "/healthz") => Self::Health,
            (true, "/login") => Self::Login,
            (true, _) if !machine => Self::Page,
            _ => Self::Machine,
        }
    }
}

/// Requests that another site's page could send with the person's cookie: all that may change something, and
/// sockets, which browsers let any page open.
fn needs_own_origin(parts: &Parts) -> bool {
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    let path = parts.uri.path();
    !reads || path == "/fn" || path.starts_with("/fn/") || is_upgrade(&parts.headers)
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

/// Headers that every answer has, and a problem where something inside answered with a bare status.
fn finished(path: &str, answer: Response) -> Response {
    let mut answer = with_problem(path, answer);
    let headers = answer.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if path.starts_with("/api") && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

/// The router and its layers refuse some requests on their own: a wrong method, an encoding nobody speaks.
fn with_problem(path: &str, answer: Response) -> Response {
    let status = answer.status();
    let bare = match answer.headers().get(header::CONTENT_TYPE) {
        None => true,
        Some(kind) => kind.as_bytes().starts_with(b"text/plain"),
    };
    if !bare || !(status.is_client_error() || status.is_server_error()) || path.starts_with("/fn/") {
        return answer;
    }
    let error = match status {
        StatusCode::NOT_FOUND => ApiError::new(ErrorCode::NotFound, format!("nothing is at {path}")),
        StatusCode::METHOD_NOT_ALLOWED => {
            ApiError::new(ErrorCode::MethodNotAllowed, format!("{path} does not take this method; see `Allow`"))
        }
        StatusCode::PAYLOAD_TOO_LARGE => body::too_large(),
        status if status.is_client_error() => ApiError::invalid(format!("the request cannot be answered: {status}")),
        _ => ApiError::new(ErrorCode::Internal, "something broke inside yoi; its log says what"),
    };
    let mut told = problem(error);
    if let Some(allow) = answer.headers().get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, allow.clone());
    }
    told
}

fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response<Body> {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(panic = text, "a request handler panicked");
    problem(ApiError::new(ErrorCode::Internal, "something broke inside yoi; its log says what")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_what_a_person_reads_and_nothing_that_programs_do() {
        let of = |method: &str, path| Place::of(&Method::from_bytes(method.as_bytes()).unwrap(), path);
        for page in ["/", "/pods/local/x", "/apiary", "/fnord", "/healthzz", "//evil", "/login/x"] {
            assert_eq!(of("GET", page), Place::Page, "{page}");
            assert_eq!(of("HEAD", page), Place::Page, "{page}");
            assert_eq!(of("POST", page), Place::Machine, "{page}");
        }
        for path in ["/api", "/api/v1/pods", "/fn/x", "/pkg/a.css", "/metrics", "/readyz", "/healthz/x", "/api/docs"] {
            assert_eq!(of("GET", path), Place::Machine, "{path}");
        }
        assert_eq!(of("GET", "/healthz"), Place::Health);
        assert_eq!(of("POST", "/healthz"), Place::Machine);
        assert_eq!(of("GET", "/login"), Place::Login);
        assert_eq!(of("POST", "/login"), Place::Machine);
    }
}
