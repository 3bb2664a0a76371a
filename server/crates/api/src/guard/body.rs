//! Bodies: at most 4 MiB, JSON where they change something. A refusal always arrives.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream, HttpBody},
    http::{HeaderMap, Method, header, request::Parts},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use protocol::{ApiError, BODY_BYTES_MAX, ErrorCode};

/// A body that is refused is still read, up to here: a client that is not listening while it sends would otherwise
/// see a reset instead of the answer.
const DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// A body that takes longer is given up.
const READ_TIME_MAX: Duration = Duration::from_secs(60);

/// Reads the whole body, and checks its size and type.
pub(super) async fn admit(parts: &Parts, body: Body) -> Result<Body, ApiError> {
    if body.is_end_stream() {
        return Ok(body);
    }
    if announced(&parts.headers).is_some_and(|bytes| bytes > BODY_BYTES_MAX as u64) {
        drain(&parts.headers, body).await;
        return Err(too_large());
    }
    let bytes = tokio::time::timeout(READ_TIME_MAX, read(body))
        .await
        .map_err(|_| ApiError::new(ErrorCode::Timeout, "the body took longer than a minute to arrive"))??;
    if !bytes.is_empty() && changes_something(&parts.method) {
        check_kind(&parts.headers)?;
    }
    Ok(Body::from(bytes))
}

/// Reads and forgets what a refused request still sends, within bounds.
pub(super) async fn drain(headers: &HeaderMap, body: Body) {
    // Who waits for "100 Continue" has sent nothing and listens already.
    if headers.contains_key(header::EXPECT) || body.is_end_stream() {
        return;
    }
    discard(body.into_data_stream(), 0).await;
}

pub(super) fn too_large() -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge, format!("a body has at most {BODY_BYTES_MAX} bytes (4 MiB)"))
}

async fn read(body: Body) -> Result<Bytes, ApiError> {
    let mut chunks = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiError::invalid("the body broke off before its end"))?;
        if bytes.len() + chunk.len() > BODY_BYTES_MAX {
            let seen = bytes.len() + chunk.len();
            drop(bytes);
            discard(chunks, seen).await;
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

async fn discard(mut chunks: BodyDataStream, mut seen: usize) {
    let all = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            seen += chunk.len();
            if seen > DRAIN_BYTES_MAX {
                break;
            }
        }
    };
    // Out of time: the answer goes out with the rest unread.
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, all).await;
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn changes_something(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn check_kind(headers: &HeaderMap) -> Result<(), ApiError> {
    if !is_json(headers) {
        return Err(ApiError::invalid("the body has to be JSON: send it with `Content-Type: application/json`"));
    }
    // Taken as it is it would be read wrongly, or by luck.
    match headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        true => Ok(()),
        false => Err(ApiError::invalid("the body has to be sent as it is, without a `Content-Encoding`")),
    }
}

/// `application/json`, once, with no charset or UTF-8.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(Ok(value)), None) = (values.next().map(|value| value.to_str()), values.next()) else { return false };
    let mut parts = value.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    json && parts.filter(|part| !part.is_empty()).all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_by_its_media_type() {
        let is = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
            is_json(&headers)
        };
        for good in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;"] {
            assert!(is(good), "{good}");
        }
        for bad in
            ["", "text/plain", "application/jsonp", "text/plain; application/json", "application/json; charset=latin1"]
        {
            assert!(!is(bad), "{bad}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn a_body_has_one_media_type_and_no_encoding() {
        let check = |fields: &[(header::HeaderName, &'static str)]| {
            let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, "application/json".parse().unwrap())]);
            for (name, value) in fields {
                headers.append(name, value.parse().unwrap());
            }
            check_kind(&headers).map_err(|error| error.code)
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[(header::CONTENT_ENCODING, "identity")]), Ok(()));
        for (name, value) in [(header::CONTENT_TYPE, "text/plain"), (header::CONTENT_ENCODING, "gzip")] {
            assert_eq!(check(&[(name, value)]), Err(ErrorCode::InvalidInput), "{value}");
        }
    }
}
