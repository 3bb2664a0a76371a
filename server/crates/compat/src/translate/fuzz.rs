//! Fuzz target (docs/testing.md): whatever an older Pod says, in any order, becomes records that can be read.

use protocol::Event;
use serde_json::{Value, json};
use testkit::fuzz::{Choices, corpus};

use super::*;

const EVENTS: &[&str] = &[
    "snapshot",
    "segment_rotated",
    "rewind_applied",
    "text_delta",
    "text_done",
    "thinking_start",
    "thinking_delta",
    "thinking_done",
    "tool_call_start",
    "tool_call_args_delta",
    "tool_call_done",
    "tool_result",
    "invoke_start",
    "user_message",
    "usage",
    "llm_retry",
    "run_end",
    "status",
    "error",
    "shutdown",
    "system_item",
    "alert",
    "compact_start",
    "compact_failed",
    "peer_registered",
    "turn_start",
    "turn_end",
    "llm_call_start",
    "nonsense",
    "",
];
const NAMES: &[&str] = &[
    "text",
    "id",
    "name",
    "json",
    "output",
    "kind",
    "segments",
    "result",
    "status",
    "code",
    "message",
    "item",
    "entries",
    "entry",
    "greeting",
    "context_window",
    "input_tokens",
    "attempt",
    "is_error",
    "arguments",
    "type",
    "content",
    "role",
    "event",
    "data",
    "peer",
    "pod_name",
    "summary",
    "items",
    "call_id",
    "history",
    "payload",
];
const WORDS: &[&str] = &[
    "",
    "a",
    "c1",
    "c2",
    "running",
    "paused",
    "idle",
    "finished",
    "user_send",
    "notify",
    "text",
    "{",
    "é\n",
    "../../x",
];

fn some_value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(if depth < 4 { 7 } else { 4 }) {
        0 | 1 => json!(choices.pick(WORDS)),
        2 => json!(choices.below(256)),
        3 => choices.pick(&[&Value::Null, &Value::Bool(true), &json!(-1), &json!(1e300), &json!(u64::MAX)]).clone(),
        4 => (0..choices.below(4)).map(|_| some_value(choices, depth + 1)).collect(),
        _ => some_object(choices, depth),
    }
}

fn some_object(choices: &mut Choices<'_>, depth: usize) -> Value {
    let field = |choices: &mut Choices<'_>| (choices.pick(NAMES).to_owned(), some_value(choices, depth + 1));
    Value::Object((0..choices.below(6)).map(|_| field(choices)).collect())
}

fn any_story(bytes: &[u8]) {
    if let Ok(line) = values::read(bytes) {
        assert!(serde_json::to_string(&line).is_ok());
    }
    let mut choices = Choices::of(bytes);
    let mut translator = Translator::new(Arc::default(), PodName::parse("ada").unwrap(), "t".to_owned());
    while !choices.is_over() {
        let name = choices.pick(EVENTS);
        let data = some_object(&mut choices, 0);
        let mut drafts = match translator.event(name, &data, Timestamp::UNIX_EPOCH) {
            Step::More(drafts) | Step::Anew(drafts) => drafts,
        };
        if choices.below(16) == 15 {
            drafts.extend(translator.settle(Timestamp::UNIX_EPOCH));
        }
        for draft in drafts {
            let written = serde_json::to_value(&draft.event).unwrap();
            let read: Event = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), written, "{name} {data}");
        }
        let _ = translator.face();
    }
    translator.lost("gone", Timestamp::UNIX_EPOCH);
    assert!(matches!(translator.face().state, PodState::Stopped | PodState::Unreachable));
}

#[test]
fn whatever_an_older_pod_says_becomes_records() {
    corpus(env!("CARGO_MANIFEST_DIR"), "older-pods", any_story);
    bolero::check!().with_iterations(5_000).with_max_len(400).for_each(any_story);
}
