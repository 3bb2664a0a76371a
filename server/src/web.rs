//! What a browser gets: pages, server functions, assets, and the page for a missing one.

use api::problem;
use app::{App, LaterParts, shell};
use axum::{
    Router,
    extract::{Path, Request},
    handler::Handler,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use backend::{Backend, Origin};
use bundle::Accepts;
use leptos::{
    config::{Env, LeptosOptions},
    prelude::{provide_context, use_context},
};
use leptos_axum::{LeptosRoutes, generate_route_list, render_app_async_with_context};
use protocol::{ApiError, ErrorCode};
use tokio::task::spawn_blocking;
use tower_http::{CompressionLevel, compression::CompressionLayer};

use crate::pages::{Renderers, apart};

/// The path changes with the content, so nothing has to be fetched twice.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Pages show what only the logged-in person may see: going back after a logout must not show it again.
const NEVER: HeaderValue = HeaderValue::from_static("private, no-store");

/// What an installed console runs for all of its pages, although it lies below `/pkg`.
const WORKER: &str = "worker.js";

/// Pages, server functions under `/fn`, assets under `/pkg`. Everything else is a 404.
pub(crate) fn router(backend: Backend) -> Router {
    let options = LeptosOptions::builder()
        .output_name("yoi")
        .site_pkg_dir(format!("pkg/{}", bundle::HASH))
        .env(Env::PROD)
        .build();
    let context = move || {
        provide_context(backend.clone());
        provide_context(LaterParts(bundle::PARTS));
        // The guard has put the caller among the request's extensions; the login page has none.
        if let Some(origin) = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Origin>().cloned()) {
            provide_context(origin);
        }
    };
    let document = {
        let options = options.clone();
        move || shell(options.clone())
    };
    let unknown = render_app_async_with_context(context.clone(), document.clone());
    Router::new()
        .leptos_routes_with_context(&options, generate_route_list(App), context, document)
        .fallback(unknown.layer(from_fn(not_found)))
        .layer(from_fn_with_state(Renderers::new(), apart))
        .layer(from_fn(page_headers))
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .with_state(options)
        // Added after the layers: assets were compressed when the bundle was made.
        .route("/pkg/{hash}/{*path}", get(asset))
}

/// A page for people; the API's own form of an error for all others.
async fn not_found(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_page = matches!(*request.method(), Method::GET | Method::HEAD)
        && !["/fn/", "/pkg/"].iter().any(|prefix| path.starts_with(prefix));
    if !is_page {
        return problem(ApiError::new(ErrorCode::NotFound, format!("there is nothing at {path}")));
    }
    let mut page = next.run(request).await;
    if page.status() == StatusCode::OK {
        *page.status_mut() = StatusCode::NOT_FOUND;
    }
    page
}

async fn page_headers(request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    answer.headers_mut().entry(header::CACHE_CONTROL).or_insert(NEVER);
    answer
}

/// One embedded file, in the smallest encoding that the client accepts.
async fn asset(Path((hash, path)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = Accepts::parse(accepts);
    let is_worker = path == WORKER;
    let found = match (hash == bundle::HASH, accepts.brotli) {
        (false, _) => None,
        (true, true) => bundle::file(&path, accepts),
        // Other encodings are produced from the brotli one, which takes too long for a thread that serves.
        (true, false) => spawn_blocking(move || bundle::file(&path, accepts)).await.ok().flatten(),
    };
    let Some(asset) = found else {
        return problem(ApiError::new(ErrorCode::NotFound, "this file is not part of this build; load the page again"));
    };
    let etag = HeaderValue::from_str(&asset.etag).expect("an ETag is hex digits in quotes");
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|known| names(known, &asset.etag));
    let mut answer = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => axum::body::Body::from(bytes_of(asset.bytes)).into_response(),
    };
    let told = answer.headers_mut();
    if let (Some(encoding), false) = (asset.encoding, is_known) {
        told.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    told.insert(header::CACHE_CONTROL, FOREVER);
    told.insert(header::ETAG, etag);
    told.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_worker {
        told.insert("service-worker-allowed", HeaderValue::from_static("/"));
    }
    answer
}

fn bytes_of(bytes: std::borrow::Cow<'static, [u8]>) -> axum::body::Bytes {
    match bytes {
        std::borrow::Cow::Borrowed(bytes) => axum::body::Bytes::from_static(bytes),
        std::borrow::Cow::Owned(bytes) => bytes.into(),
    }
}

/// Whether a value of `If-None-Match` lists this ETag.
fn names(known: &HeaderValue, etag: &str) -> bool {
    let known = known.to_str().unwrap_or_default();
    known.split(',').map(|entry| entry.trim().trim_start_matches("W/")).any(|entry| entry == etag || entry == "*")
}
