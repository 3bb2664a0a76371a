//! The log of an older Pod, from a snapshot, a rotated segment or a rewind.

use jiff::Timestamp;
use protocol::{AlertLevel, Outcome as End, PodName, Segment, Trigger, TurnEvent};
use serde_json::Value;

use super::{
    calls::Outcome,
    runs::{Runs, is_cancelled},
    segments::segments_of,
    speech::Kind,
    trigger_of,
};
use crate::{names, scrub::cut, values};

/// The start of a peer message, followed by the name and a backtick.
const PEER_MESSAGE: &str = "[Peer message from `";
/// What the older Pod appends to the text of a notification.
const NOTICE_TAIL: &str = "\n\nThis is a notification, not a blocking request";

/// Replays entries as records with their own times.
pub(super) fn replay(runs: &mut Runs, entries: &[Value]) {
    let now = runs.drafts.at;
    runs.drafts.is_replay = true;
    for entry in entries {
        let at = entry.get("ts").and_then(Value::as_i64).and_then(|ms| Timestamp::from_millisecond(ms).ok());
        runs.drafts.at = at.unwrap_or(runs.drafts.at);
        self::entry(runs, entry);
    }
    (runs.drafts.is_replay, runs.drafts.at) = (false, now);
}

fn entry(runs: &mut Runs, entry: &Value) {
    let field = |name| values::text(entry, name);
    let item = entry.get("item").unwrap_or(&Value::Null);
    match field("kind") {
        "segment_start" => history(runs, values::list(entry, "history")),
        "invoke" => runs.invoke(trigger_of(field("trigger"))),
        "user_input" => runs.input_of_others(segments_of(values::list(entry, "segments"))),
        "assistant_item" | "tool_result" => self::item(runs, item),
        "system_item" => system_item(runs, item),
        "run_completed" => match field("result") {
            "finished" | "" if values::is_true(entry, "interrupted") => runs.ended("interrupted"),
            result => runs.ended(result),
        },
        "run_errored" if runs.is_open() => match field("message") {
            message if is_cancelled("internal", message) => runs.end(End::Cancelled),
            message => runs.failed("provider_error", message),
        },
        "llm_usage" => {
            let usage = entry.get("usage").unwrap_or(entry);
            if usage.get("input_tokens").is_some() {
                runs.used(usage);
            }
        }
        "run_errored" | "turn_end" | "config_changed" => (),
        kind => runs.drafts.unknown(kind, entry),
    }
}

/// The items at the start of a segment; their runs can be told apart only by who speaks.
fn history(runs: &mut Runs, history: &[Value]) {
    for item in history {
        // A run that ended before the next user message ended well, as far as anyone knows.
        if values::text(item, "role") == "user" {
            runs.end(End::Completed);
        }
        self::item(runs, item);
    }
    if !history.is_empty() {
        runs.end(End::Completed);
    }
}

/// One item of a conversation.
fn item(runs: &mut Runs, item: &Value) {
    let field = |name| values::text(item, name);
    let kind = field("kind");
    if matches!(kind, "tool_call" | "tool_result" | "reasoning") {
        runs.go_on();
    }
    let drafts = &mut runs.drafts;
    match kind {
        "message" => message(runs, item),
        "tool_call" => runs.calls.called(field("call_id"), field("name"), argument_text(item), drafts),
        "tool_result" => runs.calls.result(field("call_id"), &Outcome::of(item, "content"), drafts),
        "reasoning" => match field("text") {
            "" => runs.speech.whole(Kind::Thought, &flat(item.get("summary").unwrap_or(&Value::Null)), drafts),
            text => runs.speech.whole(Kind::Thought, text, drafts),
        },
        kind => drafts.unknown(kind, item),
    }
}

fn message(runs: &mut Runs, item: &Value) {
    let parts = values::list(item, "content").iter().map(|part| match values::text(part, "kind") {
        "refusal" => values::text(part, "refusal"),
        _ => values::text(part, "text"),
    });
    let text = parts.collect::<Vec<_>>().join("\n");
    match values::text(item, "role") {
        "assistant" => {
            runs.go_on();
            runs.speech.whole(Kind::Text, &text, &mut runs.drafts);
        }
        "user" => {
            runs.invoke(Trigger::Input);
            runs.input_of_others(vec![Segment::text(cut(&text))]);
        }
        role => runs.drafts.note(AlertLevel::Note, role, &text),
    }
}

/// What the older Pod told its model: a peer's message, or something else, shown as a note.
pub(super) fn system_item(runs: &mut Runs, item: &Value) {
    let (kind, body) = (values::text(item, "kind"), values::text(item, "body"));
    let told = match values::text(item, "message") {
        "" => body.strip_prefix("[Notification]\n").unwrap_or(body),
        message => message,
    };
    match peer_message(told).filter(|_| kind == "notification") {
        Some((from, text)) => {
            runs.go_on_if_invoked();
            let message_id = runs.drafts.id("m");
            let (text, from) = (cut(text), names::peer_label(&from));
            runs.drafts.push(TurnEvent::PeerMessage { message_id, text, from, hops: 0 });
        }
        None => runs.drafts.note(AlertLevel::Note, kind, if body.is_empty() { told } else { body }),
    }
}

/// The sender and the text of a peer message.
fn peer_message(told: &str) -> Option<(PodName, &str)> {
    let (name, text) = told.strip_prefix(PEER_MESSAGE)?.split_once("`]\n")?;
    let text = text.split_once(NOTICE_TAIL).map_or(text, |(text, _)| text);
    Some((PodName::parse(name).ok()?, text))
}

/// Arguments are JSON inside a string; some Pods send them directly.
pub(super) fn argument_text(data: &Value) -> String {
    match data.get("arguments") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// All texts in a value, one per line.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(flat).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(_) => values::text(value, "text").to_owned(),
        _ => String::new(),
    }
}
