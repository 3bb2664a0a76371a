//! Parses JSON from an untrusted Pod, with a limit on its size in memory.
//!
//! 64 MiB of `[1,1,1…` would be gigabytes as values, so values are counted while parsing.

use std::{cell::Cell, fmt};

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The maximum number of values in one line: tens of megabytes as a tree.
pub(crate) const VALUES_MAX: usize = 500_000;

/// The error for a line with more.
const TOO_MANY: &str = "too many values";

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable {
    NotJson(String),
    TooManyValues,
}

/// Parses one line.
pub(crate) fn read(line: &[u8]) -> Result<Value, Unreadable> {
    let left = Cell::new(VALUES_MAX);
    let mut source = serde_json::Deserializer::from_slice(line);
    let read = Counted(&left).deserialize(&mut source).and_then(|value| source.end().map(|()| value));
    read.map_err(|error| match left.get() {
        0 => Unreadable::TooManyValues,
        _ => Unreadable::NotJson(error.to_string()),
    })
}

/// A value, with the number of values still allowed.
struct Counted<'a>(&'a Cell<usize>);

impl<'a> Counted<'a> {
    fn another<E: de::Error>(&self) -> Result<Counted<'a>, E> {
        match self.0.get().checked_sub(1) {
            Some(left) if left > 0 => {
                self.0.set(left);
                Ok(Counted(self.0))
            }
            _ => {
                self.0.set(0);
                Err(E::custom(TOO_MANY))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.another()?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            map.insert(name, fields.next_value_seed(self.another()?)?);
        }
        Ok(Value::Object(map))
    }
}

/// The text under a name; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The number under a name; 0 if there is none.
pub(crate) fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// The list under a name; empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether the field is present and true.
pub(crate) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_read_as_it_is() {
        let line = json!({ "event": "x", "data": { "a": [1, -2, 1.5, true, null, "té\n"], "b": {} } });
        assert_eq!(read(line.to_string().as_bytes()), Ok(line));
    }

    #[test]
    fn what_is_no_json_or_would_be_too_large_in_memory_is_refused() {
        for bad in ["", "{", "{} {}", "nonsense", "{\"a\":1e999}\u{0}"] {
            assert!(matches!(read(bad.as_bytes()), Err(Unreadable::NotJson(_))), "{bad:?}");
        }
        assert!(matches!(read(&[b'"', 0xff, b'"']), Err(Unreadable::NotJson(_))));
        let many = format!("[{}1]", "1,".repeat(VALUES_MAX));
        assert_eq!(read(many.as_bytes()), Err(Unreadable::TooManyValues));
        let deep = "[".repeat(100_000);
        assert!(matches!(read(deep.as_bytes()), Err(Unreadable::NotJson(_))), "it does not end the process");
    }
}
