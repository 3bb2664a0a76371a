//! A viewer that costs little: it keeps frames with their arrival times, which are read when everything is over.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::{timed_model::deltas, yoi::YoiProcess};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Message, Utf8Bytes, client::IntoClientRequest, http::HeaderValue},
};

/// A stream that is silent for longer has hung.
const SILENT_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Viewer {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// What a viewer has received.
#[derive(Debug, Default)]
pub(crate) struct Received {
    frames: Vec<(Instant, Utf8Bytes)>,
}

impl Viewer {
    /// Follows a Pod from here on; returns after the snapshot, so that nothing after it is missed.
    pub(crate) async fn of_pod(yoi: &YoiProcess, pod: &Value) -> Self {
        let url = format!("{}/api/v1/events", yoi.base_url().replacen("http", "ws", 1));
        let mut request = url.into_client_request().expect("the address of a server is valid");
        let bearer = HeaderValue::from_str(&format!("Bearer {}", yoi.token())).expect("a token is printable");
        request.headers_mut().insert("Authorization", bearer);
        let (stream, _) = tokio_tungstenite::connect_async(request).await.expect("the server takes sockets");
        let mut viewer = Self { stream };
        let subscribe = json!({ "type": "subscribe", "id": "a", "pod": pod["pod"], "after": null, "tail": 0 });
        viewer.stream.send(Message::text(subscribe.to_string())).await.expect("the socket is open");
        while !viewer.next().await.starts_with("{\"type\":\"snapshot\"") {}
        viewer
    }

    /// All frames up to the one with the end of a run.
    pub(crate) async fn until_end(mut self) -> Received {
        let mut received = Received::default();
        loop {
            let text = self.next().await;
            let is_end = text.contains("\"run_finished\"");
            received.frames.push((Instant::now(), text));
            if is_end {
                return received;
            }
        }
    }

    async fn next(&mut self) -> Utf8Bytes {
        loop {
            let next = timeout(SILENT_MAX, self.stream.next()).await.expect("a stream goes on, or ends");
            match next {
                Some(Ok(Message::Text(text))) => return text,
                Some(Ok(Message::Close(_)) | Err(_)) | None => panic!("the socket was closed in the middle of a run"),
                Some(Ok(_)) => (),
            }
        }
    }
}

impl Received {
    /// Milliseconds from each delta's sending to its arrival here.
    pub(crate) fn latencies_ms(&self) -> Vec<f64> {
        let mut latencies = Vec::new();
        for (at, text) in self.frames.iter().filter(|(_, text)| text.contains("\"kind\":\"text_chunk\"")) {
            let frame: Value = serde_json::from_str(text).expect("a frame is JSON");
            let events = frame["records"].as_array().into_iter().flatten().map(|record| &record["event"]);
            for event in events.filter(|event| event["kind"] == "text_chunk") {
                let sent = deltas(event["text"].as_str().unwrap_or_default()).map(|delta| delta.sent);
                latencies.extend(sent.map(|sent| at.saturating_duration_since(sent).as_secs_f64() * 1e3));
            }
        }
        latencies
    }
}
