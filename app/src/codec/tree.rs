//! Deserializes JSON with little code per type, to keep the browser's half small.
//!
//! serde_json's deserializer is compiled again for every type. Here the text is parsed once into a tree, by code
//! shared by all types, and little is left for each of them. In return a struct must be an object, never an array,
//! and an error names a field but does not list all that were expected.

use std::fmt;

use serde::{
    de::{
        self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, Unexpected,
        VariantAccess, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Value};

/// Why a text does not deserialize into the type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// Deserializes a value from JSON text.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    T::deserialize(Tree(parsed(text)?))
}

#[inline(never)]
fn parsed(text: &str) -> Result<Value, Unreadable> {
    serde_json::from_str(text).map_err(|error| Unreadable(error.to_string()))
}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    fn invalid_type(_found: Unexpected<'_>, _expected: &dyn Expected) -> Self {
        another_kind()
    }

    fn invalid_value(_found: Unexpected<'_>, _expected: &dyn Expected) -> Self {
        another_kind()
    }

    fn invalid_length(_found: usize, _expected: &dyn Expected) -> Self {
        another_kind()
    }

    fn unknown_variant(variant: &str, _known: &'static [&'static str]) -> Self {
        about("an unknown word", variant)
    }

    fn unknown_field(field: &str, _known: &'static [&'static str]) -> Self {
        about("an unknown field", field)
    }

    fn missing_field(field: &'static str) -> Self {
        about("a missing field", field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        about("twice the field", field)
    }
}

#[cold]
#[inline(never)]
fn another_kind() -> Unreadable {
    Unreadable("a value has the wrong type for its field".to_owned())
}

#[cold]
#[inline(never)]
fn about(what: &str, name: &str) -> Unreadable {
    Unreadable([what, " `", name, "`"].concat())
}

struct Tree(Value);

impl Tree {
    #[inline(never)]
    fn string(self) -> Result<String, Unreadable> {
        match self.0 {
            Value::String(text) => Ok(text),
            _ => Err(another_kind()),
        }
    }

    /// An enum variant: a word alone, or an object with one entry.
    #[inline(never)]
    fn choice(self) -> Result<Choice, Unreadable> {
        match self.0 {
            Value::String(word) => Ok(Choice { word, value: Value::Null }),
            Value::Object(fields) if fields.len() == 1 => {
                let (word, value) = fields.into_iter().next().ok_or_else(another_kind)?;
                Ok(Choice { word, value })
            }
            _ => Err(another_kind()),
        }
    }
}

fn items(items: Vec<Value>) -> SeqDeserializer<impl Iterator<Item = Tree>, Unreadable> {
    SeqDeserializer::new(items.into_iter().map(Tree))
}

fn fields<'de>(fields: Map<String, Value>) -> MapDeserializer<'de, impl Iterator<Item = (String, Tree)>, Unreadable> {
    MapDeserializer::new(fields.into_iter().map(|(name, value)| (name, Tree(value))))
}

impl<'de> IntoDeserializer<'de, Unreadable> for Tree {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Only the methods that many types use are implemented; the others forward to `deserialize_any` and add no code per
/// type.
impl<'de> Deserializer<'de> for Tree {
    type Error = Unreadable;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(is_true) => visitor.visit_bool(is_true),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, Some(number)) => visitor.visit_f64(number),
                (None, None, None) => Err(another_kind()),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(all) => visitor.visit_seq(items(all)),
            Value::Object(all) => visitor.visit_map(fields(all)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_str(&self.string()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(Self(value)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Array(all) => visitor.visit_seq(items(all)),
            _ => Err(another_kind()),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Object(all) => visitor.visit_map(fields(all)),
            _ => Err(another_kind()),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_enum(self.choice()?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }
}

/// One variant of an enum.
struct Choice {
    word: String,
    value: Value,
}

impl<'de> EnumAccess<'de> for Choice {
    type Error = Unreadable;
    type Variant = Tree;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Tree), Unreadable> {
        Ok((seed.deserialize(Tree(Value::String(self.word)))?, Tree(self.value)))
    }
}

impl<'de> VariantAccess<'de> for Tree {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<(), Unreadable> {
        self.0.is_null().then_some(()).ok_or_else(another_kind)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unreadable> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
