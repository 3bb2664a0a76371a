//! What the event socket refuses, and what it then answers.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, socket::Socket};
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

const MIB: usize = 1024 * 1024;

/// Sends all these frames before reading anything, and returns how the socket is closed.
async fn closed_by(server: &Server, frames: Vec<Frame>) -> (u16, String) {
    let mut socket = Socket::open(server).await;
    for frame in frames {
        socket.0.send(Message::Frame(frame)).await.expect("the connection is closed, not broken");
    }
    let Message::Close(Some(close)) = socket.message().await else { panic!("a close frame") };
    (u16::from(close.code), close.reason.as_str().to_owned())
}

fn text(bytes: impl Into<Vec<u8>>, is_final: bool) -> Frame {
    Frame::message(bytes.into(), OpCode::Data(Data::Text), is_final)
}

fn more(bytes: Vec<u8>, is_final: bool) -> Frame {
    Frame::message(bytes, OpCode::Data(Data::Continue), is_final)
}

#[tokio::test]
async fn a_message_of_more_than_8_mib_closes_the_socket_with_1009_and_says_why() {
    let server = Server::start().await;
    let parts =
        std::iter::once(text(vec![b'x'; 3 * MIB], false)).chain((0..4).map(|_| more(vec![b'x'; 3 * MIB], false)));
    let cases = [
        vec![text(vec![b'x'; 8 * MIB + 1], true)],
        vec![text(vec![b'x'; 40 * MIB], true)],
        vec![Frame::message(vec![0; 9 * MIB], OpCode::Data(Data::Binary), true)],
        parts.collect(),
    ];
    for frames in cases {
        assert_eq!(closed_by(&server, frames).await, (1009, "a message has at most 8 MiB".to_owned()));
    }
}

#[tokio::test]
async fn a_text_that_is_not_utf_8_closes_the_socket_with_1007() {
    let server = Server::start().await;
    let told = (1007, "a text frame has to be UTF-8".to_owned());
    assert_eq!(closed_by(&server, vec![text(b"{\"type\":\"\xff\"}", true)]).await, told);
    assert_eq!(closed_by(&server, vec![text(b"\xe2\x82", false), more(vec![b'x'], true)]).await, told);
}

#[tokio::test]
async fn what_is_no_frame_of_the_protocol_closes_the_socket_with_1002() {
    let server = Server::start().await;
    let mut reserved = text(b"{}", true);
    reserved.header_mut().rsv1 = true;
    for frames in [vec![reserved], vec![more(vec![b'x'], true)]] {
        assert_eq!(closed_by(&server, frames).await.0, 1002);
    }
}

#[tokio::test]
async fn what_was_asked_before_the_frame_that_closes_the_socket_is_answered_before_it_is_closed() {
    let server = Server::start().await;
    let mut reserved = text(b"{}", true);
    reserved.header_mut().rsv1 = true;
    let ends = [(1002, reserved), (1007, text(b"\xff", true)), (1009, text(vec![b'x'; 8 * MIB + 1], true))];
    for (code, end) in ends {
        let mut socket = Socket::open(&server).await;
        let asked = || [Message::text(r#"{"type":"ping"}"#), Message::text(r#"{"type":"dance"}"#)];
        for message in (0..20).flat_map(|_| asked()).chain([Message::Frame(end)]) {
            // Sent at once: the server has read the last one before it has written all answers.
            socket.0.feed(message).await.unwrap();
        }
        socket.0.flush().await.unwrap();
        let mut answers = Vec::new();
        let close = loop {
            match socket.message().await {
                Message::Close(close) => break close.expect("a reason"),
                message => {
                    answers.push(serde_json::from_str::<Value>(message.to_text().unwrap()).unwrap()["type"].clone())
                }
            }
        };
        assert_eq!(u16::from(close.code), code);
        assert_eq!(answers, ["pong", "diagnostic"].repeat(20), "before {code}");
    }
}

#[tokio::test]
async fn a_large_message_that_may_be_sent_is_answered_and_a_binary_one_too() {
    let server = Server::start().await;
    let mut socket = Socket::open(&server).await;
    for message in [Message::text("x".repeat(8 * MIB)), Message::binary(vec![0; 8 * MIB]), Message::binary(vec![])] {
        socket.0.send(message).await.unwrap();
        let told = socket.next().await;
        assert_eq!(
            (&told["type"], &told["id"], &told["code"]),
            (&json!("diagnostic"), &Value::Null, &json!("bad_frame"))
        );
    }
    socket.is_open().await;
}

#[tokio::test]
async fn a_key_that_stands_twice_and_an_array_for_an_object_are_bad_frames() {
    let server = Server::start().await;
    let mut socket = Socket::open(&server).await;
    for (frame, detail) in [
        (r#"{"type":"ping","type":"ping"}"#, "duplicate field `type`"),
        (r#"{"type":"input","type":"ping"}"#, "duplicate field `type`"),
        (r#"{"type":"subscribe","id":"a","id":"b","pods":true}"#, "duplicate field `id`"),
        (r#"{"type":"subscribe","id":"a","pod":["local","w"]}"#, "`pod` has to be an object, not an array"),
        (r#"["ping"]"#, "a frame is an object"),
    ] {
        socket.0.send(Message::text(frame)).await.unwrap();
        let told = socket.next().await;
        assert_eq!(
            (&told["type"], &told["id"], &told["code"]),
            (&json!("diagnostic"), &Value::Null, &json!("bad_frame"))
        );
        assert!(told["detail"].as_str().unwrap().contains(detail), "{told}");
    }
    socket.is_open().await;
}
