//! `/mcp`: yoi as an MCP server. What is asked and answered there is the matter of `mcp-server`; here it is let in, and ended.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderValue, StatusCode, header, response::Parts},
    response::Response,
};
use futures_util::{FutureExt, StreamExt, future};
use http_body_util::BodyExt;
use mcp_server::Caller;
use protocol::{ApiError, ErrorCode};
use serde_json::json;

use crate::{Api, answer::problem, events::stopping};

pub(crate) const PATH: &str = "/mcp";

/// Bytes of what the library says is wrong.
const SENTENCE_BYTES_MAX: usize = 4 * 1024;
/// JSON-RPC's own code for what is no JSON, and the one for whatever a server calls wrong.
const NO_JSON: i32 = -32_700;
const WRONG: i32 = -32_000;

/// Answers an MCP client. Without the guard nobody is known, and nobody is answered.
pub(crate) async fn answer(State(api): State<Api>, caller: Option<Extension<Caller>>, request: Request) -> Response {
    let Some(Extension(caller)) = caller else {
        return problem(ApiError::new(ErrorCode::Unauthorized, "nobody has said who asks"));
    };
    let ended = caller.ended().cloned();
    let (parts, body) = api.mcp().answer(request, caller).await.into_parts();
    let is_json =
        parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if (parts.status.is_client_error() || parts.status.is_server_error()) && !is_json {
        return refused(parts, body).await;
    }
    // Streams end with the server, and with the token that they were opened with.
    let over = async move {
        match ended {
            Some(ended) => ended.cancelled().await,
            None => future::pending().await,
        }
    };
    let over = future::select(stopping(api.options().shutdown.clone()).boxed(), over.boxed());
    Response::from_parts(parts, Body::from_stream(Body::new(body).into_data_stream().take_until(over)))
}

/// What the library refuses in a bare text is a JSON-RPC error, as clients read it.
async fn refused(parts: Parts, body: mcp_server::Body) -> Response {
    let said = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let said = String::from_utf8_lossy(&said[..said.len().min(SENTENCE_BYTES_MAX)]).into_owned();
    let is_no_message = parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE && said.starts_with("fail to deserialize");
    let (status, code, said) = match is_no_message {
        true => {
            let sentence = "the body is no single JSON-RPC message of MCP; batches are not taken";
            (StatusCode::BAD_REQUEST, NO_JSON, format!("{sentence} ({said})"))
        }
        false => (parts.status, WRONG, said),
    };
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": said } });
    let mut answer = Response::new(Body::from(error.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        answer.headers_mut().insert(header::ALLOW, allow.clone());
    }
    answer
}
