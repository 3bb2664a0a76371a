//! opencode: what `opencode export SESSION` prints, one object with `info` and `messages`.

use std::collections::HashMap;

use jiff::Timestamp;
use protocol::Seq;
use serde_json::Value;

use super::{is_true, items, millis, story::Story, text};

pub(super) fn is_it(document: &Value) -> bool {
    document.get("info").is_some_and(Value::is_object) && document.get("messages").is_some_and(Value::is_array)
}

/// Whether this looks like such an object over several lines.
pub(super) fn begins(file: &str) -> bool {
    let first = file.trim_start().strip_prefix('{').and_then(|inside| inside.trim_start().strip_prefix("\"info\""));
    first.is_some_and(|rest| rest.trim_start().starts_with(':')) && file.contains("\"messages\"")
}

pub(super) fn read(file: &str, now: Timestamp) -> Story {
    let mut story = Story::new("opencode", now);
    match serde_json::from_str::<Value>(file) {
        Ok(document) => session(&mut story, &document),
        Err(error) => story.left.unreadable(error.line()),
    }
    story
}

fn session(story: &mut Story, document: &Value) {
    let info = document.get("info").unwrap_or(&Value::Null);
    story.in_folder(text(info, "directory"));
    story.of_session(text(info, "id"));
    let mut places: HashMap<&str, Seq> = HashMap::new();
    for (number, message) in (1..).zip(items(document, "messages")) {
        let about = message.get("info").unwrap_or(&Value::Null);
        if let Some(id) = text(about, "id") {
            places.entry(id).or_insert(story.head());
        }
        let time = about.get("time").unwrap_or(&Value::Null);
        story.at(millis(time, "created"));
        match text(about, "role") {
            Some("user") => user(story, message),
            Some("assistant") => assistant(story, message, about),
            _ => story.left.unreadable(number),
        }
        story.at(millis(time, "completed"));
        if text(about.get("error").unwrap_or(&Value::Null), "name") == Some("MessageAbortedError") {
            story.interrupted();
        }
    }
    // The person went back to before this message, and has said nothing since.
    if let Some(place) = info.pointer("/revert/messageID").and_then(Value::as_str).and_then(|id| places.get(id)) {
        story.rewind(*place);
    }
}

fn user(story: &mut Story, message: &Value) {
    let parts = items(message, "parts");
    story.left.attachments += parts.iter().filter(|part| text(part, "type") == Some("file")).count();
    story.person(&texts(parts));
}

fn assistant(story: &mut Story, message: &Value, about: &Value) {
    let parts = items(message, "parts");
    if is_true(about, "summary") {
        story.summary(&texts(parts));
        return;
    }
    for part in parts {
        match text(part, "type") {
            Some("text") if is_true(part, "ignored") => (),
            Some("text") => story.answer(text(part, "text").unwrap_or_default()),
            Some("reasoning") => match text(part, "text") {
                Some(thought) if !thought.trim().is_empty() => story.thought(thought),
                _ => story.left.thoughts += 1,
            },
            Some("tool") => tool(story, part),
            Some("file") => story.left.attachments += 1,
            Some(
                "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "subtask" | "compaction" | "retry",
            ) => (),
            _ => story.left.other += 1,
        }
    }
}

fn tool(story: &mut Story, part: &Value) {
    let state = part.get("state").unwrap_or(&Value::Null);
    let time = state.get("time").unwrap_or(&Value::Null);
    let id = text(part, "callID").or(text(part, "id")).unwrap_or_default();
    story.at(millis(time, "start"));
    story.call(id, text(part, "tool").unwrap_or_default(), state.get("input").unwrap_or(&Value::Null));
    story.at(millis(time, "end"));
    story.left.attachments += items(state, "attachments").len();
    match text(state, "status") {
        Some("completed") => story.result(id, text(state, "output").unwrap_or_default(), false),
        Some("error") => story.result(id, text(state, "error").unwrap_or_default(), true),
        // It was running when this was written, and is closed with the message.
        _ => (),
    }
}

fn texts(parts: &[Value]) -> String {
    let texts = parts.iter().filter(|part| text(part, "type") == Some("text") && !is_true(part, "ignored"));
    texts.filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
}
