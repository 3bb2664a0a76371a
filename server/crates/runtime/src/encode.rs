//! Records as JSON: encoded once, stored, and sent to every viewer as they are.

use bytes::Bytes;
use jiff::Timestamp;
use pod::Step;
use pod_store::{NewRecord, RecordClass, SearchText};
use protocol::{ControlEvent, Event, ReasoningPolicy, Record, Segment, Seq, TurnEvent};
use serde::Serialize;

#[derive(Serialize)]
struct RecordBody<'a> {
    seq: Seq,
    at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    event: &'a Event,
}

/// The record of `step` at `seq`. `at` is RFC 3339, formatted once for a whole batch.
pub(crate) fn record(seq: Seq, at: &str, step: &Step) -> NewRecord {
    let body = RecordBody { seq, at, run_id: step.run_id.as_deref(), event: &step.event };
    let body = serde_json::to_vec(&body).expect("protocol types always encode");
    NewRecord { seq, class: class(&step.event), body: body.into(), search: search_text(&step.event) }
}

/// RFC 3339 in UTC, as records carry it.
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
            | ControlEvent::PeerRequested { .. },
        ) => RecordClass::Question,
        Event::Control(_) | Event::Unknown(_) => RecordClass::Control,
    }
}

/// What people said and read. Reasoning is left out: a Pod may hide it.
fn search_text(event: &Event) -> Option<SearchText> {
    let Event::Turn(event) = event else { return None };
    let text = match event {
        TurnEvent::UserMessage { segments, .. } => segments.iter().map(Segment::as_text).collect::<Vec<_>>().join("\n"),
        TurnEvent::PeerMessage { text, .. } | TurnEvent::MessageFinished { text, .. } => text.clone(),
        TurnEvent::ToolFinished { summary, content, .. } => match content {
            Some(content) => format!("{summary}\n{content}"),
            None => summary.clone(),
        },
        TurnEvent::Compacted { summary, .. } => summary.clone(),
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| SearchText { kind: event.kind(), text })
}

/// A record as this Pod's viewers may see it (E19): with full reasoning, without, or with its first line.
pub(crate) fn visible(policy: ReasoningPolicy, body: Bytes) -> Bytes {
    const MARK: &[u8] = b"\"kind\":\"reasoning_";
    if policy == ReasoningPolicy::Full || !body.windows(MARK.len()).any(|window| window == MARK) {
        return body;
    }
    let Ok(mut record) = serde_json::from_slice::<Record>(&body) else { return body };
    match &mut record.event {
        Event::Turn(TurnEvent::ReasoningChunk { text, .. }) => text.clear(),
        Event::Turn(TurnEvent::ReasoningFinished { text, .. }) => *text = shown_reasoning(policy, text),
        _ => return body,
    }
    serde_json::to_vec(&record).expect("protocol types always encode").into()
}

fn shown_reasoning(policy: ReasoningPolicy, text: &str) -> String {
    match policy {
        ReasoningPolicy::Full => text.to_owned(),
        ReasoningPolicy::Summary => text.lines().next().unwrap_or_default().chars().take(200).collect(),
        ReasoningPolicy::Hidden => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(event: TurnEvent) -> Bytes {
        record(Seq(3), "2026-01-01T00:00:00Z", &Step { run_id: Some("run-1".into()), event: event.into() }).body
    }

    #[test]
    fn a_record_is_what_the_protocol_says() {
        let event = TurnEvent::TextChunk { block: "b1".into(), text: "hé \"x\"".into() };
        let record: Record = serde_json::from_slice(&body(event.clone())).unwrap();
        assert_eq!((record.seq, record.run_id.as_deref(), record.event), (Seq(3), Some("run-1"), event.into()));
    }

    #[test]
    fn reasoning_leaves_the_server_only_as_far_as_the_policy_says() {
        let thought = TurnEvent::ReasoningFinished { block: "b1".into(), text: "one\ntwo".into(), interrupted: false };
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
