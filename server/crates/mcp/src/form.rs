//! What a server asks a person in the middle of a call: a sentence and a flat form. Also checks whether an answer fits
//! the form.

#[cfg(test)]
mod fuzz;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use crate::bounds::{DESCRIPTION_CHARS_MAX, FIELDS_MAX, FORM_BYTES_MAX, MESSAGE_CHARS_MAX};
use crate::text::{line, plain};

/// The size of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A question of a running call, on its way to a person. If `answer` is dropped, nobody answers.
#[derive(Debug)]
pub struct Ask {
    pub call_id: String,
    pub server: String,
    pub message: String,
    /// A JSON schema: an object with plain fields.
    pub schema: Value,
    pub answer: oneshot::Sender<Answer>,
}

/// A person's answer to it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Given(Value),
    Declined,
}

/// Returns the form as people see it, or `None` if it is too complex to fill in.
pub(crate) fn shown(message: &str, schema: &Value) -> Option<(String, Value)> {
    let fields = schema.get("properties").and_then(Value::as_object)?;
    if schema.to_string().len() > FORM_BYTES_MAX || fields.len() > FIELDS_MAX {
        return None;
    }
    let mut shown = schema.clone();
    clean(&mut shown);
    Some((plain(message, MESSAGE_CHARS_MAX), shown))
}

/// Cleans what people read. Names of fields and values of choices stay as they are, because they go back to the server.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("title" | "description", Value::String(text)) => *text = line(text, DESCRIPTION_CHARS_MAX),
                    (_, value) => clean(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => (),
    }
}

/// Says in a sentence that names the field why an answer does not fit the form. Nothing may be given that was not asked
/// for.
pub fn answer_refusal(schema: &Value, content: &Value) -> Option<String> {
    let empty = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let Some(given) = content.as_object() else {
        return Some("`content` is an object with the fields of the form".to_owned());
    };
    if content.to_string().len() > ANSWER_BYTES_MAX {
        return Some(format!("`content` has more than {ANSWER_BYTES_MAX} bytes"));
    }
    if let Some(name) = given.keys().find(|name| !fields.contains_key(*name)) {
        let known = fields.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        return Some(format!("`content.{name}` is not asked for; there are {known}"));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !given.contains_key(name) {
            return Some(format!("`content.{name}` is missing"));
        }
    }
    given.iter().find_map(|(name, value)| {
        let why = field_refusal(&fields[name], value)?;
        Some(format!("`content.{name}` {why}"))
    })
}

fn field_refusal(field: &Value, value: &Value) -> Option<String> {
    let kind = field.get("type").and_then(Value::as_str).unwrap_or("string");
    match (kind, value) {
        ("boolean", Value::Bool(_)) => None,
        ("integer", Value::Number(number)) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
            range_refusal(field, number.as_f64())
        }
        ("number", Value::Number(number)) => range_refusal(field, number.as_f64()),
        ("string", Value::String(text)) => text_refusal(field, text),
        ("array", Value::Array(items)) => list_refusal(field, items),
        (kind, _) => Some(format!("must be of type {kind}")),
    }
}

fn range_refusal(field: &Value, number: Option<f64>) -> Option<String> {
    let number = number?;
    let bound = |name: &str| field.get(name).and_then(Value::as_f64);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), _) if number < least => Some(format!("must be at least {least}")),
        (_, Some(most)) if number > most => Some(format!("must be at most {most}")),
        _ => None,
    }
}

fn text_refusal(field: &Value, text: &str) -> Option<String> {
    if let Some(choices) = choices(field) {
        return (!choices.iter().any(|choice| choice == text))
            .then(|| format!("must be one of {}", choices.join(", ")));
    }
    let length = text.chars().count() as u64;
    let bound = |name: &str| field.get(name).and_then(Value::as_u64);
    match (bound("minLength"), bound("maxLength")) {
        (Some(least), _) if length < least => return Some(format!("must have at least {least} characters")),
        (_, Some(most)) if length > most => return Some(format!("must have at most {most} characters")),
        _ => (),
    }
    match field.get("format").and_then(Value::as_str) {
        Some("email") if !text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) => {
            Some("must be an email address".to_owned())
        }
        Some("uri") if url::Url::parse(text).is_err() => Some("must be a URL".to_owned()),
        Some("date") if !is_date(text) => Some("must be a date, such as 2026-01-31".to_owned()),
        Some("date-time") if text.parse::<protocol::Timestamp>().is_err() => {
            Some("must be a time, such as 2026-01-31T12:00:00Z".to_owned())
        }
        _ => None,
    }
}

fn is_date(text: &str) -> bool {
    format!("{text}T00:00:00Z").parse::<protocol::Timestamp>().is_ok() && text.len() == 10
}

fn list_refusal(field: &Value, items: &[Value]) -> Option<String> {
    let bound = |name: &str| field.get(name).and_then(Value::as_u64);
    let count = items.len() as u64;
    if bound("minItems").is_some_and(|least| count < least) || bound("maxItems").is_some_and(|most| count > most) {
        return Some("has too few or too many choices".to_owned());
    }
    let choices = field.get("items").and_then(choices).unwrap_or_default();
    let is_choice = |item: &Value| item.as_str().is_some_and(|item| choices.iter().any(|choice| choice == item));
    (!items.iter().all(is_choice)).then(|| format!("must be some of {}", choices.join(", ")))
}

/// Returns the choices of a field: `enum`, or `oneOf` or `anyOf` with a `const` each.
fn choices(field: &Value) -> Option<Vec<String>> {
    let plain = field.get("enum").and_then(Value::as_array);
    if let Some(plain) = plain {
        return Some(plain.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let titled = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array)?;
    Some(titled.iter().filter_map(|one| one.get("const")?.as_str()).map(str::to_owned).collect())
}

/// Fills in the form's defaults where a person left something out.
pub(crate) fn with_defaults(schema: &Value, content: Value) -> Value {
    let Value::Object(mut given) = content else { return json!({}) };
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(default) = field.get("default").filter(|_| !given.contains_key(name)) {
            given.insert(name.clone(), default.clone());
        }
    }
    Value::Object(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 2, "maxLength": 5 },
                "age": { "type": "integer", "minimum": 18 },
                "share": { "type": "number", "maximum": 1 },
                "sure": { "type": "boolean", "default": true },
                "colour": { "type": "string", "enum": ["red", "blue"] },
                "size": { "type": "string", "oneOf": [{ "const": "s", "title": "small" }, { "const": "l", "title": "large" }] },
                "many": { "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 2 },
                "mail": { "type": "string", "format": "email" },
                "day": { "type": "string", "format": "date" },
            },
            "required": ["name"],
        })
    }

    #[test]
    fn an_answer_is_what_was_asked_for_and_the_field_that_is_not_is_named() {
        let refused = |content: Value| answer_refusal(&form(), &content);
        let good = json!({
            "name": "ada", "age": 18, "share": 0.5, "sure": false, "colour": "red", "size": "l", "many": ["a", "b"],
            "mail": "a@b.c", "day": "2026-02-28",
        });
        assert_eq!(refused(good), None);
        for (content, named) in [
            (json!([]), "object"),
            (json!({}), "content.name"),
            (json!({ "name": "a" }), "at least 2"),
            (json!({ "name": "abcdef" }), "at most 5"),
            (json!({ "name": 1 }), "type string"),
            (json!({ "name": "ada", "age": 17 }), "at least 18"),
            (json!({ "name": "ada", "age": 18.5 }), "type integer"),
            (json!({ "name": "ada", "share": 2 }), "at most 1"),
            (json!({ "name": "ada", "sure": "yes" }), "content.sure"),
            (json!({ "name": "ada", "colour": "green" }), "red, blue"),
            (json!({ "name": "ada", "size": "small" }), "s, l"),
            (json!({ "name": "ada", "many": ["a", "c"] }), "some of a, b"),
            (json!({ "name": "ada", "many": ["a", "b", "a"] }), "too many"),
            (json!({ "name": "ada", "mail": "x" }), "mail"),
            (json!({ "name": "ada", "day": "2026-02-31" }), "date"),
            (json!({ "name": "ada", "other": 1 }), "content.other"),
            (json!({ "name": "ada", "mail": "x".repeat(70_000) }), "bytes"),
        ] {
            let sentence = refused(content.clone()).unwrap_or_else(|| panic!("{content} was taken"));
            assert!(sentence.contains(named), "{content}: {sentence}");
        }
    }

    #[test]
    fn what_was_left_out_is_the_default_of_the_form() {
        assert_eq!(with_defaults(&form(), json!({ "name": "ada" })), json!({ "name": "ada", "sure": true }));
        assert_eq!(with_defaults(&form(), json!({ "sure": false })), json!({ "sure": false }));
    }

    #[test]
    fn a_form_is_flat_and_short_and_what_is_read_of_it_is_cleaned() {
        let schema = json!({ "properties": { "a": { "type": "string", "title": "b\u{202e}\u{1b}[2Jc", "enum": ["\u{202e}"] } } });
        let (message, form) = shown("what\u{1b}[31m now?", &schema).unwrap();
        assert_eq!(message, "what now?");
        assert_eq!(form["properties"]["a"]["title"], "bc");
        assert_eq!(form["properties"]["a"]["enum"][0], "\u{202e}", "it goes back to the server as it is");
        let many: Map<String, Value> = (0..33).map(|at| (at.to_string(), json!({ "type": "string" }))).collect();
        assert_eq!(shown("", &json!({ "properties": many })), None);
        assert_eq!(shown("", &json!({ "properties": { "a": { "title": "x".repeat(20_000) } } })), None);
        assert_eq!(shown("", &json!({})), None);
    }
}
