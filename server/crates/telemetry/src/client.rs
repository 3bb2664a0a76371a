//! Sends what the exporters have encoded, with the server's own HTTP client and on its own runtime. The exporters' thread
//! waits; nobody else does.

use std::{
    error::Error,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// A collector that takes longer is asked again with the next spans.
const SEND_MAX: Duration = Duration::from_secs(10);
/// The answer is only looked at for its status; a longer one is not read to its end.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Sends one kind of data: a collector may take traces and no metrics.
#[derive(Debug)]
pub(crate) struct Client {
    what: &'static str,
    runtime: Handle,
    /// Made by the first request, when the server has chosen its TLS.
    http: OnceLock<Result<reqwest::Client, String>>,
    failing: Failing,
}

impl Client {
    /// `what` is sent, for the log. Must be called within a tokio runtime.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, runtime: Handle::current(), http: OnceLock::new(), failing: Failing::default() }
    }

    fn http(&self) -> Result<&reqwest::Client, HttpError> {
        let made = self.http.get_or_init(|| {
            let client = reqwest::Client::builder().timeout(SEND_MAX).redirect(reqwest::redirect::Policy::none());
            client.build().map_err(|error| error.to_string())
        });
        made.as_ref().map_err(|error| error.clone().into())
    }

    /// The log says once that nothing is sent, and once that it works again.
    fn tell(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let error = match sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answers {}", answer.status())),
            Err(error) => Some(with_causes(error.as_ref())),
        };
        match (self.failing.changes(error.is_some()), error) {
            (true, Some(error)) => tracing::warn!(
                what = self.what,
                error,
                "OpenTelemetry cannot be sent and is lost until the collector takes it; everything else goes on"
            ),
            (true, None) => tracing::info!(what = self.what, "OpenTelemetry is sent again"),
            (false, _) => (),
        }
    }
}

fn with_causes(error: &dyn Error) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

/// Whether the last request failed.
#[derive(Debug, Default)]
struct Failing(AtomicBool);

impl Failing {
    /// Whether this is news.
    fn changes(&self, fails: bool) -> bool {
        self.0.swap(fails, Ordering::Relaxed) != fails
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sending = self.http()?.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
        // If the task does not end, the runtime has: the server is over, and this is no news.
        let sent = self.runtime.spawn(sent(sending)).await?;
        self.tell(&sent);
        sent
    }
}

async fn sent(request: reqwest::RequestBuilder) -> Result<Response<Bytes>, HttpError> {
    let without_url = |error: reqwest::Error| error.without_url();
    let mut answer = request.send().await.map_err(without_url)?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut body = Vec::new();
    while body.len() < ANSWER_BYTES_MAX
        && let Some(part) = answer.chunk().await.map_err(without_url)?
    {
        body.extend_from_slice(&part);
    }
    body.truncate(ANSWER_BYTES_MAX);
    let mut response = Response::new(Bytes::from(body));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_that_is_away_is_news_once_and_so_is_its_return() {
        let failing = Failing::default();
        let news: Vec<bool> = [false, true, true, true, false, false].map(|fails| failing.changes(fails)).to_vec();
        assert_eq!(news, [false, true, false, false, true, false]);
    }
}
