//! Forwards the library's requests from the gate to the provider.

use std::{future::poll_fn, io, pin::Pin, sync::Arc};

use futures_util::{StreamExt, stream};
use hyper::{
    Request, Response, StatusCode,
    body::{Body, Bytes, Incoming},
    http::response::Builder,
};
use reqwest::header::{self, HeaderMap, HeaderName};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    super::{
        TimeLimits,
        address::Address,
        bounds::{ANSWER_TIME_MAX, AT_ONCE_BYTES_MAX, REFUSAL_BYTES_MAX, TooMuch, WHOLE_BYTES_MAX},
        failure::{Failures, Refused},
    },
    Shape,
    ask::{Asked, Asks},
    events::Events,
    portions::Portions,
};
use crate::ProviderError;

/// The response headers that the library reads; others are dropped.
const ANSWER_HEADERS: [HeaderName; 3] =
    [header::CONTENT_TYPE, header::RETRY_AFTER, HeaderName::from_static("retry-after-ms")];
/// Headers that belong to the connection and not to the request.
const OWN_HEADERS: [HeaderName; 5] =
    [header::HOST, header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::ACCEPT_ENCODING];

/// What a request needs on its way to the provider.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) outer: reqwest::Client,
    pub(super) address: Address,
    pub(super) failures: Failures,
    pub(super) limits: TimeLimits,
    pub(super) asks: Arc<Asks>,
}

impl Forward {
    /// The provider's answer, within its limits. If it exceeds them, the reason is stored with the request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Portions> {
        let Some((asked, path)) = self.find(request.uri().path()) else {
            return empty(StatusCode::NOT_FOUND);
        };
        match self.ask(&asked, &path, request).await {
            Ok(response) => response,
            Err(error) => {
                asked.fail(error);
                empty(StatusCode::BAD_GATEWAY)
            }
        }
    }

    /// `/7/chat/completions` is request 7.
    fn find(&self, path: &str) -> Option<(Arc<Asked>, String)> {
        let (number, path) = path.strip_prefix('/')?.split_once('/')?;
        Some((self.asks.find(number.parse().ok()?)?, path.to_owned()))
    }

    async fn ask(
        &self,
        asked: &Arc<Asked>,
        path: &str,
        request: Request<Incoming>,
    ) -> Result<Response<Portions>, ProviderError> {
        let url = self.address.to(path, request.uri().query());
        let (head, body) = request.into_parts();
        let mut headers = head.headers;
        OWN_HEADERS.iter().for_each(|name| drop(headers.remove(name)));
        let body = asked.worded(question(body).await.map_err(|_| self.failures.cut())?);
        let sent = self.outer.request(head.method, url).headers(headers).body(body).send();
        let answer = timeout(self.limits.header, sent)
            .await
            .map_err(|_| self.failures.header_timeout())?
            .map_err(|error| self.failures.of_transport(&error))?;
        let response = head_of(answer.status(), answer.headers());
        let body = match asked.shape {
            _ if !answer.status().is_success() => {
                let status = answer.status().as_u16();
                let (words, _) = self.whole(answer, REFUSAL_BYTES_MAX).await?;
                asked.refuse(Refused { status, body: String::from_utf8_lossy(&words).into_owned() });
                Portions::of(words)
            }
            Shape::Whole => {
                let (whole, is_all) = self.whole(answer, WHOLE_BYTES_MAX).await?;
                if !is_all {
                    return Err(self.failures.too_much(TooMuch::Whole));
                }
                if whole.len() > AT_ONCE_BYTES_MAX {
                    asked.is_heavy_from_now_on();
                }
                Portions::of(whole)
            }
            shape => self.events(Arc::clone(asked), answer, shape),
        };
        Ok(response.body(body).unwrap_or_else(|_| empty(StatusCode::BAD_GATEWAY)))
    }

    /// Reads at most `max` bytes; also returns whether that was everything.
    async fn whole(&self, answer: reqwest::Response, max: usize) -> Result<(Vec<u8>, bool), ProviderError> {
        let mut body = answer.bytes_stream();
        let mut whole = Vec::new();
        let read = async {
            while let Some(bytes) = body.next().await {
                let bytes = bytes.map_err(|error| self.failures.of_transport(&error))?;
                let room = max - whole.len();
                whole.extend_from_slice(&bytes[..bytes.len().min(room)]);
                if bytes.len() > room {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let is_all = timeout(self.limits.silence, read).await.map_err(|_| self.failures.silence_timeout())??;
        Ok((whole, is_all))
    }

    /// Passes events on as they become complete.
    fn events(&self, asked: Arc<Asked>, answer: reqwest::Response, shape: Shape) -> Portions {
        let (failures, deadline) = (self.failures.clone(), Instant::now() + ANSWER_TIME_MAX);
        let state = Some((answer.bytes_stream().boxed(), Events::new(shape)));
        Portions::new(stream::unfold(state, move |state| {
            let (asked, failures) = (Arc::clone(&asked), failures.clone());
            async move {
                let (mut body, mut events) = state?;
                loop {
                    let next = match timeout_at(deadline, body.next()).await {
                        Ok(Some(Ok(bytes))) => events.take(&bytes).map(|whole| (whole, false)),
                        Ok(None) => events.end().map(|whole| (whole, true)),
                        Ok(Some(Err(error))) => return broken(&asked, failures.of_transport(&error)),
                        Err(_) => Err(TooMuch::Time),
                    };
                    let (whole, is_end) = match next {
                        Ok(next) => next,
                        Err(too_much) => return broken(&asked, failures.too_much(too_much)),
                    };
                    match (whole.is_empty(), is_end) {
                        (true, false) => continue,
                        (true, true) => return None,
                        (false, _) => (),
                    }
                    if whole.len() > AT_ONCE_BYTES_MAX {
                        asked.is_heavy_from_now_on();
                    }
                    return Some((Ok(Bytes::from(whole)), (!is_end).then_some((body, events))));
                }
            }
        }))
    }
}

/// Ends a stream with a broken connection; the other side of the gate knows the reason.
fn broken<State>(asked: &Asked, error: ProviderError) -> Option<(io::Result<Bytes>, Option<State>)> {
    asked.fail(error);
    Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), None))
}

fn empty(status: StatusCode) -> Response<Portions> {
    let mut response = Response::new(Portions::of(Bytes::new()));
    *response.status_mut() = status;
    response
}

fn head_of(status: StatusCode, headers: &HeaderMap) -> Builder {
    let kept = ANSWER_HEADERS.into_iter().filter_map(|name| headers.get(&name).map(|value| (name, value)));
    kept.fold(Response::builder().status(status), |response, (name, value)| response.header(name, value))
}

/// Reads the request body; it is our own, so its length is not limited.
async fn question(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}
