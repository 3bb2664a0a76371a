//! `/mcp`: yoi as an MCP server. The protocol is handled by `mcp-server`; this authenticates requests and ends streams.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header, response::Parts},
    response::Response,
};
use futures_util::{FutureExt, StreamExt, future};
use http_body_util::BodyExt;
use mcp_server::Caller;
use protocol::{ApiError, ErrorCode};
use serde_json::json;

use crate::{Api, answer::problem, events::stopping};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// How much of the library's error message is used.
const SENTENCE_BYTES_MAX: usize = 4 * 1024;
/// JSON-RPC's codes for invalid JSON, and for any server error.
const NO_JSON: i32 = -32_700;
const WRONG: i32 = -32_000;

/// Answers an MCP client. Without the guard the caller is unknown, and nobody is answered.
pub(crate) async fn answer(State(api): State<Api>, caller: Option<Extension<Caller>>, request: Request) -> Response {
    let Some(Extension(caller)) = caller else {
        return problem(ApiError::new(ErrorCode::Unauthorized, "nobody has said who asks"));
    };
    if request.headers().get_all(PROTOCOL_VERSION).iter().nth(1).is_some() {
        return wrong(StatusCode::BAD_REQUEST, WRONG, "a request has one `MCP-Protocol-Version` at most");
    }
    let ended = caller.ended().cloned();
    let (parts, body) = api.mcp().answer(request, caller).await.into_parts();
    let is_json =
        parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if (parts.status.is_client_error() || parts.status.is_server_error()) && !is_json {
        return refused(parts, body).await;
    }
    // Streams end with the server, and with the token with which they were opened.
    let over = async move {
        match ended {
            Some(ended) => ended.cancelled().await,
            None => future::pending().await,
        }
    };
    let over = future::select(stopping(api.options().shutdown.clone()).boxed(), over.boxed());
    Response::from_parts(parts, Body::from_stream(Body::new(body).into_data_stream().take_until(over)))
}

/// Turns the library's plain-text errors into JSON-RPC errors, which clients can read.
async fn refused(parts: Parts, body: mcp_server::Body) -> Response {
    let said = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let said = String::from_utf8_lossy(&said[..said.len().min(SENTENCE_BYTES_MAX)]).into_owned();
    let is_no_message = parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE && said.starts_with("fail to deserialize");
    let (status, code, said) = match is_no_message {
        true => {
            let sentence = "the body is not a single JSON-RPC message of MCP; batches are not taken";
            (StatusCode::BAD_REQUEST, NO_JSON, format!("{sentence} ({said})"))
        }
        false => (parts.status, WRONG, said),
    };
    let mut answer = wrong(status, code, &said);
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        answer.headers_mut().insert(header::ALLOW, allow.clone());
    }
    answer
}

/// A JSON-RPC error that answers no particular request.
fn wrong(status: StatusCode, code: i32, sentence: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": sentence } });
    let mut answer = Response::new(Body::from(error.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
