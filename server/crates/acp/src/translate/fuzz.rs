//! Fuzz target (docs/testing.md): whatever updates an agent sends, the pieces are bounded.

use serde_json::{Value, json};
use testkit::fuzz::{Choices, corpus};

use super::*;

const KINDS: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "usage_update",
    "nonsense",
];
const WORDS: &[&str] = &[
    "",
    "a",
    "c1",
    "c2",
    "text",
    "image",
    "resource_link",
    "diff",
    "content",
    "terminal",
    "completed",
    "failed",
    "in_progress",
    "pending",
    "edit",
    "execute",
    "high",
    "low",
    "select",
    "é\u{202e}\n",
    "/a/../b",
    "file:///a",
    "AAAA",
];
const NAMES: &[&str] = &[
    "sessionUpdate",
    "content",
    "toolCallId",
    "title",
    "status",
    "kind",
    "rawInput",
    "rawOutput",
    "type",
    "text",
    "path",
    "oldText",
    "newText",
    "locations",
    "entries",
    "priority",
    "availableCommands",
    "name",
    "description",
    "input",
    "currentModeId",
    "configOptions",
    "id",
    "options",
    "value",
    "currentValue",
    "used",
    "size",
    "cost",
    "amount",
    "currency",
    "terminalId",
    "_meta",
];

fn some_value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(if depth < 4 { 7 } else { 4 }) {
        0 | 1 => json!(choices.pick(WORDS)),
        2 => json!(choices.below(256)),
        3 => choices
            .pick(&[&Value::Null, &Value::Bool(true), &json!(-1), &json!(1.5), &json!("x".repeat(3_000))])
            .clone(),
        4 => (0..choices.below(4)).map(|_| some_value(choices, depth + 1)).collect(),
        _ => Value::Object((0..choices.below(6)).map(|_| some_field(choices, depth)).collect()),
    }
}

fn some_field(choices: &mut Choices<'_>, depth: usize) -> (String, Value) {
    (choices.pick(NAMES).to_owned(), some_value(choices, depth + 1))
}

/// An update with the fields that its kind needs, some of them replaced.
fn some_update(choices: &mut Choices<'_>) -> Value {
    let text = json!({ "type": "text", "text": choices.pick(WORDS) });
    let call = choices.pick(&["c1", "c2"]);
    let kind = choices.pick(KINDS);
    let mut update = json!({
        "sessionUpdate": kind, "content": text, "toolCallId": call, "title": "t", "currentModeId": "m",
        "entries": [{ "content": "a", "priority": "high", "status": "pending" }], "availableCommands": [], "configOptions": [],
        "used": 1, "size": 2,
    });
    if kind.starts_with("tool_call") {
        let diff = json!({ "type": "diff", "path": "/a", "oldText": null, "newText": choices.pick(WORDS) });
        update["content"] = json!([{ "type": "content", "content": text }, diff]);
        update["status"] = json!(choices.pick(&["pending", "in_progress", "completed", "failed"]));
    }
    for _ in 0..choices.below(3) {
        let (name, value) = some_field(choices, 0);
        if name != "sessionUpdate" {
            update[name] = value;
        }
    }
    update
}

fn any_turn(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let (mut translator, mut offered) = (Translator::default(), Offered::default());
    while !choices.is_over() {
        if choices.below(12) == 11 {
            translator.begin_turn();
        }
        let raw = some_update(&mut choices);
        let Ok(update) = serde_json::from_value::<SessionUpdate>(raw.clone()) else { continue };
        for said in translator.update(update, &raw, &mut offered) {
            match said {
                Said::Text(text) | Said::Thought(text) => assert!(text.len() <= PIECE_BYTES_MAX),
                other => assert!(!format!("{other:?}").is_empty()),
            }
        }
    }
}

#[test]
fn whatever_an_agent_says_becomes_bounded_pieces() {
    corpus(env!("CARGO_MANIFEST_DIR"), "updates", any_turn);
    bolero::check!().with_iterations(5_000).with_max_len(300).for_each(any_turn);
}
