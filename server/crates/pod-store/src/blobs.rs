//! Pictures and files beside conversations, each kept once.

use std::fmt;

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{BlobId, BlobView};

/// One of them, with what it holds.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobRow {
    /// Its name is the SHA-256 of the body; whoever puts it in has seen to that.
    pub view: BlobView,
    pub body: Bytes,
    pub created_at: Timestamp,
}

/// Without what it holds: that is no matter of a log.
impl fmt::Debug for BlobRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlobRow").field("view", &self.view).finish_non_exhaustive()
    }
}

/// Those that a record names. A quote within a text is escaped, so nothing that was said looks like this.
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
