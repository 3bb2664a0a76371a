//! Segments, items of a conversation, and what the older Pod's machinery put into it.

use protocol::{AlertLevel, ControlEvent, PodName, Segment, TurnEvent};
use serde_json::{Map, Value, json};

use super::{Translator, tools::argument_text};
use crate::compat::{names, scrub::cut, values};

/// What a peer message begins with, before the name and a backtick.
const PEER_MESSAGE: &str = "[Peer message from `";
/// What the machinery adds behind the text of a notification.
const NOTICE_TAIL: &str = "\n\nThis is a notification, not a blocking request";

/// Segments of the older wire as ours; of an unknown kind they keep their fields.
pub(in crate::compat) fn segments_of(segments: &[Value]) -> Vec<Segment> {
    segments.iter().map(segment_of).collect()
}

fn segment_of(segment: &Value) -> Segment {
    let text = |name| cut(values::text(segment, name));
    match values::text(segment, "kind") {
        "text" => Segment::Text { text: text("content") },
        "paste" => Segment::Paste { text: text("content") },
        "file_ref" => Segment::FileRef { path: text("path") },
        kind => {
            let mut map = Map::from_iter([("type".to_owned(), Value::String(kind.to_owned()))]);
            let fields = segment.as_object().into_iter().flatten();
            for (name, value) in fields.filter(|(name, _)| !matches!(name.as_str(), "kind" | "type")) {
                map.insert(name.clone(), value.clone());
            }
            Segment::Unknown(map)
        }
    }
}

/// Our segments for the older wire.
pub(in crate::compat) fn to_wire(segments: &[Segment]) -> Vec<Value> {
    let wire = |(at, segment): (usize, &Segment)| match segment {
        Segment::Text { text } => json!({ "kind": "text", "content": text }),
        Segment::Paste { text } => json!({
            "kind": "paste", "id": at + 1, "chars": text.chars().count(), "lines": text.lines().count(), "content": text
        }),
        Segment::FileRef { path } => json!({ "kind": "file_ref", "path": path }),
        Segment::Unknown(map) => Value::Object(map.clone()),
    };
    segments.iter().enumerate().map(wire).collect()
}

impl Translator {
    /// One item of a conversation.
    pub(super) fn item(&mut self, item: &Value) {
        match values::text(item, "kind") {
            "message" => self.message(item),
            "tool_call" => {
                self.in_run();
                self.called(values::text(item, "call_id"), values::text(item, "name"), argument_text(item));
            }
            "tool_result" => {
                self.in_run();
                let content = item.get("content").and_then(Value::as_str);
                let (id, summary) = (values::text(item, "call_id"), values::text(item, "summary"));
                self.result(id, summary, content, values::is_true(item, "is_error"));
            }
            "reasoning" => {
                let text = match values::text(item, "text") {
                    "" => flat(item.get("summary").unwrap_or(&Value::Null)),
                    text => text.to_owned(),
                };
                self.thought(&text);
            }
            kind => {
                let map = self.scrub.unknown(kind, item);
                self.push(protocol::Event::Unknown(map));
            }
        }
    }

    fn message(&mut self, item: &Value) {
        let parts = values::list(item, "content").iter().map(|part| match values::text(part, "kind") {
            "refusal" => values::text(part, "refusal"),
            _ => values::text(part, "text"),
        });
        let text = parts.collect::<Vec<_>>().join("\n");
        match values::text(item, "role") {
            "assistant" => self.said(&text),
            "user" => {
                self.invoked = Some(protocol::Trigger::Input);
                self.user_message(vec![Segment::text(cut(&text))], None);
            }
            role => self.notice(AlertLevel::Note, role, &text),
        }
    }

    /// What the machinery told the model: a message of a peer, or something else, shown as a note.
    pub(super) fn system_item(&mut self, item: &Value) {
        let (kind, body) = (values::text(item, "kind"), values::text(item, "body"));
        let told = match values::text(item, "message") {
            "" => body.strip_prefix("[Notification]\n").unwrap_or(body),
            message => message,
        };
        match peer_message(told).filter(|_| kind == "notification") {
            Some((from, text)) => {
                if self.invoked.is_some() {
                    self.in_run();
                }
                let message_id = self.id("m");
                let (text, from) = (cut(text), names::peer_label(&from));
                self.push(TurnEvent::PeerMessage { message_id, text, from, hops: 0 });
            }
            None => self.notice(AlertLevel::Note, kind, if body.is_empty() { told } else { body }),
        }
    }

    pub(super) fn notice(&mut self, level: AlertLevel, source: &str, text: &str) {
        let source = self.scrub.said(source);
        let text = self.scrub.said(text);
        self.push(ControlEvent::Alert { level, source, text });
    }
}

/// Who wrote, and what.
fn peer_message(told: &str) -> Option<(PodName, &str)> {
    let (name, text) = told.strip_prefix(PEER_MESSAGE)?.split_once("`]\n")?;
    let text = text.split_once(NOTICE_TAIL).map_or(text, |(text, _)| text);
    Some((PodName::parse(name).ok()?, text))
}

/// All texts in a value, a line each.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(flat).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(_) => values::text(value, "text").to_owned(),
        _ => String::new(),
    }
}
