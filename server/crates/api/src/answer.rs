//! The form of responses: errors are `application/problem+json`, and lists of records are joined from encoded ones.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use protocol::{ApiError, ErrorCode};

/// The media type of every error.
pub(crate) const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An error as a response.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) ApiError);

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        problem(self.0)
    }
}

/// The response for an error.
pub fn problem(error: ApiError) -> Response {
    let status = StatusCode::from_u16(error.code.status()).expect("every code's status is an HTTP status");
    let body = serde_json::to_vec(&error).expect("protocol types always encode");
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM);
    if error.code == ErrorCode::Unauthorized {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"yoi\""));
    }
    if let Some(ms) = error.retry_after_ms {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000)));
    }
    response
}

/// A page of records that were encoded when they were committed; none of them is parsed again.
pub(crate) fn records_page(items: &[Bytes], next: Option<&str>) -> Response {
    let mut body = Vec::with_capacity(64 + items.iter().map(|item| item.len() + 1).sum::<usize>());
    body.extend_from_slice(b"{\"items\":");
    join(&mut body, items);
    body.extend_from_slice(b",\"next\":");
    body.extend_from_slice(quoted_or_null(next).as_bytes());
    body.push(b'}');
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// Appends `[a,b,…]` of encoded values.
pub(crate) fn join(body: &mut Vec<u8>, items: &[Bytes]) {
    body.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(item);
    }
    body.push(b']');
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text always encodes")
}

fn quoted_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_records_are_joined_as_they_are() {
        let mut body = Vec::new();
        join(&mut body, &[]);
        join(&mut body, &[Bytes::from_static(b"{\"seq\":1}"), Bytes::from_static(b"{\"seq\":2}")]);
        assert_eq!(body, b"[][{\"seq\":1},{\"seq\":2}]");
    }

    #[test]
    fn a_problem_carries_its_status_and_media_type() {
        let response = problem(ApiError::new(ErrorCode::Busy, "busy"));
        assert_eq!(response.status(), 409);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
