//! The span of a request. Its path may contain names, so only the route that it takes is told.

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode},
};
use tracing::{Level, Span, field::Empty, span};

use crate::metrics::{OTHER, label};

pub(super) fn begin(request: &Request) -> Span {
    span!(
        target: "otel", parent: None, Level::TRACE, "HTTP",
        "otel.name" = name(request),
        "otel.kind" = "server",
        "otel.status_code" = Empty,
        "error.type" = Empty,
        "http.request.method" = method(request.method()).unwrap_or("_OTHER"),
        "http.route" = route(request),
        "http.response.status_code" = Empty,
    )
}

pub(super) fn end(span: Span, status: StatusCode) {
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("error.type", status.as_str());
        span.record("otel.status_code", "ERROR");
    }
}

fn name(request: &Request) -> String {
    let method = method(request.method()).unwrap_or("HTTP");
    route(request).map_or_else(|| method.to_owned(), |route| format!("{method} {route}"))
}

fn method(method: &Method) -> Option<&'static str> {
    Some(label(method)).filter(|label| *label != OTHER)
}

fn route(request: &Request) -> Option<&str> {
    request.extensions().get::<MatchedPath>().map(MatchedPath::as_str)
}
