//! Records as JSON: encoded once, stored, and sent unchanged to every viewer.

use bytes::Bytes;
use jiff::Timestamp;
use pod::Step;
use pod_store::{FarChange, NewRecord, RecordClass, SearchText};
use protocol::{ControlEvent, Event, LinkNews, ReasoningPolicy, Record, Segment, Seq, TurnEvent};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct RecordBody<'a> {
    seq: Seq,
    at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    event: &'a Event,
}

/// The record of `step` at `seq`. `at` is RFC 3339, formatted once for a whole batch. Reasoning is searchable as far as
/// `policy` lets it be seen.
pub(crate) fn record(seq: Seq, at: &str, step: &Step, policy: ReasoningPolicy) -> NewRecord {
    let body = RecordBody { seq, at, run_id: step.run_id.as_deref(), event: &step.event };
    let body = serde_json::to_vec(&body).expect("protocol types always encode");
    NewRecord { seq, class: class(&step.event), body: body.into(), search: search_text(&step.event, policy) }
}

/// RFC 3339 in UTC, as in records.
pub(crate) fn timestamp(at: Timestamp) -> String {
    at.to_string()
}

fn class(event: &Event) -> RecordClass {
    match event {
        Event::Turn(event) if event.is_chunk() => RecordClass::Chunk,
        Event::Turn(_) => RecordClass::Turn,
        Event::Control(
            ControlEvent::ApprovalAsked { .. }
            | ControlEvent::ApprovalAnswered { .. }
            | ControlEvent::PeerRequested { .. }
            | ControlEvent::PeerDeclined { .. },
        ) => RecordClass::Question,
        Event::Control(_) | Event::Unknown(_) => RecordClass::Control,
    }
}

/// The text to index for search: what was said, called and answered.
fn search_text(event: &Event, policy: ReasoningPolicy) -> Option<SearchText> {
    let Event::Turn(event) = event else { return None };
    let text = match event {
        TurnEvent::UserMessage { segments, .. } => Segment::join(segments),
        TurnEvent::PeerMessage { text, .. } | TurnEvent::MessageFinished { text, .. } => text.clone(),
        TurnEvent::ReasoningFinished { text, .. } => shown_reasoning(policy, text),
        TurnEvent::ToolCalled { name, arguments, .. } => {
            let mut text = name.clone();
            add_words(&mut text, arguments);
            text
        }
        TurnEvent::ToolFinished { summary, content, .. } => match content {
            Some(content) => format!("{summary}\n{content}"),
            None => summary.clone(),
        },
        TurnEvent::Compacted { summary, .. } => summary.clone(),
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| SearchText { kind: event.kind(), text })
}

/// Adds the strings in a call's arguments, one per line. Argument names are left out: they belong to the tool.
fn add_words(text: &mut String, arguments: &Value) {
    match arguments {
        Value::String(word) => {
            text.push('\n');
            text.push_str(word);
        }
        Value::Number(number) => {
            text.push('\n');
            text.push_str(&number.to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(text, item)),
        Value::Object(fields) => fields.values().for_each(|field| add_words(text, field)),
        Value::Null | Value::Bool(_) => (),
    }
}

/// A record as this Pod's viewers may see it (E19): with full reasoning, without it, or with its first line only.
pub(crate) fn visible(policy: ReasoningPolicy, body: Bytes) -> Bytes {
    const MARK: &[u8] = b"\"kind\":\"reasoning_";
    if policy == ReasoningPolicy::Full || !body.windows(MARK.len()).any(|window| window == MARK) {
        return body;
    }
    let Ok(mut record) = serde_json::from_slice::<Record>(&body) else { return body };
    match &mut record.event {
        Event::Turn(TurnEvent::ReasoningChunk { text, .. }) => text.clear(),
        Event::Turn(TurnEvent::ReasoningFinished { text, proof, .. }) => {
            *text = shown_reasoning(policy, text);
            *proof = None;
        }
        _ => return body,
    }
    serde_json::to_vec(&record).expect("protocol types always encode").into()
}

/// A record cut to the size that a page shows.
pub(crate) fn shown(body: Bytes) -> Bytes {
    protocol::cut_record(&body, protocol::SHOWN_BYTES_MAX).map_or(body, Bytes::from)
}

pub(crate) fn shown_reasoning(policy: ReasoningPolicy, text: &str) -> String {
    match policy {
        ReasoningPolicy::Full => text.to_owned(),
        ReasoningPolicy::Summary => text.lines().next().unwrap_or_default().chars().take(200).collect(),
        ReasoningPolicy::Hidden => String::new(),
    }
}

/// An outgoing item for another store.
pub(crate) fn put_out(store: &str, news: &LinkNews) -> FarChange {
    let body = serde_json::to_string(news).expect("an item always encodes");
    FarChange::Send { store: store.to_owned(), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(event: TurnEvent, policy: ReasoningPolicy) -> NewRecord {
        record(Seq(3), "2026-01-01T00:00:00Z", &Step { run_id: Some("run-1".into()), event: event.into() }, policy)
    }

    fn body(event: TurnEvent) -> Bytes {
        encoded(event, ReasoningPolicy::Full).body
    }

    #[test]
    fn arguments_are_found_and_reasoning_as_far_as_it_may_be_seen() {
        let found = |event: &TurnEvent, policy| encoded(event.clone(), policy).search.map(|search| search.text);
        let arguments = serde_json::json!({ "path": "/a", "lines": [1, { "text": "two" }], "all": true, "none": null });
        let (call_id, block, name) = ("c".to_owned(), "b1".to_owned(), "Edit".to_owned());
        let by = protocol::ToolBy::Model;
        let called = TurnEvent::ToolCalled { call_id, block, name, arguments, by, agent_call_id: None };
        assert_eq!(found(&called, ReasoningPolicy::Hidden).as_deref(), Some("Edit\n/a\n1\ntwo"));
        let thought = TurnEvent::ReasoningFinished {
            block: "b1".into(),
            text: "one\ntwo".into(),
            interrupted: false,
            proof: None,
        };
        assert_eq!(found(&thought, ReasoningPolicy::Full).as_deref(), Some("one\ntwo"));
        assert_eq!(found(&thought, ReasoningPolicy::Summary).as_deref(), Some("one"));
        assert_eq!(found(&thought, ReasoningPolicy::Hidden), None);
    }

    #[test]
    fn a_record_is_what_the_protocol_says() {
        let event = TurnEvent::TextChunk { block: "b1".into(), text: "hé \"x\"".into() };
        let record: Record = serde_json::from_slice(&body(event.clone())).unwrap();
        assert_eq!((record.seq, record.run_id.as_deref(), record.event), (Seq(3), Some("run-1"), event.into()));
    }

    #[test]
    fn reasoning_leaves_the_server_only_as_far_as_the_policy_says() {
        let thought = TurnEvent::ReasoningFinished {
            block: "b1".into(),
            text: "one\ntwo".into(),
            interrupted: false,
            proof: None,
        };
        let shown = |policy| {
            let record: Record = serde_json::from_slice(&visible(policy, body(thought.clone()))).unwrap();
            match record.event {
                Event::Turn(TurnEvent::ReasoningFinished { text, .. }) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(shown(ReasoningPolicy::Full), "one\ntwo");
        assert_eq!(shown(ReasoningPolicy::Summary), "one");
        assert_eq!(shown(ReasoningPolicy::Hidden), "");
    }

    #[test]
    fn what_only_looks_like_reasoning_is_left_alone() {
        let said = body(TurnEvent::MessageFinished {
            block: "b1".into(),
            text: "\"kind\":\"reasoning_chunk\"".into(),
            interrupted: false,
        });
        assert_eq!(visible(ReasoningPolicy::Hidden, said.clone()), said);
    }
}
