//! Pictures and files attached to messages: stored once, and identified by their content.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use crate::NameError;

/// The largest picture or file that is stored, in bytes.
pub const BLOB_BYTES_MAX: usize = 20 * 1024 * 1024;

/// The maximum number of pictures and files in one message.
pub const BLOBS_OF_MESSAGE_MAX: usize = 20;

/// The longest name of a picture or file, in bytes.
pub const BLOB_NAME_BYTES_MAX: usize = 255;

/// The name of stored content: its SHA-256, as 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
pub struct BlobId(String);

impl BlobId {
    /// # Errors
    /// If it is not 64 characters of `0-9a-f`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match text.len() == 64 && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError::new("a blob is named by 64 characters of 0-9 and a-f")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for BlobId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for BlobId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<BlobId> for String {
    fn from(blob: BlobId) -> Self {
        blob.0
    }
}

/// What is known about stored content. Answer of `POST /api/v1/blobs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BlobView {
    pub blob: BlobId,
    pub media_type: String,
    pub bytes: u64,
}

/// The blobs that a record refers to, as they were when the record was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Blobs(pub Vec<BlobView>);

impl Blobs {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn find(&self, blob: &BlobId) -> Option<&BlobView> {
        self.0.iter().find(|view| view.blob == *blob)
    }
}

/// `null` is read as an empty list.
impl<'de> Deserialize<'de> for Blobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_named_by_its_hash_alone() {
        let digits = "0123456789abcdef".repeat(4);
        assert_eq!(BlobId::parse(&digits).unwrap().as_str(), digits);
        for bad in ["", "abc", &digits.to_uppercase(), &digits[1..], &format!("{digits}0"), &digits.replace('0', "/")] {
            assert!(BlobId::parse(bad).is_err(), "{bad}");
        }
    }
}
