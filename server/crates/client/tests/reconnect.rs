//! The event stream against a real listener that greets, sends, disappears and comes back.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use client::{Client, Connection, EventStream, StreamItem};
use futures_util::{SinkExt, StreamExt};
use protocol::{ClientFrame, DiagnosticCode, PodRef, Record, ServerFrame};
use testkit::within;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

/// The server's side of the connection, scripted by the test.
struct Server(TcpListener);
struct Peer(WebSocketStream<TcpStream>);

impl Server {
    async fn start() -> (Self, Client) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(&format!("http://{}", listener.local_addr().unwrap()), "t").unwrap();
        (Self(listener), client)
    }

    async fn accept(&self) -> Peer {
        let (stream, _) = within("a connection", self.0.accept()).await.unwrap();
        let mut peer = Peer(accept_async(stream).await.unwrap());
        peer.say(ServerFrame::Hello { protocol: 1, server: "yoi test".into(), heartbeat_ms: 5_000, build: None }).await;
        peer
    }
}

impl Peer {
    async fn say(&mut self, frame: ServerFrame) {
        self.0.send(Message::text(serde_json::to_string(&frame).unwrap())).await.unwrap();
    }

    /// The client's next subscription: its id and cursor.
    async fn subscription(&mut self) -> (String, Option<String>) {
        within("a subscription", async {
            loop {
                let message = self.0.next().await.unwrap().unwrap();
                if let Ok(ClientFrame::Subscribe { id, after, .. }) = serde_json::from_str(message.to_text().unwrap()) {
                    return (id, after);
                }
            }
        })
        .await
    }
}

fn pod() -> PodRef {
    "local/1".parse().unwrap()
}

fn record(seq: i64) -> Record {
    serde_json::from_value(serde_json::json!({
        "seq": seq, "at": "2026-01-01T00:00:00Z", "event": { "kind": "text_chunk", "block": "b", "text": "x" }
    }))
    .unwrap()
}

fn records(id: &str, after: &str, cursor: &str, seqs: std::ops::Range<i64>) -> ServerFrame {
    let records = seqs.map(record).collect();
    ServerFrame::Records { id: id.into(), after: after.into(), cursor: cursor.into(), records }
}

fn snapshot(id: &str, cursor: &str) -> ServerFrame {
    serde_json::from_value(serde_json::json!({
        "type": "snapshot", "id": id, "cursor": cursor, "records": [], "has_more": false,
        "summary": {
            "pod": pod(), "name": "ada", "state": "idle", "provider": "rehearsal", "model": "rehearsal", "cwd": "/",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "head_seq": 0,
            "needs_you": false, "unread": 0, "relations": { "children": 0, "peers": 0 },
            "usage": { "input": 0, "cached": 0, "output": 0 }
        }
    }))
    .unwrap()
}

async fn next(events: &mut EventStream) -> StreamItem {
    within("something of the stream", events.next()).await
}

async fn next_connection(events: &mut EventStream) -> Connection {
    within("how the connection is", async {
        loop {
            if let StreamItem::Connection(connection) = events.next().await {
                return connection;
            }
        }
    })
    .await
}

async fn next_frame(events: &mut EventStream) -> ServerFrame {
    within("a frame", async {
        loop {
            if let StreamItem::Frame(frame) = events.next().await {
                return frame;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_lost_connection_goes_on_after_the_last_cursor_and_says_what_was_missed() {
    let (server, client) = Server::start().await;
    let mut events = client.events();
    let id = events.subscribe_pod(pod(), None, 50);

    let mut peer = server.accept().await;
    assert_eq!(peer.subscription().await, (id.clone(), None));
    peer.say(snapshot(&id, "c1")).await;
    peer.say(records(&id, "c1", "c2", 1..2)).await;
    assert_eq!(next(&mut events).await, StreamItem::Connection(Connection::Connected));
    assert_eq!(next_frame(&mut events).await, snapshot(&id, "c1"));
    assert_eq!(next_frame(&mut events).await, records(&id, "c1", "c2", 1..2));
    drop(peer);
    assert!(matches!(next(&mut events).await, StreamItem::Connection(Connection::Reconnecting { attempt: 1, .. })));

    let mut peer = server.accept().await;
    // Directly after the greeting: the gap ends with a moment of silence, however the records arrived.
    peer.say(records(&id, "c2", "c3", 2..5)).await;
    assert_eq!(peer.subscription().await, (id.clone(), Some("c2".into())));
    assert_eq!(next(&mut events).await, StreamItem::Connection(Connection::Connected));
    assert_eq!(next_frame(&mut events).await, records(&id, "c2", "c3", 2..5));
    assert_eq!(next_connection(&mut events).await, Connection::CaughtUp { records: 3 });
}

#[tokio::test]
async fn a_cursor_that_the_server_no_longer_knows_ends_in_one_snapshot_and_is_told_as_reloaded() {
    let (server, client) = Server::start().await;
    let mut events = client.events();
    let id = events.subscribe_pod(pod(), Some("old".into()), 50);
    let mut peer = server.accept().await;
    assert_eq!(peer.subscription().await.1, Some("old".into()));
    let code = DiagnosticCode::CursorExpired;
    peer.say(ServerFrame::Diagnostic { id: Some(id.clone()), code, detail: "too old".into() }).await;
    peer.say(snapshot(&id, "c9")).await;
    assert!(matches!(next_frame(&mut events).await, ServerFrame::Diagnostic { .. }));
    assert_eq!(next_frame(&mut events).await, snapshot(&id, "c9"));
    assert_eq!(next_connection(&mut events).await, Connection::Reloaded);
}

#[tokio::test]
async fn a_frame_that_leaves_something_out_is_not_shown_and_leads_to_a_new_connection() {
    let (server, client) = Server::start().await;
    let mut events = client.events();
    let id = events.subscribe_pod(pod(), Some("c1".into()), 50);
    let mut peer = server.accept().await;
    peer.subscription().await;
    peer.say(records(&id, "c5", "c6", 6..7)).await;
    assert_eq!(next_connection(&mut events).await, Connection::Connected);
    assert!(matches!(next(&mut events).await, StreamItem::Connection(Connection::Reconnecting { .. })));
    assert_eq!(server.accept().await.subscription().await.1, Some("c1".into()));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_for_ever_and_a_refused_token_is_told() {
    let (server, client) = Server::start().await;
    let address = server.0.local_addr().unwrap();
    drop(server);
    let mut events = client.events();
    for attempt in 1..=3 {
        match next_connection(&mut events).await {
            Connection::Reconnecting { attempt: told, .. } => assert_eq!(told, attempt),
            other => panic!("{other:?}"),
        }
    }
    let server = TcpListener::bind(address).await.unwrap();
    let (mut stream, _) = within("a connection", server.accept()).await.unwrap();
    let mut request = [0; 2048];
    let read = stream.read(&mut request).await.unwrap();
    assert!(String::from_utf8_lossy(&request[..read]).to_lowercase().contains("authorization: bearer t\r\n"));
    stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert_eq!(next_connection(&mut events).await, Connection::Unauthorized);
}

#[tokio::test]
async fn fifteen_seconds_of_silence_are_taken_for_death() {
    let (server, client) = Server::start().await;
    let mut events = client.events();
    events.subscribe_pods();
    let mut peer = server.accept().await;
    peer.subscription().await;
    assert_eq!(next(&mut events).await, StreamItem::Connection(Connection::Connected));
    // From here on the clock jumps to the next timer whenever the runtime is idle.
    tokio::time::pause();
    let since = Instant::now();
    assert!(matches!(events.next().await, StreamItem::Connection(Connection::Reconnecting { .. })));
    assert!(since.elapsed() >= Duration::from_secs(14), "after {:?}", since.elapsed());
}
