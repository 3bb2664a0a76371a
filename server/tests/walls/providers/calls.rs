//! Calls that are too many, too long, or numbered absurdly.

use serde_json::{Value, json};

use super::attack::{Attack, DONE, EVENTS, End, MIB, answer, attack, call, delta, event};
use crate::stranger::Then;

pub(super) fn of_calls() -> Vec<Attack> {
    let many: String = (0..200).map(|number| call(number, &format!("c{number}"), "Read", "{}")).collect();
    let at_once: Vec<Value> =
        (0..20_000).map(|number| json!({ "index": number, "function": { "name": "Read" } })).collect();
    let piece = call(0, "c", "Write", &"a".repeat(100_000));
    let tool = event(
        "content_block_start",
        json!({ "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "Write" } }),
    );
    let input = |text: &str| {
        event(
            "content_block_delta",
            json!({ "index": 0, "delta": { "type": "input_json_delta", "partial_json": text } }),
        )
    };
    let start = event("message_start", json!({ "message": { "usage": { "input_tokens": 1, "output_tokens": 1 } } }));
    vec![
        attack("200 calls", "openai", answer(EVENTS, many), Then::End, End::Says("128 calls")),
        attack(
            "20,000 calls at once",
            "openai",
            answer(EVENTS, delta(json!({ "tool_calls": at_once }))),
            Then::End,
            End::Says("128 calls"),
        ),
        attack(
            "arguments of 2 MB",
            "openai",
            answer(EVENTS, piece.repeat(20)),
            Then::End,
            End::Says("1 MiB of arguments"),
        ),
        attack(
            "arguments of 2 MB, anthropic",
            "anthropic",
            answer(EVENTS, format!("{start}{tool}{}", input(&"a".repeat(100_000)).repeat(20))),
            Then::End,
            End::Says("1 MiB of arguments"),
        ),
        attack(
            "arguments without end in crumbs",
            "anthropic",
            answer(EVENTS, format!("{start}{tool}")),
            Then::ForEver(input("a").into_bytes().repeat(64)),
            End::Cancel,
        ),
        attack(
            "a name of 1 MB",
            "openai",
            answer(EVENTS, call(0, "c", &"N".repeat(MIB), "")),
            Then::End,
            End::Says("name or id"),
        ),
        attack(
            "an id of 1 MB",
            "openai",
            answer(EVENTS, call(0, &"i".repeat(MIB), "Read", "")),
            Then::End,
            End::Says("name or id"),
        ),
        attack(
            "the four thousand millionth call",
            "openai",
            answer(EVENTS, format!("{}{DONE}", call(u64::from(u32::MAX), "c", "NoSuchTool", "{}"))),
            Then::End,
            End::Cancel,
        ),
    ]
}

/// The same in the Responses API.
pub(super) fn of_calls_by_responses() -> Vec<Attack> {
    let begin = |index: usize, name: &str| {
        let item = json!({ "type": "function_call", "call_id": format!("c{index}"), "name": name, "arguments": "" });
        event("response.output_item.added", json!({ "output_index": index, "item": item }))
    };
    let crumb =
        |text: &str| event("response.function_call_arguments.delta", json!({ "output_index": 0, "delta": text }));
    vec![
        attack(
            "200 calls, by the Responses API",
            "responses",
            answer(EVENTS, (0..200).map(|index| begin(index, "Read")).collect::<String>()),
            Then::End,
            End::Says("128 calls"),
        ),
        attack(
            "arguments of 2 MB, by the Responses API",
            "responses",
            answer(EVENTS, format!("{}{}", begin(0, "Write"), crumb(&"a".repeat(100_000)).repeat(20))),
            Then::End,
            End::Says("1 MiB of arguments"),
        ),
        attack(
            "arguments without end in crumbs, by the Responses API",
            "responses",
            answer(EVENTS, begin(0, "Write")),
            Then::ForEver(crumb("a").into_bytes().repeat(64)),
            End::Cancel,
        ),
        attack(
            "a name of 1 MB, by the Responses API",
            "responses",
            answer(EVENTS, begin(0, &"N".repeat(MIB))),
            Then::End,
            End::Says("name or id"),
        ),
    ]
}
