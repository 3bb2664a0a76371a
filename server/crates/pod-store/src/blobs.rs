//! Pictures and files attached to conversations, each stored once.

use std::fmt;

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{BlobId, BlobView};

/// A blob with its content.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobRow {
    /// Its id is the SHA-256 of the body, which the caller guarantees.
    pub view: BlobView,
    pub body: Bytes,
    pub created_at: Timestamp,
}

/// Leaves out the body, which does not belong in a log.
impl fmt::Debug for BlobRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlobRow").field("view", &self.view).finish_non_exhaustive()
    }
}

/// The blobs that a record refers to. Quotes within a text are escaped, so no spoken text can match.
pub(crate) fn named_in(record: &[u8]) -> impl Iterator<Item = &str> {
    const BEFORE: &[u8] = b"\"blob\":\"";
    let places = record.windows(BEFORE.len()).enumerate().filter(|(_, window)| *window == BEFORE);
    places.filter_map(|(at, _)| {
        let rest = &record[at + BEFORE.len()..];
        let end = rest.iter().position(|byte| *byte == b'"')?;
        str::from_utf8(&rest[..end]).ok().filter(|name| BlobId::parse(name).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_what_its_own_fields_name() {
        let (one, two) = ("0a".repeat(32), "0b".repeat(32));
        let said =
            format!(r#"{{"segments":[{{"type":"image","blob":"{one}"}}],"blobs":[{{"blob":"{two}","bytes":1}}]}}"#);
        assert_eq!(named_in(said.as_bytes()).collect::<Vec<_>>(), [&one, &two]);
        let quoted = serde_json::json!({ "text": said, "blob": "short", "end": "\"blob\":\"" }).to_string();
        assert_eq!(named_in(quoted.as_bytes()).count(), 0);
    }
}
