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

    /// A whole message as one text: a line for each segment; but a file that is named within a sentence stays in it.
    pub fn join(segments: &[Self]) -> String {
        let mut whole = String::new();
        let mut before = None;
        for segment in segments {
            if before.is_some_and(|before: &Self| !before.runs_into(segment)) {
                whole.push('\n');
            }
            whole.push_str(&segment.as_text());
            before = Some(segment);
        }
        whole
    }

    /// Bytes of text in a whole message.
    pub fn bytes(segments: &[Self]) -> usize {
        segments.iter().map(|segment| segment.as_text().len()).sum()
    }

    /// Both stand in one line: a file that is named within a sentence.
    pub fn runs_into(&self, next: &Self) -> bool {
        let goes_on = |letter: char| letter.is_whitespace() || letter.is_ascii_punctuation();
        match (self, next) {
            (Self::Text { text }, Self::FileRef { .. }) => {
                text.ends_with(|letter: char| letter.is_whitespace() || "([{\"'".contains(letter))
            }
            (Self::FileRef { .. }, Self::Text { text }) => text.starts_with(goes_on),
            _ => false,
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

/// A segment that somebody sends: of a known type, with its own fields and no others.
///
/// A record is read more leniently (see [`Segment::Unknown`]): it is there already.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields, try_from = "SentFields")]
pub(crate) enum SentSegment {
    Text { text: String },
    Paste { text: String },
    FileRef { path: String },
}

/// All fields that any of them has. What is derived for a tagged type reads a copy of the fields, and its errors do not
/// know where in the message they stand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentFields {
    r#type: SentType,
    #[serde(default, deserialize_with = "there")]
    text: Option<String>,
    #[serde(default, deserialize_with = "there")]
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentType {
    Text,
    Paste,
    FileRef,
}

/// Absent or a text, and not null.
fn there<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

impl TryFrom<SentFields> for SentSegment {
    type Error = &'static str;

    fn try_from(SentFields { r#type, text, path }: SentFields) -> Result<Self, Self::Error> {
        match (r#type, text, path) {
            (SentType::Text, Some(text), None) => Ok(Self::Text { text }),
            (SentType::Paste, Some(text), None) => Ok(Self::Paste { text }),
            (SentType::FileRef, None, Some(path)) => Ok(Self::FileRef { path }),
            (SentType::FileRef, Some(_), _) => Err("unknown field `text`, expected `path`"),
            (SentType::FileRef, None, None) => Err("missing field `path`"),
            (SentType::Text | SentType::Paste, _, Some(_)) => Err("unknown field `path`, expected `text`"),
            (SentType::Text | SentType::Paste, None, None) => Err("missing field `text`"),
        }
    }
}

/// The segments of a message that somebody sends.
pub(crate) fn sent<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<Segment>, D::Error> {
    let segments = Vec::<SentSegment>::deserialize(deserializer)?;
    let taken = |segment| match segment {
        SentSegment::Text { text } => Segment::Text { text },
        SentSegment::Paste { text } => Segment::Paste { text },
        SentSegment::FileRef { path } => Segment::FileRef { path },
    };
    Ok(segments.into_iter().map(taken).collect())
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

/// Says that a record is not whole here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cut {
    /// Bytes of the whole record, as JSON.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Segment {
        Segment::FileRef { path: path.to_owned() }
    }

    #[test]
    fn what_is_sent_has_known_types_with_their_own_fields_and_no_others() {
        let sent = |segment: &str| {
            let body = format!(r#"{{"segments":[{segment}]}}"#);
            serde_json::from_str::<crate::InputCommand>(&body).map(|input| input.segments)
        };
        assert_eq!(sent(r#"{"type":"file_ref","path":"a.rs"}"#).unwrap(), [file("a.rs")]);
        for bad in [
            r#"{"type":"text","text":"a","path":"b"}"#,
            r#"{"type":"text","text":"a","text":"b"}"#,
            r#"{"type":"text","type":"paste","text":"a"}"#,
            r#"{"type":"image","url":"a"}"#,
            r#"{"text":"a"}"#,
        ] {
            assert!(sent(bad).is_err(), "{bad}");
        }
        let newer = serde_json::from_str::<Segment>(r#"{"type":"image","url":"a"}"#).unwrap();
        assert!(matches!(newer, Segment::Unknown(_)), "a record that is there is read: {newer:?}");
    }

    #[test]
    fn a_file_within_a_sentence_stays_in_it_and_all_else_has_a_line_of_its_own() {
        let sentence =
            [Segment::text("compare "), file("a.rs"), Segment::text(" with ("), file("b.rs"), Segment::text(").")];
        assert_eq!(Segment::join(&sentence), "compare @a.rs with (@b.rs).");
        let list = [Segment::text("read"), file("a.rs"), file("b.rs"), Segment::text("and say")];
        assert_eq!(Segment::join(&list), "read\n@a.rs\n@b.rs\nand say");
        let paste = [Segment::text("why? "), Segment::Paste { text: "log".to_owned() }];
        assert_eq!(Segment::join(&paste), "why? \nlog");
        assert_eq!(Segment::join(&[]), "");
    }
}
