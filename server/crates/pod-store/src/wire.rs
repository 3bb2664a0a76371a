//! How parts of a batch are sent from one host to another, as JSON.

use protocol::{ControlEvent, TurnEvent};
use serde::{Deserialize, Deserializer, de::Error};

/// Bytes that are text.
pub(crate) mod text {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer, ser::Error};

    pub(crate) fn serialize<S: Serializer>(body: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(body).map_err(S::Error::custom)?)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        String::deserialize(deserializer).map(Bytes::from)
    }
}

/// The kind of an event. The alias keeps serde's derive from treating the field as borrowed from the input.
pub(crate) type Kind = &'static str;

/// Maps the kind of an event to its static string.
pub(crate) fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = TurnEvent::KINDS.iter().chain(ControlEvent::KINDS);
    known.copied().find(|kind| *kind == text).ok_or_else(|| D::Error::custom(format!("no event is called \"{text}\"")))
}
