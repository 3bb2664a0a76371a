//! Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. Each line is a message, or a block of one, and names its parent.

use std::collections::HashMap;

use jiff::Timestamp;
use protocol::Seq;
use serde_json::Value;

use super::{each_line, is_true, items, story::Story, text, time};

/// What Claude Code writes instead of a message when a person interrupts it.
const INTERRUPTED: &str = "[Request interrupted by user";
/// Its own remarks about the commands that a person ran.
const CAVEATS: [&str; 2] = ["Caveat: ", "<local-command-caveat>"];
/// Lines that are no part of the conversation.
const ASIDE: [&str; 14] = [
    "agent-name",
    "ai-title",
    "attachment",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tag",
];

pub(super) fn is_it(line: &Value) -> bool {
    let kind = text(line, "type").unwrap_or_default();
    let has = |field| line.get(field).is_some();
    match kind {
        "user" | "assistant" => line.get("message").is_some_and(Value::is_object),
        "summary" => has("leafUuid"),
        kind if ASIDE.contains(&kind) => has("sessionId") || has("uuid") || has("snapshot"),
        _ => false,
    }
}

pub(super) fn read(file: &str, now: Timestamp) -> Story {
    let mut story = Story::new("Claude Code", now);
    let mut places = Places::default();
    each_line(file, &mut story, |story, line| places.take(story, line));
    story
}

/// Where each line of the file is in the history, by its id.
#[derive(Debug, Default)]
struct Places(HashMap<String, Seq>);

impl Places {
    fn take(&mut self, story: &mut Story, line: &Value) {
        let kind = text(line, "type").unwrap_or_default();
        if is_true(line, "isSidechain") {
            story.left.subagents += 1;
            return;
        }
        let id = text(line, "uuid");
        if id.is_some_and(|id| self.0.contains_key(id)) {
            story.left.repeated += 1;
            return;
        }
        story.in_folder(text(line, "cwd"));
        story.of_session(text(line, "sessionId"));
        let message = line.get("message").unwrap_or(&Value::Null);
        match kind {
            "user" | "assistant" => {
                story.at(time(line, "timestamp"));
                match kind {
                    "assistant" => assistant(story, line, message),
                    _ => self.user(story, line, message),
                }
            }
            "attachment" => queued(story, line),
            kind if ASIDE.contains(&kind) => (),
            _ => story.left.other += 1,
        }
        if let Some(id) = id {
            self.0.insert(id.to_owned(), story.head());
        }
    }

    /// A message of a person, or the results of calls.
    fn user(&self, story: &mut Story, line: &Value, message: &Value) {
        for block in items(message, "content") {
            match text(block, "type") {
                Some("tool_result") => {
                    let id = text(block, "tool_use_id").unwrap_or_default();
                    let said = words(story, block);
                    story.result(id, &said, is_true(block, "is_error"));
                }
                Some("image" | "document") => story.left.attachments += 1,
                Some("text") | None => (),
                Some(_) => story.left.other += 1,
            }
        }
        let said = match message.get("content") {
            Some(Value::String(said)) => said.clone(),
            _ => texts(items(message, "content")),
        };
        if said.trim().is_empty() {
            return;
        }
        if is_true(line, "isCompactSummary") {
            story.summary(&said);
        } else if said.starts_with(INTERRUPTED) {
            story.interrupted();
        } else if is_true(line, "isMeta") && CAVEATS.iter().any(|caveat| said.starts_with(caveat)) {
            story.left.instructions += 1;
        } else {
            self.go_back(story, line);
            story.person(&said);
        }
    }

    /// A message that follows an earlier line than the newest message is where the person went back to.
    fn go_back(&self, story: &mut Story, line: &Value) {
        let parent = text(line, "parentUuid").and_then(|parent| self.0.get(parent));
        if let (Some(place), Some(asked_at)) = (parent, story.asked_at())
            && asked_at > *place
        {
            story.rewind(*place);
        }
    }
}

/// A message that a person sent while the model was working.
fn queued(story: &mut Story, line: &Value) {
    let attachment = line.get("attachment").unwrap_or(&Value::Null);
    if text(attachment, "type") == Some("queued_command") {
        story.at(time(line, "timestamp"));
        let said = text(attachment, "prompt").map_or_else(|| texts(items(attachment, "prompt")), str::to_owned);
        story.person(&said);
    }
}

fn assistant(story: &mut Story, line: &Value, message: &Value) {
    if is_true(line, "isApiErrorMessage") || text(message, "model") == Some("<synthetic>") {
        story.left.errors += 1;
        return;
    }
    if let Some(said) = text(message, "content") {
        story.answer(said);
    }
    for block in items(message, "content") {
        match text(block, "type") {
            Some("text") => story.answer(text(block, "text").unwrap_or_default()),
            Some("thinking") => match text(block, "thinking") {
                Some(thought) if !thought.trim().is_empty() => story.thought(thought),
                _ => story.left.thoughts += 1,
            },
            Some("redacted_thinking") => story.left.thoughts += 1,
            Some("tool_use") => {
                let (id, name) = (text(block, "id").unwrap_or_default(), text(block, "name").unwrap_or_default());
                story.call(id, name, block.get("input").unwrap_or(&Value::Null));
            }
            _ => story.left.other += 1,
        }
    }
}

/// The text of a result: a string, or blocks.
fn words(story: &mut Story, block: &Value) -> String {
    let content = items(block, "content");
    let attachments = content.iter().filter(|item| text(item, "type") == Some("image")).count();
    story.left.attachments += attachments;
    match text(block, "content") {
        Some(said) => said.to_owned(),
        None if attachments > 0 => format!("{}\n[a picture that was not imported]", texts(content)).trim().to_owned(),
        None => texts(content),
    }
}

fn texts(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter(|block| text(block, "type") == Some("text"));
    texts.filter_map(|block| text(block, "text")).collect::<Vec<_>>().join("\n")
}
