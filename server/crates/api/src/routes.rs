//! All routes on one page.

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    response::Response,
    routing::{any, delete, get, patch, post},
};
use protocol::{ApiError, ErrorCode};
use tower_http::{CompressionLevel, compression::CompressionLayer};

use crate::{Api, answer::problem, events, rest, service};

macro_rules! routes {
    ($($method:ident $path:literal => $handler:path;)*) => {
        /// Method and path of each route, for the test that compares them with the OpenAPI document.
        #[cfg(test)]
        pub(crate) const TABLE: &[(&str, &str)] = &[$((stringify!($method), $path),)*];

        fn table() -> Router<Api> {
            Router::new()$(.route($path, $method($handler)))*
        }
    };
}

routes! {
    get    "/api/v1/runtimes"                                          => rest::runtimes::runtimes;
    post   "/api/v1/runtimes"                                          => rest::runtimes::add;
    delete "/api/v1/runtimes/{runtime_id}"                             => rest::runtimes::remove;
    get    "/api/v1/about"                                             => rest::runtimes::about;
    post   "/api/v1/link"                                              => rest::link::exchange;
    get    "/api/v1/providers"                                         => rest::runtimes::providers;
    post   "/api/v1/providers/{name}/test"                             => rest::settings::test_provider;
    get    "/api/v1/profiles"                                          => rest::settings::profiles;
    get    "/api/v1/walls"                                             => rest::settings::walls;
    get    "/api/v1/tools"                                             => rest::settings::tools;

    get    "/api/v1/pods"                                              => rest::pods::pods;
    post   "/api/v1/pods"                                              => rest::pods::create;
    get    "/api/v1/pods/resolve"                                      => rest::pods::resolve;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}"         => rest::pods::pod;
    patch  "/api/v1/runtimes/{runtime_id}/workers/{worker_id}"         => rest::pods::patch;
    delete "/api/v1/runtimes/{runtime_id}/workers/{worker_id}"         => rest::pods::delete;

    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/input"   => rest::commands::input;
    delete "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/input/{command_id}" => rest::commands::take_back;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/pause"   => rest::commands::pause;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/resume"  => rest::commands::resume;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/cancel"  => rest::commands::cancel;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/stop"    => rest::commands::stop;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/restore" => rest::commands::restore;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/compact" => rest::commands::compact;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/compact" => rest::journal::compaction_preview;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/rewind"  => rest::commands::rewind;

    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/tools/{name}"   => rest::tools::run;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/approvals"      => rest::tools::approvals;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/approvals/{id}" => rest::tools::answer;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/visible"        => rest::tools::visible;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/files"          => rest::tools::files;

    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers"                        => rest::peers::peers;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers"                        => rest::peers::introduce;
    delete "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/{peer_runtime_id}/{peer_worker_id}"          => rest::peers::unlink;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/{peer_runtime_id}/{peer_worker_id}/messages" => rest::peers::exchange;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/requests/{request_id}"  => rest::peers::decide_request;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/messages"                     => rest::peers::send;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/messages/{message_id}"        => rest::peers::decide_held;
    get    "/api/v1/requests"                                                               => rest::peers::open_requests;

    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews"        => rest::previews::previews;
    post   "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews"        => rest::previews::open;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}" => rest::previews::enter;
    delete "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}" => rest::previews::close;

    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/transcript" => rest::journal::transcript;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/records/{seq}" => rest::journal::record;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/history"    => rest::journal::history;
    get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/export"     => rest::export::export;
    post   "/api/v1/import"                                            => rest::export::import;
    get    "/api/v1/usage"                                             => rest::lists::usage;
    get    "/api/v1/search"                                            => rest::lists::search;
    get    "/api/v1/audit"                                             => rest::lists::audit;
    get    "/api/v1/rules"                                             => rest::settings::rules;

    get    "/api/v1/sessions"                                          => rest::settings::sessions;
    delete "/api/v1/sessions"                                          => rest::settings::end_others;
    delete "/api/v1/sessions/{id}"                                     => rest::settings::end;
    post   "/api/v1/login-codes"                                       => rest::settings::login_code;

    get    "/api/v1/events"                                            => events::events;

    get    "/api/v1/openapi.json"                                      => service::openapi;
    get    "/api/docs"                                                 => service::docs;
    get    "/metrics"                                                  => service::metrics;
    get    "/healthz"                                                  => service::healthz;
    get    "/readyz"                                                   => service::readyz;
}

/// The routes, and a 404 in our own shape for all else under `/api`.
pub(crate) fn router(api: Api) -> Router {
    // Event streams are left alone by the layer itself, and a socket has no body to compress.
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    table()
        .method_not_allowed_fallback(wrong_method)
        .route("/api", any(nothing_here))
        .route("/api/", any(nothing_here))
        .route("/api/{*rest}", any(nothing_here))
        .layer(compression)
        .with_state(api)
}

async fn nothing_here(request: Request) -> Response {
    let path = request.uri().path();
    problem(ApiError::new(ErrorCode::NotFound, format!("nothing is at {path}; /api/docs lists what there is")))
}

/// The router adds `Allow`.
async fn wrong_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let mut answer =
        problem(ApiError::new(ErrorCode::MethodNotAllowed, format!("{path} does not take {method}; see `Allow`")));
    *answer.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    answer
}
