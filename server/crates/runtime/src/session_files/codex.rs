//! Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`. Each line has a time and an item; older files have bare items.

use jiff::Timestamp;
use protocol::Seq;
use serde_json::{Value, json};

use super::{each_line, items, story::Story, text, time};

/// How messages begin in which Codex tells its model about itself, the folder and its instructions.
const INSTRUCTIONS: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<collaboration_mode>",
    "# AGENTS.md instructions for ",
];
const KINDS: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

pub(super) fn is_it(line: &Value) -> bool {
    let kind = text(line, "type").unwrap_or_default();
    let is_line = line.get("payload").is_some_and(Value::is_object) && KINDS.contains(&kind);
    // The first line of older files.
    let is_old = kind.is_empty() && ["id", "timestamp", "instructions"].iter().all(|field| line.get(field).is_some());
    is_line || is_old
}

pub(super) fn read(file: &str, now: Timestamp) -> Story {
    let mut story = Story::new("Codex", now);
    let mut turns = Vec::new();
    each_line(file, &mut story, |story, line| take(story, &mut turns, line));
    story
}

/// `turns` are the positions before each message of a person.
fn take(story: &mut Story, turns: &mut Vec<Seq>, line: &Value) {
    story.at(time(line, "timestamp"));
    let kind = text(line, "type").unwrap_or_default();
    let payload = line.get("payload").unwrap_or(&Value::Null);
    match kind {
        "session_meta" => {
            story.in_folder(text(payload, "cwd"));
            story.of_session(text(payload, "id"));
        }
        "turn_context" => story.in_folder(text(payload, "cwd")),
        "response_item" => item(story, turns, payload),
        "event_msg" => event(story, turns, payload),
        "compacted" => {
            let last = items(payload, "replacement_history").last().map(texts).unwrap_or_default();
            story.summary(text(payload, "message").filter(|said| !said.trim().is_empty()).unwrap_or(&last));
        }
        "" => story.of_session(text(line, "id")),
        _ => item(story, turns, line),
    }
}

fn event(story: &mut Story, turns: &mut Vec<Seq>, event: &Value) {
    match text(event, "type") {
        Some("turn_aborted") => story.interrupted(),
        Some("thread_rolled_back") => {
            let count = event.get("num_turns").and_then(Value::as_u64).unwrap_or(0);
            let kept = turns.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
            if let Some(place) = turns.get(kept).copied() {
                story.rewind(place);
                turns.truncate(kept);
            }
        }
        // All other events also appear as items.
        _ => (),
    }
}

fn item(story: &mut Story, turns: &mut Vec<Seq>, item: &Value) {
    let id = text(item, "call_id").or(text(item, "id")).unwrap_or_default();
    match text(item, "type") {
        Some("message") => message(story, turns, item),
        Some("reasoning") => {
            let thought = [items(item, "summary"), items(item, "content")].concat();
            let thought: Vec<_> = thought.iter().filter_map(|part| text(part, "text")).collect();
            match thought.is_empty() {
                true => story.left.thoughts += 1,
                false => story.thought(&thought.join("\n\n")),
            }
        }
        Some("function_call") => {
            let said = text(item, "arguments").unwrap_or_default();
            let arguments = serde_json::from_str(said).unwrap_or_else(|_| json!({ "input": said }));
            story.call(id, text(item, "name").unwrap_or_default(), &arguments);
        }
        Some("custom_tool_call") => {
            let arguments = json!({ "input": text(item, "input").unwrap_or_default() });
            story.call(id, text(item, "name").unwrap_or_default(), &arguments);
        }
        Some("local_shell_call") => story.call(id, "shell", item.get("action").unwrap_or(&Value::Null)),
        Some("function_call_output" | "custom_tool_call_output") => {
            let (said, is_error) = output(story, item.get("output").unwrap_or(&Value::Null));
            story.result(id, &said, is_error);
        }
        Some("web_search_call") => {
            // The file does not contain the search results.
            story.call("web_search_call", "web_search", item.get("action").unwrap_or(&Value::Null));
            story.result("web_search_call", "the results are not in the session file", false);
        }
        Some("ghost_snapshot" | "compaction" | "other") => (),
        _ if text(item, "record_type").is_some() => (),
        _ => story.left.other += 1,
    }
}

fn message(story: &mut Story, turns: &mut Vec<Seq>, item: &Value) {
    let said = texts(item);
    match text(item, "role") {
        Some("user") if INSTRUCTIONS.iter().any(|beginning| said.trim_start().starts_with(beginning)) => {
            story.left.instructions += 1;
        }
        Some("user") => {
            story.left.attachments += pictures(items(item, "content"));
            let place = story.head();
            story.person(&said);
            if story.head() > place {
                turns.push(place);
            }
        }
        Some("assistant") => story.answer(&said),
        _ => story.left.instructions += 1,
    }
}

/// What a call gave: text; JSON with text and an exit code; or parts.
fn output(story: &mut Story, output: &Value) -> (String, bool) {
    let parts = output.as_array().or_else(|| output.get("content")?.as_array());
    if let Some(parts) = parts {
        story.left.attachments += pictures(parts);
        let texts: Vec<_> = parts.iter().filter_map(|part| text(part, "text")).collect();
        return (texts.join("\n"), output.get("success") == Some(&Value::Bool(false)));
    }
    if let Some(said) = text(output, "content") {
        return (said.to_owned(), output.get("success") == Some(&Value::Bool(false)));
    }
    let said = output.as_str().unwrap_or_default();
    let inner: Option<Value> = said.trim_start().starts_with('{').then(|| serde_json::from_str(said).ok()).flatten();
    match inner.as_ref().and_then(|inner| Some((inner, text(inner, "output")?))) {
        Some((inner, said)) => {
            let code = inner.pointer("/metadata/exit_code").and_then(Value::as_i64);
            (said.to_owned(), code.is_some_and(|code| code != 0))
        }
        None => (said.to_owned(), false),
    }
}

fn texts(item: &Value) -> String {
    match text(item, "content") {
        Some(said) => said.to_owned(),
        None => items(item, "content").iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n"),
    }
}

fn pictures(parts: &[Value]) -> usize {
    parts.iter().filter(|part| text(part, "type") == Some("input_image")).count()
}
