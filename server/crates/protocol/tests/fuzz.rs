//! Fuzz targets (docs/testing.md): cursors, frames, and JSON that is refused when a key stands twice.

#![allow(clippy::unwrap_used)]

use protocol::{ClientFrame, Record, ServerFrame, open_cursor, seal_cursor, unambiguous};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use testkit::fuzz::{Choices, corpus};

fn any_cursor(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(place) = open_cursor(&text) {
        assert_eq!(seal_cursor(place), text, "only what was sealed opens");
    }
    let sealed = seal_cursor(&text);
    assert_eq!(open_cursor(&sealed), Some(&*text));
    // One letter less or another one.
    for (at, letter) in sealed.char_indices().take(200) {
        let (before, after) = (&sealed[..at], &sealed[at + letter.len_utf8()..]);
        assert_eq!(open_cursor(&format!("{before}{}{after}", if letter == '~' { '-' } else { '~' })), None);
    }
}

/// A JSON text, and whether an object in it has a key twice.
fn some_json(choices: &mut Choices<'_>, depth: usize, is_ambiguous: &mut bool) -> String {
    let some = |choices: &mut Choices<'_>, is_ambiguous: &mut bool, with_keys: bool| {
        let mut keys: Vec<String> = Vec::new();
        let items: Vec<String> = (0..choices.below(4))
            .map(|_| {
                let item = some_json(choices, depth + 1, is_ambiguous);
                if !with_keys {
                    return item;
                }
                // The same key in two spellings.
                let (spelling, key) = *choices.pick(&[
                    &("\"a\"", "a"),
                    &("\"\\u0061\"", "a"),
                    &("\"b\"", "b"),
                    &("\"\"", ""),
                    &("\"é\"", "é"),
                ]);
                *is_ambiguous |= keys.iter().any(|known| known == key);
                keys.push(key.to_owned());
                format!("{spelling}:{item}")
            })
            .collect();
        items.join(",")
    };
    match choices.below(if depth < 6 { 4 } else { 2 }) {
        2 => format!("[{}]", some(choices, is_ambiguous, false)),
        3 => format!("{{{}}}", some(choices, is_ambiguous, true)),
        _ => choices
            .pick(&["1", "null", "true", "\"a\"", "-0.5e3", "18446744073709551616", "\" \\n\\ud83d\\ude00\""])
            .to_owned(),
    }
}

fn any_json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(value) = unambiguous(&text) {
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "it reads what everybody reads");
    }
    let mut is_ambiguous = false;
    let made = some_json(&mut Choices::of(bytes), 0, &mut is_ambiguous);
    let read = unambiguous(&made);
    assert_eq!(read.is_err(), is_ambiguous, "{made}");
    if let Ok(value) = read {
        assert_eq!(serde_json::from_str::<Value>(&made).unwrap(), value);
    }
}

/// What is read is the same when it is written and read again.
fn stays<T: Serialize + DeserializeOwned>(text: &str) {
    if let Ok(read) = serde_json::from_str::<T>(text) {
        let written = serde_json::to_string(&read).unwrap();
        let again = serde_json::from_str::<T>(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(serde_json::to_string(&again).unwrap(), written);
    }
}

const FRAME_PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"type\":\"",
    "subscribe",
    "unsubscribe",
    "ping",
    "snapshot",
    "records",
    "pods",
    "diagnostic",
    "closed",
    "hello",
    "heartbeat",
    "\",",
    "\"",
    "\"id\":\"a\"",
    "\"pods\":true",
    "\"pod\":{\"runtime_id\":",
    "\"local\"",
    "\"worker_id\":",
    "\"after\":null",
    "\"after\":\"\"",
    "\"tail\":0",
    "\"tail\":-1",
    "\"tail\":1e99",
    "\"seq\":1",
    "\"at\":\"2026-01-01T00:00:00Z\"",
    "\"event\":{\"kind\":\"",
    "text_chunk",
    "usage",
    "nonsense",
    "\"block\":\"b\"",
    "\"text\":\"\\u0000\"",
    "\"input\":0",
    "\"records\":[]",
    "\"cursor\":\"c\"",
    "\"has_more\":false",
];

fn any_frame(bytes: &[u8]) {
    let made = Choices::of(bytes).text(FRAME_PIECES, 40);
    for text in [&*String::from_utf8_lossy(bytes), &made] {
        stays::<ClientFrame>(text);
        stays::<ServerFrame>(text);
        stays::<Record>(text);
    }
}

const HERE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn only_what_was_sealed_opens() {
    corpus(HERE, "cursors", any_cursor);
    bolero::check!().with_iterations(20_000).for_each(any_cursor);
}

#[test]
fn json_is_read_as_everybody_reads_it_unless_a_key_stands_twice() {
    corpus(HERE, "json", any_json);
    bolero::check!().with_iterations(20_000).for_each(any_json);
}

#[test]
fn a_frame_that_is_read_is_the_same_when_it_is_written() {
    corpus(HERE, "frames", any_frame);
    bolero::check!().with_iterations(20_000).for_each(any_frame);
}
