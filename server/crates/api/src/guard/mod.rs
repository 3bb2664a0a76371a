//! The guard around everything that the server serves: Host, then Origin, then authentication, then the body.
//!
//! It never sends a CORS header, and never logs a query, which may contain a token.

mod address;
mod body;
mod entry;
mod login;
mod origin;
mod traced;

pub(crate) use self::entry::redirect;

use std::{any::Any, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use backend::{MCP_CALLBACK, MCP_CLIENT, ReturnAddress};
use protocol::{ApiError, ErrorCode};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    Api, Visitor,
    access::{Host, Standing},
    answer::problem,
    previews,
};

impl Api {
    /// Puts the guard around everything: Host, Origin, authentication, size and type of bodies, security headers,
    /// panics.
    ///
    /// Handlers inside find a [`backend::Origin`] among the request's extensions. The page `/login` is let through
    /// without one. `POST /login`, `GET /any/page?code=…`, and pages under a loopback name are answered here.
    pub fn guard(&self, router: Router) -> Router {
        router
            .layer(CatchPanicLayer::custom(panicked))
            // The extractors' own limit is lower than ours.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(self.clone(), guard))
    }
}

async fn guard(State(api): State<Api>, request: Request, next: Next) -> Response {
    if let Some(label) = previews::label_of(request.headers()) {
        return previews::show(&api, &label, request).await;
    }
    let began = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let span = traced::begin(&request);
    let answer = match admit(&api, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    };
    let answer = finished(&path, answer);
    api.metrics().count(&method, answer.status());
    traced::end(span, answer.status());
    tracing::debug!(%method, path, status = answer.status().as_u16(), ms = began.elapsed().as_millis(), "answered");
    answer
}

/// Lets a request in, with its caller among the extensions and its body read, or returns the refusal.
async fn admit(api: &Api, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    match identify(api, &mut parts).await {
        Ok(Step::In) => {
            let body = body::admit(&parts, body).await.map_err(problem)?;
            Ok(Request::from_parts(parts, body))
        }
        Ok(Step::LogIn(host)) => Err(entry::by_form(api, &host, &parts, body).await),
        Err(refusal) => {
            body::drain(&parts.headers, body).await;
            Err(refusal)
        }
    }
}

/// What to do with a request whose headers are acceptable.
enum Step {
    In,
    /// Its body contains a login.
    LogIn(Host),
}

async fn identify(api: &Api, parts: &mut Parts) -> Result<Step, Response> {
    let (host, standing) = api.options().allowed.check_host(parts).map_err(problem)?;
    let place = Place::of(&parts.method, parts.uri.path());
    origin::check(&host, place, parts).map_err(problem)?;
    if place == Place::Health {
        return Ok(Step::In);
    }
    if standing == Standing::Shared && place == Place::Submit {
        return Err(entry::lead_to_login(api, &host));
    }
    if place == Place::Submit {
        return Ok(Step::LogIn(host));
    }
    if place == Place::OAuth {
        if standing == Standing::Console
            && let Some(session) = login::session(api, &parts.headers).await.map_err(problem)?
        {
            parts.extensions.insert(session);
        }
        parts.extensions.insert(login::origin("console"));
        insert_addresses(api, &host, parts);
        return Ok(Step::In);
    }
    if place == Place::Mcp {
        let caller = login::mcp_caller(api, &parts.headers).await.map_err(problem)?;
        let unknown = "send `Authorization: Bearer TOKEN`; `yoi token` shows it. A cookie is not accepted here";
        let caller = caller.ok_or_else(|| problem(ApiError::new(ErrorCode::Unauthorized, unknown)))?;
        if let Some(visitor) = parts.extensions.get::<Visitor>() {
            visitor.is_known();
        }
        parts.extensions.insert(caller);
        return Ok(Step::In);
    }
    let is_page = matches!(place, Place::Page | Place::Login);
    if is_page
        && standing == Standing::Console
        && let Some(secret) = address::secret_in(&parts.uri)
    {
        return Err(entry::by_link(api, parts, &secret).await);
    }
    let caller = login::caller(api, standing, &parts.headers).await.map_err(problem)?;
    match (caller, place) {
        (Some((origin, session)), _) => {
            if let Some(visitor) = parts.extensions.get::<Visitor>() {
                visitor.is_known();
            }
            insert_addresses(api, &host, parts);
            parts.extensions.insert(origin);
            if let Some(session) = session {
                parts.extensions.insert(session);
            }
            Ok(Step::In)
        }
        // Redirecting may end an older login there.
        (None, _) if is_page && standing == Standing::Shared && origin::is_ahead(&parts.headers) => {
            Err(problem(origin::nobody_came()))
        }
        (None, _) if is_page && standing == Standing::Shared => Err(entry::lead_on(api, &host, parts).await),
        (None, Place::Login) => Ok(Step::In),
        (None, Place::Page) => Err(entry::to_login(api, parts)),
        (None, _) => Err(problem(ApiError::new(
            ErrorCode::Unauthorized,
            "send `Authorization: Bearer TOKEN`, or open the address that `yoi serve` printed; `yoi token` shows it",
        ))),
    }
}

fn insert_addresses(api: &Api, host: &Host, parts: &mut Parts) {
    let allowed = &api.options().allowed;
    parts.extensions.insert(ConsoleAddress(allowed.console_for(host)));
    parts.extensions.insert(ReturnAddress(allowed.return_for(host, &parts.headers)));
}

/// The address of the console for the sender of a request: `http://NAME.localhost:PORT`.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleAddress(pub(crate) String);

/// The path for MCP clients.
pub(crate) const MCP_PATH: &str = "/mcp";

/// The kind of a path, as far as authentication is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Open to everybody who can connect.
    Health,
    /// The one page that needs no login.
    Login,
    /// What the login page, or the file of `yoi open`, sends.
    Submit,
    /// A page for people: without a login it redirects to the login page.
    Page,
    /// For MCP clients: by bearer token only, of a person or of a Pod.
    Mcp,
    /// Where a browser comes back to from an authorization server, and what such a server reads about yoi. Open to
    /// everybody who can connect; an answer counts only with the secret of a login that was begun here.
    OAuth,
    /// Everything else.
    Machine,
}

impl Place {
    fn of(method: &Method, path: &str) -> Self {
        let reads = method == Method::GET || method == Method::HEAD;
        let under = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let machine = ["/api", "/fn", "/pkg", "/metrics", "/readyz", "/healthz", MCP_PATH].into_iter().any(under);
        match (reads, path) {
            (_, MCP_PATH) => Self::Mcp,
            (true, path) if path.starts_with(MCP_CALLBACK) || path.starts_with(MCP_CLIENT) => Self::OAuth,
            (true, "/healthz") => Self::Health,
            (true, "/login") => Self::Login,
            (false, "/login") if method == Method::POST => Self::Submit,
            (true, _) if !machine => Self::Page,
            _ => Self::Machine,
        }
    }
}

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Adds the headers that every response has, and a problem body where an inner layer answered with a bare status.
fn finished(path: &str, answer: Response) -> Response {
    let mut answer = with_problem(path, answer);
    let headers = answer.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Pages of other origins can neither keep a reference to our windows nor load anything of ours.
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    if (path.starts_with("/api") || path == MCP_PATH || path.starts_with("/mcp/"))
        && !headers.contains_key(header::CACHE_CONTROL)
    {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

/// The router and its layers refuse some requests by themselves: a wrong method, an unknown encoding.
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
        StatusCode::NOT_FOUND => ApiError::new(ErrorCode::NotFound, format!("there is nothing at {path}")),
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
        for method in ["GET", "POST", "DELETE", "PUT"] {
            assert_eq!(of(method, "/mcp"), Place::Mcp, "{method}");
        }
        for path in [
            "/mcp/",
            "/mcp/x",
            "/api",
            "/api/v1/pods",
            "/fn/x",
            "/pkg/a.css",
            "/metrics",
            "/readyz",
            "/healthz/x",
            "/api/docs",
        ] {
            assert_eq!(of("GET", path), Place::Machine, "{path}");
        }
        for path in ["/mcp/oauth/callback/a", "/mcp/oauth/client/a"] {
            assert_eq!(of("GET", path), Place::OAuth, "{path}");
            assert_eq!(of("POST", path), Place::Machine, "{path}");
        }
        assert_eq!(of("GET", "/healthz"), Place::Health);
        assert_eq!(of("POST", "/healthz"), Place::Machine);
        assert_eq!(of("GET", "/login"), Place::Login);
        assert_eq!(of("POST", "/login"), Place::Submit);
        assert_eq!(of("PUT", "/login"), Place::Machine);
    }
}
