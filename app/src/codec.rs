//! The encoding of server functions: JSON both ways.
//!
//! The framework has one codec for server functions and one for the data embedded in a page, and each is compiled
//! again for every type. This one serves both and is small ([`tree`]).

mod tree;

use std::future::Future;

use leptos::{
    prelude::Resource,
    server::codee::{Decoder, Encoder},
    server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType, codec::Post},
};
use serde::{Serialize, de::DeserializeOwned};

pub use self::tree::Unreadable;
pub(crate) use self::tree::read;

/// The JSON text codec.
#[derive(Debug)]
pub struct JsonText;

/// Arguments in the body of a POST request, the result in the body of its response.
pub type Json = Post<JsonText>;

#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
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
        Ok(read(text)?)
    }
}

impl<T: Serialize> Encoder<T> for JsonText {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for JsonText {
    type Error = Unreadable;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Unreadable> {
        read(text)
    }
}

/// Data that a page needs: fetched by the server while it renders the page, and embedded in it.
pub(crate) type Fetched<T> = Resource<T, JsonText>;

/// A resource that is fetched again whenever the source changes.
pub(crate) fn fetched<S, T, Fut>(
    source: impl Fn() -> S + Send + Sync + 'static,
    fetcher: impl Fn(S) -> Fut + Send + Sync + 'static,
) -> Fetched<T>
where
    S: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    Resource::new_with_options(source, fetcher, false)
}
