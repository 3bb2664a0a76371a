//! A plain client of the event socket.

use futures_util::{SinkExt, StreamExt};
use reqwest::header;
use serde_json::{Value, json};
use testkit::within;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use super::{Server, TOKEN};

/// A client of the event socket.
pub struct Socket(pub WebSocketStream<TcpStream>);

impl Socket {
    /// Opens it and reads the `hello`.
    pub async fn open(server: &Server) -> Self {
        let mut socket = Self::connect(server, TcpSocket::new_v4().unwrap()).await;
        let hello = socket.next().await;
        assert_eq!(hello, json!({ "type": "hello", "protocol": 1, "server": "yoi 0.1.0", "heartbeat_ms": 5000 }));
        socket
    }

    pub async fn connect(server: &Server, socket: TcpSocket) -> Self {
        let stream = socket.connect(server.address).await.unwrap();
        let mut request = format!("ws://{}/api/v1/events", server.address).into_client_request().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {TOKEN}").parse().unwrap());
        Self(client_async(request, stream).await.unwrap().0)
    }

    pub async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub async fn message(&mut self) -> Message {
        within("something arrives", self.0.next()).await.unwrap().unwrap()
    }

    /// The next frame that is not a heartbeat.
    pub async fn next(&mut self) -> Value {
        within("a frame beside the heartbeats", async {
            loop {
                let frame: Value = serde_json::from_str(self.message().await.to_text().unwrap()).unwrap();
                if frame["type"] != "heartbeat" {
                    return frame;
                }
            }
        })
        .await
    }

    pub async fn subscribe(&mut self, id: &str, pod: &Value, after: Option<&str>) -> Value {
        self.send(json!({ "type": "subscribe", "id": id, "pod": pod, "after": after })).await;
        self.next().await
    }

    /// Takes `records` frames, each beginning where the previous one ended, up to the end of a run.
    pub async fn until_the_run_ends(&mut self, id: &str, cursor: &mut String) -> Vec<Value> {
        let mut records: Vec<Value> = Vec::new();
        loop {
            let mut frame = self.next().await;
            assert_eq!(
                (&frame["type"], &frame["id"], &frame["after"]),
                (&json!("records"), &json!(id), &json!(cursor))
            );
            *cursor = frame["cursor"].as_str().unwrap().to_owned();
            let Value::Array(new) = frame["records"].take() else { panic!("records are a list") };
            let is_end = new.iter().any(|record| record["event"]["kind"] == "run_finished");
            records.extend(new);
            if is_end {
                return records;
            }
        }
    }

    /// The socket is open and in sync: a pong follows a ping.
    pub async fn is_open(&mut self) {
        self.send(json!({ "type": "ping" })).await;
        assert_eq!(self.next().await, json!({ "type": "pong" }));
    }
}
