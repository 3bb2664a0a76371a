//! Fuzz target (docs/testing.md): whatever a client sends on the socket is a frame or is refused with a sentence.

use protocol::ClientFrame;
use testkit::fuzz::{Choices, corpus};

use super::{ID_BYTES_MAX, Said, parse};

const PIECES: &[&str] = &[
    "{",
    "}",
    ",",
    "[",
    "]",
    "\"type\":\"subscribe\"",
    "\"type\":\"unsubscribe\"",
    "\"type\":\"ping\"",
    "\"type\":\"input\"",
    "\"type\":7",
    "\"id\":\"a\"",
    "\"id\":\"\"",
    "\"id\":null",
    "\"pods\":true",
    "\"pods\":false",
    "\"pod\":{\"runtime_id\":\"local\",\"worker_id\":\"w-1\"}",
    "\"pod\":null",
    "\"after\":null",
    "\"after\":\"c.00000000\"",
    "\"tail\":0",
    "\"tail\":4294967296",
    "\"tail\":-1",
    "\"more\":1",
    "\"method\":\"x\"",
    " ",
    "\u{0}",
    "é",
];

fn any_text(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let mut made = String::from("{");
    for at in 0..choices.below(6) {
        made.push_str(if at > 0 { "," } else { "" });
        made.push_str(choices.pick(PIECES));
    }
    made.push('}');
    for text in [&*String::from_utf8_lossy(bytes), &made, &choices.text(PIECES, 8)] {
        match parse(text) {
            Ok(said) => {
                assert!(serde_json::from_str::<ClientFrame>(text).is_ok(), "{text:?} is no frame of the document");
                if let Said::Subscribe { id, .. } | Said::Unsubscribe { id } = said {
                    assert!(id.len() <= ID_BYTES_MAX);
                }
            }
            Err(refusal) => assert!(!refusal.detail.is_empty() && refusal.detail.len() < 2_000, "{refusal:?}"),
        }
    }
}

#[test]
fn whatever_comes_on_the_socket_is_a_frame_or_is_refused() {
    corpus(env!("CARGO_MANIFEST_DIR"), "frames", any_text);
    bolero::check!().with_iterations(10_000).with_max_len(200).for_each(any_text);
}
