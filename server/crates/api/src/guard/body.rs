//! Request bodies: for changes, JSON of at most 4 MiB; an import may be lines, and larger, and a picture or a file is
//! sent as it is. A refusal always reaches the client.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream, HttpBody},
    http::{HeaderMap, Method, header, request::Parts},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use protocol::{ApiError, BLOB_BYTES_MAX, BODY_BYTES_MAX, ErrorCode, IMPORT_BYTES_MAX};

use crate::media::Media;

/// A refused body is still read up to this size: otherwise a client that does not read while it sends would see a reset
/// instead of the response.
const DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// What is accepted on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limits {
    /// `None`: any media type.
    media: Option<Media>,
    bytes: usize,
    /// How long a body may take.
    time: Duration,
    /// Where more would be accepted, for the error.
    way_out: &'static str,
}

const USUAL: Limits = Limits {
    media: Some(Media::Json),
    bytes: BODY_BYTES_MAX,
    time: Duration::from_secs(60),
    way_out: "; send it in parts, or write it to a file and name that file",
};
/// The path for importing a whole journal.
const IMPORT_PATH: &str = "/api/v1/import";
const IMPORT_AS_JSON: Limits = Limits {
    way_out: "; up to 64 MiB are taken as lines: `POST /api/v1/import?name=NAME` with \
              `Content-Type: application/x-ndjson`",
    ..USUAL
};
const IMPORT_AS_LINES: Limits =
    Limits { media: Some(Media::Lines), bytes: IMPORT_BYTES_MAX, time: Duration::from_secs(600), way_out: "" };
/// A file that is JSON as a whole.
const IMPORT_AS_FILE: Limits = Limits { media: Some(Media::Json), ..IMPORT_AS_LINES };

/// The path for uploading a picture or a file.
const BLOBS_PATH: &str = "/api/v1/blobs";
const BLOB: Limits = Limits { media: None, bytes: BLOB_BYTES_MAX, time: Duration::from_secs(300), way_out: "" };

impl Limits {
    fn of(parts: &Parts) -> Self {
        match (parts.uri.path(), Media::of(&parts.headers)) {
            (IMPORT_PATH, Some(Media::Lines)) => IMPORT_AS_LINES,
            (IMPORT_PATH, _) if Media::is_imported_file(&parts.headers, &parts.uri) => IMPORT_AS_FILE,
            (IMPORT_PATH, _) => IMPORT_AS_JSON,
            (BLOBS_PATH, _) => BLOB,
            _ => USUAL,
        }
    }

    fn exceeded(self) -> ApiError {
        let Self { bytes, way_out, .. } = self;
        let mebibytes = bytes >> 20;
        let detail = format!("a body has at most {bytes} bytes ({mebibytes} MiB){way_out}");
        ApiError::new(ErrorCode::PayloadTooLarge, detail)
    }
}

/// Reads the whole body, and checks its size and type.
pub(super) async fn admit(parts: &Parts, body: Body) -> Result<Body, ApiError> {
    if body.is_end_stream() {
        return Ok(body);
    }
    let limits = Limits::of(parts);
    if announced(&parts.headers).is_some_and(|bytes| bytes > limits.bytes as u64) {
        drain(&parts.headers, body).await;
        return Err(limits.exceeded());
    }
    let late = |_| {
        let detail = format!("the body took longer than {} s to arrive", limits.time.as_secs());
        ApiError::new(ErrorCode::Timeout, detail)
    };
    let bytes = tokio::time::timeout(limits.time, read(body, limits)).await.map_err(late)??;
    if !bytes.is_empty() && changes_something(&parts.method) {
        check_kind(&parts.headers, limits.media)?;
    }
    Ok(Body::from(bytes))
}

/// Reads and discards what a refused request still sends, within limits.
pub(super) async fn drain(headers: &HeaderMap, body: Body) {
    // A client that waits for "100 Continue" has sent nothing and is reading already.
    if headers.contains_key(header::EXPECT) || body.is_end_stream() {
        return;
    }
    discard(body.into_data_stream()).await;
}

/// The error when an inner layer finds a body too large.
pub(super) fn too_large() -> ApiError {
    USUAL.exceeded()
}

async fn read(body: Body, limits: Limits) -> Result<Bytes, ApiError> {
    let mut chunks = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiError::invalid("the body broke off before its end"))?;
        if bytes.len() + chunk.len() > limits.bytes {
            drop(bytes);
            discard(chunks).await;
            return Err(limits.exceeded());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

async fn discard(mut chunks: BodyDataStream) {
    let all = async {
        let mut seen = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            seen += chunk.len();
            if seen > DRAIN_BYTES_MAX {
                break;
            }
        }
    };
    // When the time is up, the response is sent with the rest unread.
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, all).await;
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn changes_something(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn check_kind(headers: &HeaderMap, media: Option<Media>) -> Result<(), ApiError> {
    if media.is_some() && Media::of(headers) != media {
        return Err(ApiError::invalid("the body has to be JSON: send it with `Content-Type: application/json`"));
    }
    // Treating an encoded body as plain would misread it, or work only by luck.
    match headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        true => Ok(()),
        false => Err(ApiError::invalid("the body has to be sent as it is, without a `Content-Encoding`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_one_media_type_and_no_encoding() {
        let check = |fields: &[(header::HeaderName, &'static str)]| {
            let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, "application/json".parse().unwrap())]);
            for (name, value) in fields {
                headers.append(name, value.parse().unwrap());
            }
            check_kind(&headers, Some(Media::Json)).map_err(|error| error.code)
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[(header::CONTENT_ENCODING, "identity")]), Ok(()));
        for (name, value) in [(header::CONTENT_TYPE, "text/plain"), (header::CONTENT_ENCODING, "gzip")] {
            assert_eq!(check(&[(name, value)]), Err(ErrorCode::InvalidInput), "{value}");
        }
    }
}
