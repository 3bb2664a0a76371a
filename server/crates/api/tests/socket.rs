//! The event socket and its server-sent form, over a real listener.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use common::{Server, answer, socket::Socket};
use futures_util::{SinkExt, StreamExt};
use reqwest::{Method, header};
use serde_json::{Value, json};
use tokio::{net::TcpSocket, time::timeout};
use tokio_tungstenite::tungstenite::Message;

async fn made(server: &Server, name: &str) -> (Value, String) {
    let (status, summary) = server.post("/api/v1/pods", json!({ "name": name })).await;
    assert_eq!(status, 201, "{summary}");
    (summary["pod"].clone(), common::pod_path(&summary["pod"]))
}

fn text_of(records: &[Value]) -> String {
    let chunks = records.iter().filter(|record| record["event"]["kind"] == "text_chunk");
    chunks.map(|record| record["event"]["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_subscription_begins_with_a_snapshot_goes_on_in_a_chain_and_resumes_without_one() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    let snapshot = socket.subscribe("b", &pod, None).await;
    assert_eq!(
        (&snapshot["type"], &snapshot["id"], &snapshot["has_more"]),
        (&json!("snapshot"), &json!("b"), &json!(false))
    );
    assert_eq!(snapshot["summary"]["name"], "ada");
    let mut cursor = snapshot["cursor"].as_str().unwrap().to_owned();
    let begin = cursor.clone();
    server.say(&path, "say one two three").await;
    let records = socket.until_the_run_ends("b", &mut cursor).await;
    assert_eq!(text_of(&records), "one two three");
    let seqs: Vec<i64> = records.iter().map(|record| record["seq"].as_i64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));

    let mut late = Socket::open(&server).await;
    let frame = late.subscribe("late", &pod, Some(&begin)).await;
    assert_eq!((&frame["type"], &frame["after"]), (&json!("records"), &json!(begin)));
    // Chunks of a finished block may be folded in one and not yet in the other.
    let lasting = |records: &Value| {
        let is_chunk = |record: &&Value| record["event"]["kind"] == "text_chunk";
        records.as_array().unwrap().iter().filter(|record| !is_chunk(record)).cloned().collect::<Vec<_>>()
    };
    let transcript = server.get(&format!("{path}/transcript?limit=1000")).await.1;
    let known = snapshot["records"].as_array().unwrap().len();
    assert_eq!(lasting(&frame["records"]), lasting(&transcript["items"])[known..]);
    late.is_open().await;
}

#[tokio::test]
async fn a_cursor_that_is_no_use_is_one_diagnostic_and_one_snapshot() {
    let server = Server::start().await;
    let (pod, _) = made(&server, "ada").await;
    let (other, path) = made(&server, "bob").await;
    server.say(&path, "say something").await;
    let mut socket = Socket::open(&server).await;
    let foreign = socket.subscribe("other", &other, None).await["cursor"].as_str().unwrap().to_owned();
    let own = socket.subscribe("own", &pod, None).await["cursor"].as_str().unwrap().to_owned();
    let (shorter, longer) = (&own[..own.len() - 1], format!("{own}0"));
    for (id, cursor) in [("a", "nonsense"), ("b", ""), ("c", &foreign), ("d", shorter), ("e", &longer)] {
        let diagnostic = socket.subscribe(id, &pod, Some(cursor)).await;
        assert_eq!(
            (&diagnostic["type"], &diagnostic["id"], &diagnostic["code"]),
            (&json!("diagnostic"), &json!(id), &json!("cursor_invalid"))
        );
        let snapshot = socket.next().await;
        assert_eq!((&snapshot["type"], &snapshot["id"]), (&json!("snapshot"), &json!(id)));
    }
    socket.is_open().await;
}

#[tokio::test]
async fn a_viewer_that_asks_for_no_records_gets_the_summary_and_then_what_happens() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    server.say(&path, "say before").await;
    let mut socket = Socket::open(&server).await;
    socket.send(json!({ "type": "subscribe", "id": "b", "pod": pod, "tail": 0 })).await;
    let snapshot = socket.next().await;
    assert_eq!(
        (&snapshot["type"], &snapshot["records"], &snapshot["has_more"]),
        (&json!("snapshot"), &json!([]), &json!(true))
    );
    let mut cursor = snapshot["cursor"].as_str().unwrap().to_owned();
    server.say(&path, "say after").await;
    assert_eq!(text_of(&socket.until_the_run_ends("b", &mut cursor).await), "after");
}

#[tokio::test]
async fn what_is_no_frame_gets_a_diagnostic_and_closes_nothing() {
    let server = Server::start().await;
    let (pod, _) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    socket.subscribe("b", &pod, None).await;
    let bad = [
        "hello".to_owned(),
        "{}".to_owned(),
        json!({ "type": "dance" }).to_string(),
        json!({ "type": "subscribe", "id": "x" }).to_string(),
        json!({ "type": "subscribe", "id": "x", "pods": true, "pod": pod }).to_string(),
        json!({ "type": "subscribe", "id": "b", "pods": true }).to_string(),
        json!({ "type": "ping", "x": "x".repeat(1 << 20) }).to_string(),
    ];
    let messages = bad.into_iter().map(Message::text).chain([Message::binary(vec![1, 2, 3])]);
    for message in messages {
        socket.0.send(message).await.unwrap();
        let frame = socket.next().await;
        assert_eq!(
            (&frame["type"], &frame["id"], &frame["code"]),
            (&json!("diagnostic"), &Value::Null, &json!("bad_frame"))
        );
    }
    for command in ["input", "pause", "stop", "create", "run"] {
        socket.send(json!({ "type": command, "pod": pod })).await;
        assert_eq!(socket.next().await["code"], "command_on_socket");
    }
    socket.is_open().await;
}

#[tokio::test]
async fn an_unknown_pod_or_runtime_is_told_and_closed_and_its_id_is_free_again() {
    let server = Server::start().await;
    let (pod, _) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    for (runtime, code) in [("local", "pod_not_found"), ("nowhere", "runtime_unavailable")] {
        let unknown = json!({ "runtime_id": runtime, "worker_id": "nobody" });
        let diagnostic = socket.subscribe("b", &unknown, None).await;
        assert_eq!((&diagnostic["id"], &diagnostic["code"]), (&json!("b"), &json!(code)));
        let closed = socket.next().await;
        assert_eq!((&closed["type"], &closed["id"]), (&json!("closed"), &json!("b")));
    }
    assert_eq!(socket.subscribe("b", &pod, None).await["type"], "snapshot");
}

#[tokio::test]
async fn the_list_of_pods_is_told_whole_and_then_as_it_changes() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    socket.send(json!({ "type": "subscribe", "id": "a", "pods": true })).await;
    let list = socket.next().await;
    assert_eq!((&list["type"], &list["id"], &list["snapshot"]), (&json!("pods"), &json!("a"), &json!(true)));
    assert_eq!(list["upserts"][0]["pod"], pod);
    assert_eq!(socket.subscribe("b", &pod, None).await["type"], "snapshot");
    assert_eq!(answer(server.request(Method::DELETE, &format!("{path}?confirm=ada"))).await.0, 204);
    let (mut removed, mut gone, mut closed) = (false, false, false);
    testkit::within("it is told that the Pod is gone", async {
        while !(removed && gone && closed) {
            let frame = socket.next().await;
            match frame["type"].as_str().unwrap() {
                "pods" => removed |= frame["removed"].as_array().unwrap().contains(&pod),
                "diagnostic" => gone |= frame["code"] == "pod_gone" && frame["id"] == "b",
                "closed" => closed |= gone && frame["id"] == "b",
                "records" => (),
                other => panic!("{other}"),
            }
        }
    })
    .await;
}

#[tokio::test]
async fn nothing_follows_an_unsubscribe_and_the_id_is_free() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    socket.subscribe("b", &pod, None).await;
    socket.send(json!({ "type": "unsubscribe", "id": "b" })).await;
    socket.send(json!({ "type": "unsubscribe", "id": "never there" })).await;
    socket.is_open().await;
    server.say(&path, "say unseen").await;
    socket.is_open().await;
    assert_eq!(socket.subscribe("b", &pod, None).await["type"], "snapshot");
}

#[tokio::test]
async fn a_socket_has_at_most_256_subscriptions() {
    let server = Server::start().await;
    let (pod, _) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    for number in 0..256 {
        assert_eq!(socket.subscribe(&format!("s{number}"), &pod, None).await["type"], "snapshot");
    }
    let refused = socket.subscribe("too many", &pod, None).await;
    assert_eq!(refused["code"], "too_many_subscriptions");
    assert!(refused["detail"].as_str().unwrap().contains("at most 256"), "{refused}");
    socket.send(json!({ "type": "unsubscribe", "id": "s7" })).await;
    assert_eq!(socket.subscribe("fits", &pod, None).await["type"], "snapshot");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_is_told_that_it_lagged_and_nobody_waits_for_it() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    let small = TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4096).unwrap();
    let mut slow = Socket::connect(&server, small).await;
    slow.next().await;
    slow.subscribe("slow", &pod, None).await;
    let mut quick = Socket::open(&server).await;
    let mut cursor = quick.subscribe("quick", &pod, None).await["cursor"].as_str().unwrap().to_owned();
    let words = 100_000;
    let body = json!({ "segments": [{ "type": "text", "text": format!("stream {words} at 0") }] });
    assert_eq!(server.post(&format!("{path}/input"), body).await.0, 202);
    let records = timeout(Duration::from_secs(120), quick.until_the_run_ends("quick", &mut cursor)).await.unwrap();
    let text = text_of(&records);
    assert!(text.ends_with(&format!("w{words}")), "the quick reader has everything");

    let (mut lagged, mut snapshots, mut head) = (0, 0, 0);
    let last = records.last().unwrap()["seq"].as_i64().unwrap();
    while head < last {
        let frame = slow.next().await;
        match frame["type"].as_str().unwrap() {
            "diagnostic" => {
                assert_eq!((&frame["code"], &frame["id"]), (&json!("lagged"), &json!("slow")));
                lagged += 1;
            }
            "snapshot" => snapshots += 1,
            _ => (),
        }
        let newest =
            frame["records"].as_array().and_then(|records| records.last()).map(|record| record["seq"].as_i64());
        head = newest.flatten().unwrap_or(head);
    }
    assert!(lagged > 0, "the slow reader was never told");
    assert_eq!(lagged, snapshots);
}

#[tokio::test]
async fn silence_is_filled_with_heartbeats() {
    let server = Server::start().await;
    let began = Instant::now();
    let mut socket = Socket::open(&server).await;
    let frame: Value = serde_json::from_str(socket.message().await.to_text().unwrap()).unwrap();
    assert_eq!(frame["type"], "heartbeat");
    assert!(frame["at"].is_string());
    assert!(began.elapsed() >= Duration::from_millis(4_900));
}

#[tokio::test]
async fn when_the_server_stops_the_socket_closes_with_a_reason_and_streams_end() {
    let server = Server::start().await;
    let (pod, _) = made(&server, "ada").await;
    let mut socket = Socket::open(&server).await;
    socket.subscribe("b", &pod, None).await;
    let stream = server.request(Method::GET, "/api/v1/events").header(header::ACCEPT, "text/event-stream");
    let stream = stream.send().await.unwrap();
    server.stop.send_replace(true);
    let Message::Close(Some(close)) = socket.message().await else { panic!("a close frame") };
    assert_eq!((u16::from(close.code), close.reason.as_str()), (1001, "yoi is stopping"));
    timeout(Duration::from_secs(60), stream.text()).await.expect("the stream ends").unwrap();
}

/// Reads events up to and including the first of this type: type, id, data.
async fn events(request: reqwest::RequestBuilder, last: &str) -> Vec<(String, Option<String>, Value)> {
    let response = request.header(header::ACCEPT, "text/event-stream").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let (mut chunks, mut text, mut events) = (response.bytes_stream(), String::new(), Vec::new());
    while let Some(chunk) = timeout(Duration::from_secs(60), chunks.next()).await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            let data = serde_json::from_str(&field("data: ").unwrap()).unwrap();
            let kind = field("event: ").unwrap();
            let is_last = kind == last;
            events.push((kind, field("id: "), data));
            text = rest.to_owned();
            if is_last {
                return events;
            }
        }
    }
    events
}

#[tokio::test]
async fn the_same_frames_come_as_server_sent_events() {
    let server = Server::start().await;
    let (pod, path) = made(&server, "ada").await;
    let address = format!("local/{}", pod["worker_id"].as_str().unwrap());
    let stream = |query: &str| server.request(Method::GET, &format!("/api/v1/events?pod={address}{query}"));
    let begun = events(stream(""), "snapshot").await;
    assert_eq!(begun[0].0, "hello");
    let (_, cursor, snapshot) = begun[1].clone();
    assert_eq!(cursor.as_deref(), snapshot["cursor"].as_str());
    assert_eq!((&snapshot["type"], &snapshot["id"]), (&json!("snapshot"), &json!("sse")));
    server.say(&path, "say hello\nsay there").await;
    let cursor = cursor.unwrap();
    for request in [stream(&format!("&after={cursor}")), stream("&after=nonsense").header("Last-Event-ID", &cursor)] {
        let resumed = events(request, "records").await;
        assert_eq!(resumed.iter().map(|event| event.0.as_str()).collect::<Vec<_>>(), ["hello", "records"]);
        assert_eq!(
            (&resumed[1].2["after"], resumed[1].1.as_deref()),
            (&json!(cursor), resumed[1].2["cursor"].as_str())
        );
    }
    let bad = events(stream("&after=nonsense"), "snapshot").await;
    assert_eq!(bad.iter().map(|event| event.0.as_str()).collect::<Vec<_>>(), ["hello", "diagnostic", "snapshot"]);
    assert_eq!(bad[1].2["code"], "cursor_invalid");
    let list = events(server.request(Method::GET, "/api/v1/events"), "pods").await;
    assert_eq!(list[1].2["upserts"][0]["name"], "ada");
    let unknown = events(server.request(Method::GET, "/api/v1/events?pod=local/nobody"), "closed").await;
    assert_eq!(unknown[1].2["code"], "pod_not_found");
    for bad in ["nobody", "local", "LOCAL/x", "local/a/b", ""] {
        let request = server.request(Method::GET, &format!("/api/v1/events?pod={bad}"));
        let (status, problem) = answer(request.header(header::ACCEPT, "text/event-stream")).await;
        assert_eq!((status, problem["code"].as_str()), (400, Some("invalid_input")), "{bad}");
    }
}

#[tokio::test]
async fn what_is_neither_socket_nor_stream_is_told_what_to_send() {
    let server = Server::start().await;
    let (status, problem) = server.get("/api/v1/events").await;
    assert_eq!((status, problem["code"].as_str()), (400, Some("invalid_input")));
    let half = server.request(Method::GET, "/api/v1/events").header(header::UPGRADE, "websocket");
    assert_eq!(answer(half).await.0, 400);
}
