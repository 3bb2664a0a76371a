//! Fuzz target (docs/testing.md): whatever form a server sends, its defaults and any answer are judged without a panic,
//! and nothing may be given that was not asked for.

use serde_json::{Value, json};
use testkit::fuzz::{Choices, corpus};

use super::{answer_refusal, shown, with_defaults};

const NAMES: &[&str] = &[
    "type",
    "properties",
    "required",
    "enum",
    "oneOf",
    "const",
    "title",
    "description",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "format",
    "items",
    "minItems",
    "maxItems",
    "anyOf",
    "a",
    "b",
    "__proto__",
];
const WORDS: &[&str] = &[
    "",
    "object",
    "string",
    "number",
    "integer",
    "boolean",
    "array",
    "email",
    "uri",
    "date",
    "date-time",
    "a",
    "é\u{202e}",
];

fn some_value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(if depth < 4 { 7 } else { 4 }) {
        0 | 1 => json!(choices.pick(WORDS)),
        2 => json!(choices.below(256)),
        3 => choices.pick(&[&Value::Null, &Value::Bool(true), &json!(-1), &json!(1e300), &json!(u64::MAX)]).clone(),
        4 => (0..choices.below(4)).map(|_| some_value(choices, depth + 1)).collect(),
        _ => {
            let field = |choices: &mut Choices<'_>| (choices.pick(NAMES).to_owned(), some_value(choices, depth + 1));
            Value::Object((0..choices.below(5)).map(|_| field(choices)).collect())
        }
    }
}

fn some_form(choices: &mut Choices<'_>) -> Value {
    let mut field = || {
        let kind = choices.pick(&["string", "number", "integer", "boolean", "array"]);
        let mut field = json!({ "type": kind });
        for _ in 0..choices.below(3) {
            field[choices.pick(NAMES)] = some_value(choices, 2);
        }
        field
    };
    json!({ "type": "object", "properties": { "a": field(), "b": field() }, "required": ["a"] })
}

fn any_form(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let (form, wild, answer) = (some_form(&mut choices), some_value(&mut choices, 0), some_value(&mut choices, 0));
    for schema in [&form, &wild] {
        let _ = shown("what?", schema);
        let _ = with_defaults(schema, answer.clone());
        let _ = answer_refusal(schema, &answer);
    }
    let stranger = json!({ "a": choices.pick(WORDS), "c": 1 });
    assert!(answer_refusal(&form, &stranger).is_some(), "{form} takes a field that it does not have");
    assert!(answer_refusal(&form, &json!({})).is_some(), "{form} needs a field that is missing");
}

#[test]
fn a_form_takes_nothing_that_it_did_not_ask_for() {
    corpus(env!("CARGO_MANIFEST_DIR"), "forms", any_form);
    bolero::check!().with_iterations(10_000).with_max_len(128).for_each(any_form);
}
