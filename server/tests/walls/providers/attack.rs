//! One attack: what a provider sends, and how that has to end.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::stranger::{Says, Then};

pub(super) const MIB: usize = 1024 * 1024;
pub(super) const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
pub(super) const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/// How an attack has to end.
pub(super) enum End {
    /// With an error whose sentence contains these words.
    Says(&'static str),
    /// With any error: it is not a valid answer.
    Fails,
    /// Like any answer: what is strange in it does no harm.
    Completes,
    /// Not by itself.
    Cancel,
}

pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) provider: &'static str,
    pub(super) says: Says,
    pub(super) end: End,
}

pub(super) fn attack(name: &'static str, provider: &'static str, first: Vec<u8>, then: Then, end: End) -> Attack {
    Attack { name, provider, says: Says { first, then }, end }
}

pub(super) fn answer(head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    [head.as_bytes(), b"connection: close\r\n\r\n", body.as_ref()].concat()
}

pub(super) fn gzip(piece: &[u8], times: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..times).for_each(|_| packed.write_all(piece).unwrap());
    packed.finish().unwrap()
}

pub(super) fn packed(head: &str, body: Vec<u8>) -> Vec<u8> {
    answer(&format!("{head}content-encoding: gzip\r\n"), body)
}

/// An event of OpenAI's API.
pub(super) fn delta(delta: Value) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }))
}

pub(super) fn call(index: u64, id: &str, name: &str, arguments: &str) -> String {
    delta(json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] }))
}

/// An event of Anthropic's API.
pub(super) fn event(kind: &str, rest: Value) -> String {
    let mut data = json!({ "type": kind });
    data.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    format!("event: {kind}\ndata: {data}\n\n")
}

pub(super) const DONE: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
