//! Uploads and downloads of pictures and files. Whatever they contain, a browser must not run any of it.

use axum::{
    Json,
    body::{Body, Bytes},
    extract::{FromRequest, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use protocol::{ApiError, BlobId, BlobView, ErrorCode};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Within, invalid},
};

/// The types that are served to browsers as they are. Everything else is served as a download: SVG, HTML and PDF can
/// run code.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Bodies that a form produces, which are not the file itself.
const FORMS: [&str; 2] = ["multipart/form-data", "application/x-www-form-urlencoded"];
/// The most bytes of a media type.
const MEDIA_TYPE_BYTES_MAX: usize = 127;

/// The upload: its bytes, and the declared media type.
#[derive(Debug)]
pub(crate) struct Sent {
    media_type: String,
    body: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media_type = media_type(request.headers())?;
        let body = Bytes::from_request(request, state).await.map_err(|error| invalid(error.body_text()))?;
        Ok(Self { media_type, body })
    }
}

/// The single media type of the body, in lower case and without parameters.
fn media_type(headers: &HeaderMap) -> Result<String, Problem> {
    let wanted = || {
        invalid(
            "the body is the file itself: send it with one `Content-Type` that says what it is, such as `image/png`",
        )
    };
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(Ok(value)), None) = (values.next().map(HeaderValue::to_str), values.next()) else { return Err(wanted()) };
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |word: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !word.is_empty() && word.bytes().all(is_letter)
    };
    let is_one = media_type.len() <= MEDIA_TYPE_BYTES_MAX
        && media_type.split_once('/').is_some_and(|(kind, name)| is_token(kind) && is_token(name));
    match is_one && !FORMS.contains(&media_type.as_str()) {
        true => Ok(media_type),
        false => Err(wanted()),
    }
}

/// Stores a picture or a file, once: the same content has the same name.
///
/// The body is the file itself, up to 20 MiB, with its media type. Its bytes decide whether it is a picture;
/// PNG, JPEG, GIF and WebP are stored without their metadata, such as the place where a picture was taken.
#[utoipa::path(post, path = "/api/v1/blobs", tag = "journal", operation_id = "keep_blob",
    request_body(content((String = "application/octet-stream"), (String = "image/png"), (String = "text/plain"))),
    responses((status = 201, description = "What is stored", body = BlobView)))]
pub(crate) async fn keep(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent { media_type, body }: Sent,
) -> Result<(StatusCode, Json<BlobView>), Problem> {
    Ok((StatusCode::CREATED, Json(api.backend().blobs().keep(&origin, media_type, body).await?)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    blob: String,
}

/// A picture or a file as it is stored.
///
/// PNG, JPEG, GIF and WebP are sent as such; everything else as `application/octet-stream`, to be saved and
/// not displayed.
#[utoipa::path(get, path = "/api/v1/blobs/{blob}", tag = "journal", operation_id = "read_blob",
    params(("blob" = String, Path, description = "64 hex digits")),
    responses((status = 200, description = "Its bytes", content((String = "application/octet-stream"), (String = "image/png")))))]
pub(crate) async fn read(
    State(api): State<Api>,
    _: Caller,
    Within(Named { blob }): Within<Named>,
) -> Result<Response, Problem> {
    let not_here = || Problem(ApiError::new(ErrorCode::NotFound, "no picture or file of this name is kept here"));
    let id = BlobId::parse(&blob).map_err(|_| not_here())?;
    let (view, body) = api.backend().blobs().read(&id).await?.ok_or_else(not_here)?;
    let shown = SHOWN.into_iter().find(|shown| *shown == view.media_type);
    let (kind, disposition) = shown.map_or(("application/octet-stream", "attachment"), |shown| (shown, "inline"));
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        // An id stands for the same content forever.
        (header::CACHE_CONTROL, "private, max-age=86400, immutable"),
    ];
    Ok((headers, Body::from(body)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_media_type_and_comes_as_it_is() {
        let of = |value: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]);
            media_type(&headers).map_err(|problem| problem.0.code)
        };
        for (said, taken) in [
            ("image/png", "image/png"),
            ("Text/Plain; charset=utf-8", "text/plain"),
            ("application/vnd.a-b+json", "application/vnd.a-b+json"),
        ] {
            assert_eq!(of(said).as_deref(), Ok(taken));
        }
        let long = format!("a/{}", "b".repeat(200));
        for bad in ["", "png", "image/", "/png", "a/b/c", "a b/c", "multipart/form-data; boundary=x", &long] {
            assert_eq!(of(bad), Err(ErrorCode::InvalidInput), "{bad}");
        }
        assert!(media_type(&HeaderMap::new()).is_err());
    }
}
