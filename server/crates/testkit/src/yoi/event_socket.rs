//! A viewer: the WebSocket of `/api/v1/events`, frame by frame, with a time limit on every wait.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue},
};

use super::{WAIT_MAX, YoiProcess};

/// How many of the received frames a failing wait prints.
const FRAMES_SHOWN: usize = 12;

/// An open socket. It records every frame, so that a failing wait can show what arrived instead.
#[derive(Debug)]
pub struct EventSocket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    seen: Vec<Value>,
}

impl YoiProcess {
    /// Opens the event socket with the bearer token.
    pub async fn events(&self) -> EventSocket {
        EventSocket::connect(&self.base_url, &self.token).await
    }
}

impl EventSocket {
    /// `base_url` is `http://HOST:PORT`.
    pub async fn connect(base_url: &str, token: &str) -> Self {
        let url = format!("{}/api/v1/events", base_url.replacen("http", "ws", 1));
        let mut request = url.as_str().into_client_request().expect("the address of a server is valid");
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).expect("a token is printable");
        request.headers_mut().insert("Authorization", bearer);
        match timeout(WAIT_MAX, tokio_tungstenite::connect_async(request)).await {
            Ok(Ok((stream, _))) => Self { stream, seen: Vec::new() },
            Ok(Err(error)) => panic!("no event socket at {url}: {error}"),
            Err(_) => panic!("no event socket at {url} within {WAIT_MAX:?}"),
        }
    }

    pub async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    /// Sends any text, even if it is not a frame.
    pub async fn send_text(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.expect("the socket is open");
    }

    /// Subscribes to one Pod. `pod` is its reference or its summary; without `after` a snapshot comes first.
    pub async fn subscribe(&mut self, id: &str, pod: &Value, after: Option<&str>) {
        let reference = if pod["pod"].is_object() { &pod["pod"] } else { pod };
        self.send(&json!({ "type": "subscribe", "id": id, "pod": reference, "after": after })).await;
    }

    /// Subscribes to the list of Pods.
    pub async fn subscribe_pods(&mut self, id: &str) {
        self.send(&json!({ "type": "subscribe", "id": id, "pods": true })).await;
    }

    /// The next JSON frame, or `None` when the server has closed the socket.
    pub async fn next_frame(&mut self) -> Option<Value> {
        loop {
            match timeout(WAIT_MAX, self.stream.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => {
                    let frame: Value = serde_json::from_str(&text).expect("every frame is JSON");
                    self.seen.push(frame.clone());
                    return Some(frame);
                }
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) => return None,
                Ok(Some(Ok(_))) => {}
                Err(_) => panic!("no frame within {WAIT_MAX:?}; {}", self.what_was_seen()),
            }
        }
    }

    /// Reads until a frame matches. Heartbeats do not extend the wait, because its total time is limited.
    pub async fn wait_for(&mut self, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let search = async {
            while let Some(frame) = self.next_frame().await {
                if fits(&frame) {
                    return Some(frame);
                }
            }
            None
        };
        match timeout(WAIT_MAX, search).await {
            Ok(Some(frame)) => frame,
            Ok(None) => panic!("the socket was closed before the awaited frame; {}", self.what_was_seen()),
            Err(_) => panic!("the awaited frame did not come within {WAIT_MAX:?}; {}", self.what_was_seen()),
        }
    }

    /// All records of one subscription, from its snapshot and its `records` frames, up to and including the first
    /// that matches.
    pub async fn records_until(&mut self, id: &str, mut fits: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut records = Vec::new();
        self.wait_for(|frame| {
            if frame["id"] != id {
                return false;
            }
            for record in frame["records"].as_array().into_iter().flatten() {
                records.push(record.clone());
                if fits(record) {
                    return true;
                }
            }
            false
        })
        .await;
        records
    }

    /// Every frame so far.
    pub fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// Closes the connection properly.
    pub async fn close(mut self) {
        self.stream.close(None).await.ok();
    }

    fn what_was_seen(&self) -> String {
        let last = &self.seen[self.seen.len().saturating_sub(FRAMES_SHOWN)..];
        let lines: Vec<String> = last.iter().map(Value::to_string).collect();
        format!("{} frames seen, the last of them:\n{}", self.seen.len(), lines.join("\n"))
    }
}
