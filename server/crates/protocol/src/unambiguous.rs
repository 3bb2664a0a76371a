//! JSON without duplicate keys.
//!
//! A map keeps the last of two equal keys; a sender of two means one of them, and not all readers choose the same.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Parses JSON, refusing objects with duplicate keys.
pub fn unambiguous(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Unambiguous>(text).map(|Unambiguous(value)| value)
}

/// Deserializes like [`Value`], but refuses duplicate keys.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson).map(Self)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            let Unambiguous(value) = members.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"b":{"a":1,"a":2}}"#, r#"[{"b":[{"a":1,"c":2,"a":[]}]}]"#] {
            let refusal = unambiguous(text).unwrap_err().to_string();
            assert!(refusal.contains("duplicate field `a`"), "{text}: {refusal}");
        }
        assert!(unambiguous(r#"[{"a":1},{"a":{"a":[]}}]"#).is_ok());
    }

    #[test]
    fn any_other_json_reads_as_it_always_did() {
        for text in [
            "null",
            "true",
            "-7",
            "18446744073709551615",
            "1.5e3",
            "1e400",
            "\"\\ud83d\\ude00\"",
            "[]",
            "{} x",
            "{\"a\":",
            "\"\\ud800\"",
        ] {
            let expected = serde_json::from_str::<Value>(text);
            assert_eq!(unambiguous(text).ok(), expected.as_ref().ok().cloned(), "{text}");
        }
    }
}
