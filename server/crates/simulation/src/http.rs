//! A client of the API, over the simulated network.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::time::timeout;
use turmoil::net::TcpStream;

pub(crate) const PORT: u16 = 8080;
pub(crate) const TOKEN: &str = "the-token-of-the-simulation";
/// An answer that takes longer counts as lost.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(4);

/// A request of one of the people.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) body: Option<Value>,
    /// How long the answer is waited for.
    pub(crate) patience: Duration,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), key: None, body: None, patience: ANSWER_MAX }
    }

    pub(crate) fn post(path: impl Into<String>, key: impl Into<String>, body: Value) -> Self {
        Self { method: Method::POST, key: Some(key.into()), body: Some(body), ..Self::get(path) }
    }

    /// Asks a server. `None`: the answer did not arrive, and nobody knows what happened.
    pub(crate) async fn ask(&self, server: &str) -> Option<(u16, Value)> {
        timeout(self.patience, self.asked(server)).await.ok()?
    }

    async fn asked(&self, server: &str) -> Option<(u16, Value)> {
        let stream = TcpStream::connect((server, PORT)).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        let mut carried = tokio::task::JoinSet::new();
        carried.spawn(connection);
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.path)
            .header(header::HOST, format!("{server}:{PORT}"))
            .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
        if let Some(key) = &self.key {
            request = request.header("Idempotency-Key", key);
        }
        let body = match &self.body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let answer = sender.send_request(request.body(Full::new(body)).ok()?).await.ok()?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.ok()?.to_bytes();
        let value = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).ok()? };
        Some((status, value))
    }
}
