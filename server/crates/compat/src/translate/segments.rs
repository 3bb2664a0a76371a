//! Converts segments of an input from and to the older protocol.

use protocol::Segment;
use serde_json::{Map, Value, json};

use crate::{scrub::cut, values};

/// Converts to our segments; unknown kinds keep their fields.
pub(crate) fn segments_of(segments: &[Value]) -> Vec<Segment> {
    segments.iter().map(segment_of).collect()
}

fn segment_of(segment: &Value) -> Segment {
    let text = |name| cut(values::text(segment, name));
    match values::text(segment, "kind") {
        "text" => Segment::Text { text: text("content") },
        "paste" => Segment::Paste { text: text("content") },
        "file_ref" => Segment::FileRef { path: text("path") },
        kind => {
            let mut map = Map::from_iter([("type".to_owned(), Value::String(kind.to_owned()))]);
            let fields = segment.as_object().into_iter().flatten();
            for (name, value) in fields.filter(|(name, _)| !matches!(name.as_str(), "kind" | "type")) {
                map.insert(name.clone(), value.clone());
            }
            Segment::Unknown(map)
        }
    }
}

/// Converts our segments to the older protocol.
pub(crate) fn to_wire(segments: &[Segment]) -> Vec<Value> {
    let wire = |(at, segment): (usize, &Segment)| match segment {
        Segment::Text { text } => json!({ "kind": "text", "content": text }),
        Segment::Paste { text } => json!({
            "kind": "paste", "id": at + 1, "chars": text.chars().count(), "lines": text.lines().count(), "content": text
        }),
        Segment::FileRef { path } => json!({ "kind": "file_ref", "path": path }),
        // `input` refuses these beforehand: an older Pod has no place for them.
        Segment::Image { .. } | Segment::File { .. } => json!({ "kind": "text", "content": segment.as_text() }),
        Segment::Unknown(map) => Value::Object(map.clone()),
    };
    segments.iter().enumerate().map(wire).collect()
}
