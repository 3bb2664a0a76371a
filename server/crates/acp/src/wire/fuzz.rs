//! Fuzz target (docs/testing.md): any line of an agent is a message or is skipped.

use serde_json::Value;
use testkit::fuzz::{Choices, corpus};

use super::{Message, read};

const PIECES: &[&str] = &[
    "{",
    "}",
    ",",
    ":",
    "[",
    "]",
    "null",
    "\"id\":",
    "1",
    "-1",
    "1.5",
    "\"x\"",
    "\"method\":",
    "\"session/update\"",
    "\"params\":",
    "\"result\":",
    "\"error\":",
    "\"code\":",
    "\"message\":",
    "\"data\":",
    "\"jsonrpc\":\"2.0\"",
    "18446744073709551616",
    "é\\n",
];

fn any_line(bytes: &[u8]) {
    let made = Choices::of(bytes).text(PIECES, 24);
    for line in [bytes, made.as_bytes()] {
        let whole = serde_json::from_slice::<Value>(line).ok();
        let field = |name: &str| whole.as_ref().and_then(|whole| whole.get(name)).cloned();
        match read(line) {
            None => (),
            Some(Message::Request { id, method, .. }) => {
                assert_eq!((field("id"), field("method")), (Some(id), Some(method.into())));
            }
            Some(Message::Notification { method, .. }) => assert_eq!(field("method"), Some(method.into())),
            Some(Message::Response { id, result }) => {
                assert_eq!(field("id"), Some(id.into()));
                if let Err(fault) = result {
                    assert!(!fault.message.is_empty() && fault.message.chars().count() <= 1_001);
                    assert!(!fault.message.contains(['\n', '\r']));
                }
            }
        }
    }
}

#[test]
fn a_line_of_an_agent_is_a_message_or_nothing() {
    corpus(env!("CARGO_MANIFEST_DIR"), "lines", any_line);
    bolero::check!().with_iterations(20_000).with_max_len(200).for_each(any_line);
}
