//! A viewer that costs little: it keeps frames with their arrival times, and parses them when everything is over.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::yoi::YoiProcess;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Message, Utf8Bytes, client::IntoClientRequest, http::HeaderValue},
};

/// A stream that takes longer has hung.
const STREAM_TIME_MAX: Duration = Duration::from_secs(60);
/// In each frame with the end of a run, also in those of the bare relay.
pub(crate) const END: &str = "\"run_finished\"";
const CHUNK: &str = "\"kind\":\"text_chunk\"";

/// A frame and its arrival time.
pub(crate) type Seen = (Instant, Utf8Bytes);

#[derive(Debug)]
pub(crate) struct Viewer {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Viewer {
    /// Follows a Pod of the server; returns after the snapshot, so that nothing after it is missed.
    pub(crate) async fn of_pod(yoi: &YoiProcess, pod: &Value) -> Self {
        Self::with_snapshot(yoi, pod).await.0
    }

    /// Like [`of_pod`](Self::of_pod), with the snapshot.
    pub(crate) async fn with_snapshot(yoi: &YoiProcess, pod: &Value) -> (Self, Utf8Bytes) {
        let url = format!("{}/api/v1/events", yoi.base_url().replacen("http", "ws", 1));
        let mut viewer = Self::connect(&url, Some(yoi.token())).await;
        let subscribe = json!({ "type": "subscribe", "id": "a", "pod": pod["pod"], "after": null }).to_string();
        viewer.stream.send(Message::text(subscribe)).await.expect("the socket is open");
        loop {
            let (_, frame) = viewer.next().await.expect("a snapshot comes first");
            if frame.starts_with("{\"type\":\"snapshot\"") {
                return (viewer, frame);
            }
        }
    }

    /// Opens any socket, such as the bare relay's.
    pub(crate) async fn connect(url: &str, token: Option<&str>) -> Self {
        let mut request = url.into_client_request().expect("the address of a server is valid");
        if let Some(token) = token {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).expect("a token is printable");
            request.headers_mut().insert("Authorization", bearer);
        }
        let (stream, _) = tokio_tungstenite::connect_async(request).await.expect("the server takes sockets");
        Self { stream }
    }

    async fn next(&mut self) -> Option<Seen> {
        loop {
            let message = timeout(STREAM_TIME_MAX, self.stream.next()).await.expect("a stream goes on, or ends");
            match message {
                Some(Ok(Message::Text(text))) => return Some((Instant::now(), text)),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// All frames up to the one with the end of a run.
    pub(crate) async fn until_end(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        while let Some((at, text)) = self.next().await {
            let is_end = text.contains(END);
            seen.push((at, text));
            if is_end {
                return seen;
            }
        }
        panic!("the socket was closed in the middle of a run");
    }

    /// All frames until the server is gone.
    pub(crate) async fn until_closed(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        while let Some(next) = self.next().await {
            seen.push(next);
        }
        seen
    }
}

/// How many chunks of text arrived, and when the last of them did.
pub(crate) fn count_chunks(frames: &[Seen]) -> (usize, Option<Instant>) {
    let counts = frames.iter().map(|(at, text)| (*at, text.matches(CHUNK).count())).filter(|(_, count)| *count > 0);
    counts.fold((0, None), |(sum, _), (at, count)| (sum + count, Some(at)))
}

/// The arrival time of each chunk, and its text, in order. A finished record, which repeats the whole text, is left
/// out.
pub(crate) fn chunks(frames: &[Seen]) -> Vec<(Instant, String)> {
    let mut chunks = Vec::new();
    for (at, text) in frames.iter().filter(|(_, text)| text.contains(CHUNK)) {
        let frame: Value = serde_json::from_str(text).expect("a frame is JSON");
        for record in frame["records"].as_array().into_iter().flatten() {
            let event = &record["event"];
            if event["kind"] == "text_chunk" {
                chunks.push((*at, event["text"].as_str().unwrap_or_default().to_owned()));
            }
        }
    }
    chunks
}

pub(crate) fn chunk_texts(frames: &[Seen]) -> Vec<String> {
    chunks(frames).into_iter().map(|(_, text)| text).collect()
}
