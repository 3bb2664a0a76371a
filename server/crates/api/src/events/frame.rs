//! Outgoing frames. Records are joined in their encoded form and never parsed.

use backend::{Backend, FeedItem, PodsItem};
use bytes::Bytes;
use futures_util::{StreamExt, stream, stream::BoxStream};
use jiff::Timestamp;
use protocol::{ApiError, DiagnosticCode, ErrorCode, PROTOCOL_VERSION, RuntimeId, ServerFrame};
use serde::Serialize;

use super::{HEARTBEAT, asked::Watch};
use crate::{
    ApiOptions,
    answer::{join, quoted},
};

/// One encoded frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its `type`.
    pub(super) kind: &'static str,
    /// Where a subscription continues after this frame.
    pub(super) cursor: Option<String>,
    pub(super) json: String,
}

impl Frame {
    pub(super) fn hello(options: &ApiOptions) -> Self {
        let heartbeat_ms = HEARTBEAT.as_millis() as u64;
        Self::of(
            "hello",
            ServerFrame::Hello {
                protocol: PROTOCOL_VERSION,
                server: options.server.clone(),
                heartbeat_ms,
                build: options.build.clone(),
            },
        )
    }

    pub(super) fn heartbeat() -> Self {
        Self::of("heartbeat", ServerFrame::Heartbeat { at: Timestamp::now() })
    }

    pub(super) fn pong() -> Self {
        Self::of("pong", ServerFrame::Pong {})
    }

    pub(super) fn diagnostic(id: Option<&str>, code: DiagnosticCode, detail: String) -> Self {
        Self::of("diagnostic", ServerFrame::Diagnostic { id: id.map(str::to_owned), code, detail })
    }

    pub(super) fn closed(id: &str, reason: String) -> Self {
        Self::of("closed", ServerFrame::Closed { id: id.to_owned(), reason })
    }

    /// True if nothing of its subscription follows.
    pub(super) fn is_last(&self) -> bool {
        self.kind == "closed"
    }

    fn of(kind: &'static str, frame: ServerFrame) -> Self {
        Self { kind, cursor: None, json: encoded(&frame) }
    }

    fn pods(id: &str, item: PodsItem) -> Self {
        let PodsItem { revision, snapshot, upserts, removed } = item;
        Self::of("pods", ServerFrame::Pods { id: id.to_owned(), revision, snapshot, upserts, removed })
    }

    fn feed(id: &str, item: FeedItem) -> Self {
        match item {
            FeedItem::Snapshot { cursor, summary, records, has_more } => {
                let head = format!(
                    "{{\"type\":\"snapshot\",\"id\":{},\"cursor\":{},\"summary\":{},\"records\":",
                    quoted(id),
                    quoted(&cursor),
                    encoded(&summary)
                );
                let json = around(head, &records, &format!(",\"has_more\":{has_more}}}"));
                Self { kind: "snapshot", cursor: Some(cursor), json }
            }
            FeedItem::Records { after, cursor, records } => {
                let head = format!(
                    "{{\"type\":\"records\",\"id\":{},\"after\":{},\"cursor\":{},\"records\":",
                    quoted(id),
                    quoted(&after),
                    quoted(&cursor)
                );
                Self { kind: "records", json: around(head, &records, "}"), cursor: Some(cursor) }
            }
            FeedItem::Diagnostic { code, detail } => Self::diagnostic(Some(id), code, detail),
            FeedItem::Closed { reason } => Self::closed(id, reason),
        }
    }
}

/// The frames of the subscription `id`. Pulled: nothing is read ahead.
pub(super) fn frames(
    backend: &Backend,
    listed: Option<&RuntimeId>,
    id: String,
    watch: Watch,
) -> BoxStream<'static, Frame> {
    match watch {
        Watch::Pods => {
            let list = backend.everywhere().observe_pods(listed);
            match list {
                Ok(list) => list.map(move |item| Frame::pods(&id, item)).boxed(),
                Err(error) => stream::iter(refused(&id, error)).boxed(),
            }
        }
        Watch::Pod { pod, after, tail } => {
            let backend = backend.clone();
            let opening = async move {
                match backend.journals().observe(&pod, after, tail).await {
                    Ok(observation) => observation.map(move |item| Frame::feed(&id, item)).boxed(),
                    Err(error) => stream::iter(refused(&id, error)).boxed(),
                }
            };
            stream::once(opening).flatten().boxed()
        }
    }
}

/// The frames for a subscription that cannot begin: why, and its end.
fn refused(id: &str, error: ApiError) -> [Frame; 2] {
    let code = match error.code {
        ErrorCode::PodNotFound => DiagnosticCode::PodNotFound,
        _ => DiagnosticCode::RuntimeUnavailable,
    };
    [Frame::diagnostic(Some(id), code, error.detail), Frame::closed(id, code.as_str().to_owned())]
}

fn around(head: String, records: &[Bytes], tail: &str) -> String {
    let mut json = head.into_bytes();
    json.reserve(records.iter().map(|record| record.len() + 1).sum::<usize>() + tail.len() + 2);
    join(&mut json, records);
    json.extend_from_slice(tail.as_bytes());
    // Records are JSON and thus UTF-8. If one were not, replacement characters are better than nothing.
    String::from_utf8(json).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn encoded(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("protocol types always encode")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_records_frame_carries_the_encoded_records_and_an_escaped_id() {
        let item = FeedItem::Records {
            after: "c\"0".to_owned(),
            cursor: "c1".to_owned(),
            records: vec![Bytes::from_static(b"{\"seq\":1}"), Bytes::from_static(b"{\"seq\":2}")],
        };
        let frame = Frame::feed("a\"\n", item);
        assert_eq!((frame.kind, frame.cursor.as_deref()), ("records", Some("c1")));
        assert_eq!(
            serde_json::from_str::<Value>(&frame.json).unwrap(),
            json!({"type":"records","id":"a\"\n","after":"c\"0","cursor":"c1","records":[{"seq":1},{"seq":2}]})
        );
    }

    #[test]
    fn hand_made_frames_read_as_the_protocol_types() {
        let summary: protocol::PodSummary = serde_json::from_value(json!({
            "pod": { "runtime_id": "local", "worker_id": "w" }, "name": "ada", "state": "idle", "provider": "rehearsal",
            "model": "rehearsal", "cwd": "/", "created_at": "2026-11-21T00:00:00Z",
            "updated_at": "2026-11-21T00:00:00Z", "head_seq": 1, "needs_you": false, "unread": 0,
            "relations": { "children": 0, "peers": 0 }, "usage": { "input": 0, "cached": 0, "output": 0 }
        }))
        .unwrap();
        let record = br#"{"seq":1,"at":"2026-11-21T00:00:00Z","event":{"kind":"text_chunk","block":"b","text":"x"}}"#;
        let records = vec![Bytes::from_static(record)];
        let item = FeedItem::Snapshot {
            cursor: "c".to_owned(),
            summary: Box::new(summary.clone()),
            records: records.clone(),
            has_more: true,
        };
        let read: ServerFrame = serde_json::from_str(&Frame::feed("b", item).json).unwrap();
        let expected = ServerFrame::Snapshot {
            id: "b".to_owned(),
            cursor: "c".to_owned(),
            summary: Box::new(summary),
            records: vec![serde_json::from_slice(record).unwrap()],
            has_more: true,
        };
        assert_eq!(read, expected);
    }
}
