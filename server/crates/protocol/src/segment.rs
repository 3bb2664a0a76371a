//! What a person sends, and the rules of what a Pod may touch.

use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value};

/// One typed piece of input, kept as such.
///
/// A type that this version does not know is kept whole as [`Segment::Unknown`] when it is read; the server
/// refuses it as input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Segment {
    Text {
        text: String,
    },
    Paste {
        text: String,
    },
    FileRef {
        path: String,
    },
    #[serde(untagged)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    Unknown(Map<String, Value>),
}

impl Segment {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The words in it, for search and for a model. A file reference reads as `@path`.
    pub fn as_text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text { text } | Self::Paste { text } => text.as_str().into(),
            Self::FileRef { path } => format!("@{path}").into(),
            Self::Unknown(map) => serde_json::to_string(map).unwrap_or_default().into(),
        }
    }
}

impl<'de> Deserialize<'de> for Segment {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        let field = |name: &str| {
            map.get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .ok_or_else(|| de::Error::custom(format!("a segment of this type needs a text field `{name}`")))
        };
        match map.get("type").and_then(Value::as_str) {
            Some("text") => Ok(Self::Text { text: field("text")? }),
            Some("paste") => Ok(Self::Paste { text: field("text")? }),
            Some("file_ref") => Ok(Self::FileRef { path: field("path")? }),
            Some(_) => Ok(Self::Unknown(map)),
            None => Err(de::Error::custom("a segment needs a `type`")),
        }
    }
}

/// What a rule gives or takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
    Deny,
}

/// One rule of a Pod's scope: an absolute path and what may be done beneath it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScopeRule {
    pub path: String,
    pub access: Access,
    #[serde(default = "recursive_by_default")]
    pub recursive: bool,
}

fn recursive_by_default() -> bool {
    true
}
