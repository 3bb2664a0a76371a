//! A proxy that adds a token to each request and passes everything else on unchanged, including `Host` and `Origin`.

use anyhow::Result;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::net::TcpListener;

use crate::PATIENCE;

const BODY_BYTES_MAX: usize = 16 << 20;

#[derive(Clone)]
struct Behind {
    base: String,
    bearer: HeaderValue,
    http: reqwest::Client,
}

/// Starts the proxy; returns the address of `/mcp` through it.
pub(crate) async fn start(base: &str, token: &str) -> Result<String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?;
    let behind = Behind { base: base.to_owned(), bearer: format!("Bearer {token}").parse()?, http };
    let app = Router::new().fallback(pass_on).with_state(behind);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(format!("http://{address}/mcp"))
}

async fn pass_on(State(behind): State<Behind>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_BYTES_MAX).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    parts.headers.insert(header::AUTHORIZATION, behind.bearer.clone());
    parts.headers.remove(header::CONTENT_LENGTH);
    let url = format!("{}{}", behind.base, parts.uri);
    let sent = behind.http.request(parts.method, url).headers(parts.headers).body(body).send().await;
    let Ok(answer) = sent else { return StatusCode::BAD_GATEWAY.into_response() };
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    // Compressed bodies are decompressed here.
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONTENT_ENCODING] {
        headers.remove(name);
    }
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
