//! How server functions speak: JSON both ways.
//!
//! The framework's own codec reads from bytes, and what a page brings along is read from text. Each way is compiled anew
//! for every type; this one reads text too, so the browser loads one of them.

use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType, codec::Post};
use serde::{Serialize, de::DeserializeOwned};

/// JSON, read from text.
#[derive(Debug)]
pub struct JsonText;

/// Arguments in the body of a POST request, the answer in its body.
pub type Json = Post<JsonText>;

#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl ContentType for JsonText {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for JsonText {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for JsonText {
    type Error = serde_json::Error;

    fn encode(value: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_vec(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for JsonText {
    type Error = JsonError;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        let text = std::str::from_utf8(&bytes).map_err(|_| JsonError::NotUtf8)?;
        Ok(serde_json::from_str(text)?)
    }
}
