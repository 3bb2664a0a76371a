//! Fuzz target (docs/testing.md): records are cut out of a page as a reader of all of it would find them.

use bytes::Bytes;
use serde_json::Value;
use testkit::fuzz::{Choices, corpus};

use super::{page, split};

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"items\"",
    "\"next\"",
    "null",
    "\"",
    "\\\"",
    "\\",
    "\"a]\"",
    "\"}\"",
    "1",
    "-1.5e3",
    "true",
    " ",
    "\n",
    "{\"seq\":1}",
    "[[]]",
    "\"\\u005d\"",
    "é",
    "\"it\\u0065ms\"",
];

fn compare(text: &[u8]) {
    let found = split(Bytes::copy_from_slice(text), "items");
    let _ = page(Bytes::copy_from_slice(text));
    let Ok(Value::Object(whole)) = serde_json::from_slice::<Value>(text) else { return };
    // With two arrays of that name, this takes the first and a map the last.
    let is_plain = protocol::unambiguous(&String::from_utf8_lossy(text)).is_ok() && !text.contains(&b'\\');
    let expected = whole.get("items").and_then(Value::as_array);
    if let (true, Some(expected)) = (is_plain, expected) {
        let (head, items) = found.unwrap_or_else(|| panic!("{:?} is not cut", String::from_utf8_lossy(text)));
        let items: Vec<Value> = items.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
        assert_eq!(items, *expected);
        let mut rest = whole.clone();
        rest.insert("items".to_owned(), Value::Array(Vec::new()));
        assert_eq!(serde_json::from_slice::<Value>(&head).unwrap(), Value::Object(rest));
    }
}

/// A valid page, with items of all kinds.
fn some_page(choices: &mut Choices<'_>) -> String {
    let space = choices.pick::<str>(&["", " ", "\n\t"]);
    let item = |choices: &mut Choices<'_>| {
        choices
            .pick(&[
                "1",
                "null",
                "{}",
                "[]",
                "[1,[2]]",
                "{\"items\":[3]}",
                "\"]\"",
                "\"{\"",
                "{\"a\":\"}\"}",
                "-0.1e2",
                "\"é\"",
            ])
            .to_owned()
    };
    let items: Vec<String> = (0..choices.below(5)).map(|_| item(choices)).collect();
    let items = format!("\"items\":{space}[{space}{}{space}]", items.join(&format!("{space},{space}")));
    let other = format!("\"next\":{}", item(choices));
    match choices.flag() {
        true => format!("{space}{{{space}{other},{items}}}"),
        false => format!("{{{items}{space},{other}}}{space}"),
    }
}

fn any_page(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    compare(bytes);
    compare(some_page(&mut choices).as_bytes());
    compare(choices.text(PIECES, 24).as_bytes());
}

#[test]
fn records_are_cut_out_as_a_reader_of_the_whole_finds_them() {
    corpus(env!("CARGO_MANIFEST_DIR"), "pages", any_page);
    bolero::check!().with_iterations(20_000).with_max_len(200).for_each(any_page);
}
