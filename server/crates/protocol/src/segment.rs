//! The segments of a message, and the rules of a Pod's scope.

use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value};

use crate::{BlobId, BlobView};

/// One typed piece of input, stored as such.
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
    /// A stored picture.
    Image {
        blob: BlobId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A stored file.
    File {
        blob: BlobId,
        name: String,
    },
    #[serde(untagged)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    Unknown(Map<String, Value>),
}

impl Segment {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A segment for stored content: a picture or a file, depending on its type.
    pub fn kept(BlobView { blob, media_type, .. }: &BlobView, name: String) -> Self {
        let blob = blob.clone();
        match media_type.starts_with("image/") {
            true => Self::Image { blob, name: Some(name) },
            false => Self::File { blob, name },
        }
    }

    /// The id of its stored content, if it has any.
    pub fn blob(&self) -> Option<&BlobId> {
        match self {
            Self::Image { blob, .. } | Self::File { blob, .. } => Some(blob),
            _ => None,
        }
    }

    /// Its text, for search and for a model. A file reference reads as `@path`.
    pub fn as_text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text { text } | Self::Paste { text } => text.as_str().into(),
            Self::FileRef { path } => format!("@{path}").into(),
            Self::Image { name: None, .. } => "[image]".into(),
            Self::Image { name: Some(name), .. } => format!("[image {name}]").into(),
            Self::File { name, .. } => format!("[file {name}]").into(),
            Self::Unknown(map) => serde_json::to_string(map).unwrap_or_default().into(),
        }
    }

    /// A whole message as one text: one line per segment, except that a file named within a sentence stays in it.
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

    /// The length of a message's text in bytes.
    pub fn bytes(segments: &[Self]) -> usize {
        segments.iter().map(|segment| segment.as_text().len()).sum()
    }

    /// `None` if it does not have the form of this version.
    fn of_fields(fields: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let blob = BlobId::parse(text("blob")?).ok()?;
        let name = text("name").map(str::to_owned);
        match text("type")? {
            "image" => Some(Self::Image { blob, name }),
            _ => Some(Self::File { blob, name: name? }),
        }
    }

    /// Whether both are on the same line, as a file named within a sentence.
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
            Some("image" | "file") => Ok(Self::of_fields(&map).unwrap_or(Self::Unknown(map))),
            Some(_) => Ok(Self::Unknown(map)),
            None => Err(de::Error::custom("a segment needs a `type`")),
        }
    }
}

/// A segment as sent by a client: of a known type, with exactly the fields of that type.
///
/// A record is read more leniently (see [`Segment::Unknown`]), because it exists already.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields, try_from = "SentFields")]
pub(crate) enum SentSegment {
    Text {
        text: String,
    },
    Paste {
        text: String,
    },
    FileRef {
        path: String,
    },
    Image {
        blob: BlobId,
        #[serde(default)]
        name: Option<String>,
    },
    File {
        blob: BlobId,
        name: String,
    },
}

/// The union of all fields. A derived deserializer for a tagged type buffers the fields, and its errors then lack the
/// position in the message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentFields {
    r#type: SentType,
    #[serde(default, deserialize_with = "there")]
    text: Option<String>,
    #[serde(default, deserialize_with = "there")]
    path: Option<String>,
    #[serde(default, deserialize_with = "there")]
    blob: Option<BlobId>,
    #[serde(default, deserialize_with = "there")]
    name: Option<Option<String>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentType {
    Text,
    Paste,
    FileRef,
    Image,
    File,
}

/// Absent or a value; null is one for a name alone, which a picture need not have.
fn there<'de, T: Deserialize<'de>, D: de::Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl SentType {
    /// The fields that it has; no others are accepted.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Text | Self::Paste => &["text"],
            Self::FileRef => &["path"],
            Self::Image | Self::File => &["blob", "name"],
        }
    }
}

impl TryFrom<SentFields> for SentSegment {
    type Error = String;

    fn try_from(SentFields { r#type, text, path, blob, name }: SentFields) -> Result<Self, Self::Error> {
        let there =
            [("text", text.is_some()), ("path", path.is_some()), ("blob", blob.is_some()), ("name", name.is_some())];
        let own = r#type.fields();
        if let Some((field, _)) = there.iter().find(|(field, is_there)| *is_there && !own.contains(field)) {
            return Err(format!("unknown field `{field}`, expected `{}`", own.join("`, `")));
        }
        let missing = |field: &str| format!("missing field `{field}`");
        Ok(match r#type {
            SentType::Text => Self::Text { text: text.ok_or_else(|| missing("text"))? },
            SentType::Paste => Self::Paste { text: text.ok_or_else(|| missing("text"))? },
            SentType::FileRef => Self::FileRef { path: path.ok_or_else(|| missing("path"))? },
            SentType::Image => Self::Image { blob: blob.ok_or_else(|| missing("blob"))?, name: name.flatten() },
            SentType::File => {
                let blob = blob.ok_or_else(|| missing("blob"))?;
                Self::File { blob, name: name.flatten().ok_or_else(|| missing("name"))? }
            }
        })
    }
}

/// Deserializes the segments of a message sent by a client.
pub(crate) fn sent<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<Segment>, D::Error> {
    let segments = Vec::<SentSegment>::deserialize(deserializer)?;
    let taken = |segment| match segment {
        SentSegment::Text { text } => Segment::Text { text },
        SentSegment::Paste { text } => Segment::Paste { text },
        SentSegment::FileRef { path } => Segment::FileRef { path },
        SentSegment::Image { blob, name } => Segment::Image { blob, name },
        SentSegment::File { blob, name } => Segment::File { blob, name },
    };
    Ok(segments.into_iter().map(taken).collect())
}

/// What a scope rule grants or denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
    Deny,
}

impl Access {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Deny => "deny",
        }
    }
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
        let blob = BlobId::parse(&"0a".repeat(32)).unwrap();
        let image = format!(r#"{{"type":"image","blob":"{blob}"}}"#);
        assert_eq!(sent(&image).unwrap(), [Segment::Image { blob: blob.clone(), name: None }]);
        assert_eq!(serde_json::to_string(&sent(&image).unwrap()[0]).unwrap(), image);
        let nameless = format!(r#"{{"type":"image","blob":"{blob}","name":null}}"#);
        assert_eq!(sent(&nameless).unwrap(), sent(&image).unwrap(), "as the description of the API has it");
        let kept = format!(r#"{{"type":"file","blob":"{blob}","name":"a.txt"}}"#);
        assert_eq!(sent(&kept).unwrap(), [Segment::File { blob: blob.clone(), name: "a.txt".to_owned() }]);
        assert_eq!(serde_json::from_str::<Segment>(&kept).unwrap(), sent(&kept).unwrap()[0]);
        for bad in [
            r#"{"type":"text","text":"a","path":"b"}"#,
            r#"{"type":"text","text":"a","text":"b"}"#,
            r#"{"type":"text","type":"paste","text":"a"}"#,
            r#"{"type":"image","url":"a"}"#,
            r#"{"type":"image","blob":"a"}"#,
            r#"{"type":"image"}"#,
            &kept.replace(r#","name":"a.txt""#, r#""#),
            &kept.replace(r#""a.txt""#, "null"),
            r#"{"type":"text","text":null}"#,
            r#"{"type":"text","text":"a","name":null}"#,
            &kept.replace("blob", "path"),
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
