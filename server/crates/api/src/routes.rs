//! All routes. Those of operations come from the list of operations; the others are on this page.

use axum::{
    Router,
    extract::{Request, State},
    handler::Handler,
    http::StatusCode,
    response::Response,
    routing::{MethodFilter, any, delete, get, on, post},
};
use backend::{MCP_CALLBACK, MCP_CLIENT};
use protocol::{
    ApiError, ErrorCode,
    operation::{Facts, Method, Operation},
    operations::{self, Command, EachCommand, EachQuery, Query, ToCommand, ToQuery, each_command, each_query},
};
use tower_http::{CompressionLevel, compression::CompressionLayer};

use crate::{
    Api,
    answer::problem,
    events, guard, mcp, mcp_login,
    openapi::{self, BY_HAND},
    rest,
    sent::{self, Read},
    service, terminal,
};

impl Api {
    /// `/api`, `/mcp`, `/metrics`, `/healthz`, `/readyz`. It has no fallback of its own, so it can be merged with the
    /// pages.
    ///
    /// Without [`Api::guard`], which identifies the caller, it answers `unauthorized` to everything but `/healthz`.
    pub fn router(&self) -> Router {
        router(self.clone())
    }
}

/// The routes as they are collected.
#[derive(Default)]
pub(crate) struct Table {
    router: Router<Api>,
    /// The method and path of each, for the test that compares them with the OpenAPI document.
    pub(crate) listed: Vec<(&'static str, &'static str)>,
}

impl Table {
    /// Adds one operation of the list.
    fn operation<T: 'static>(&mut self, facts: &Facts, handler: impl Handler<T, Api>) {
        let (filter, word) = match facts.method {
            Method::Get => (MethodFilter::GET, "get"),
            Method::Post => (MethodFilter::POST, "post"),
            Method::Put => (MethodFilter::PUT, "put"),
            Method::Patch => (MethodFilter::PATCH, "patch"),
            Method::Delete => (MethodFilter::DELETE, "delete"),
        };
        self.listed.push((word, facts.path));
        self.router = std::mem::take(&mut self.router).route(facts.path, on(filter, handler));
    }

    // Not generic: a separate handler for each operation would make up most of this crate's compiled code.
    fn command(&mut self, facts: &Facts, read: Read<Command>) {
        self.operation(facts, move |State(api): State<Api>, request: Request| sent::command(read, api, request));
    }

    fn query(&mut self, facts: &Facts, read: Read<Query>) {
        self.operation(facts, move |State(api): State<Api>, request: Request| sent::query(read, api, request));
    }

    fn own<O: Operation, T: 'static>(&mut self, handler: impl Handler<T, Api>) {
        self.operation(&O::FACTS, handler);
    }
}

impl EachCommand for Table {
    fn see<C: ToCommand>(&mut self) {
        if !BY_HAND.contains(&C::FACTS.id) {
            self.command(&C::FACTS, sent::command_of::<C>);
        }
    }
}

impl EachQuery for Table {
    fn see<Q: ToQuery>(&mut self) {
        self.query(&Q::FACTS, sent::query_of::<Q>);
    }
}

macro_rules! routes {
    ($table:ident: $($method:ident $path:literal => $handler:path;)*) => {
        $(
            $table.listed.push((stringify!($method), $path));
            $table.router = std::mem::take(&mut $table.router).route($path, $method($handler));
        )*
    };
}

pub(crate) fn table() -> Table {
    let mut table = Table::default();
    each_query(&mut table);
    each_command(&mut table);

    table.own::<operations::Runtimes, _>(rest::server::runtimes);
    table.own::<operations::WhoAreYou, _>(rest::server::about);
    table.own::<operations::Link, _>(rest::server::link);
    table.own::<operations::ModelProviders, _>(rest::server::providers);
    table.own::<operations::Agents, _>(rest::server::agents);
    table.own::<operations::Models, _>(rest::server::models);
    table.own::<operations::TestProvider, _>(rest::server::test_provider);
    table.own::<operations::SetKey, _>(rest::server::set_key);
    table.own::<operations::ForgetKey, _>(rest::server::forget_key);
    table.own::<operations::Profiles, _>(rest::server::profiles);
    table.own::<operations::Walls, _>(rest::server::walls);
    table.own::<operations::McpServers, _>(rest::mcp::servers);
    table.own::<operations::RestartMcpServer, _>(rest::mcp::restart);
    table.own::<operations::McpServerLog, _>(rest::mcp::log);
    table.own::<operations::LogInToMcpServer, _>(rest::mcp::log_in);
    table.own::<operations::LogOutOfMcpServer, _>(rest::mcp::log_out);
    table.own::<operations::Tools, _>(rest::server::tools);
    table.own::<operations::Sessions, _>(rest::server::sessions);
    table.own::<operations::EndSession, _>(rest::server::end_session);
    table.own::<operations::EndOtherSessions, _>(rest::server::end_other_sessions);
    table.own::<operations::MakeLoginCode, _>(rest::server::login_code);
    table.own::<operations::Previews, _>(rest::previews::previews);
    table.own::<operations::OpenPreview, _>(rest::previews::open);
    table.own::<operations::ClosePreview, _>(rest::previews::close);

    routes! { table:
        post   "/api/v1/runtimes"                                          => rest::runtimes::add;
        delete "/api/v1/runtimes/{runtime_id}"                             => rest::runtimes::remove;
        get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/previews/{port}" => rest::previews::enter;
        get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/terminal" => terminal::terminal;
        get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/transcript" => rest::journal::transcript;
        get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/records/{seq}" => rest::journal::record;
        get    "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/export"  => rest::export::export;
        post   "/api/v1/import"                                            => rest::export::import;
        post   "/api/v1/blobs"                                             => rest::blobs::keep;
        get    "/api/v1/blobs/{blob}"                                      => rest::blobs::read;
        get    "/api/v1/events"                                            => events::events;

        get    "/api/v1/openapi.json"                                      => openapi::openapi;
        get    "/api/docs"                                                 => openapi::docs;
        get    "/metrics"                                                  => service::metrics;
        get    "/healthz"                                                  => service::healthz;
        get    "/readyz"                                                   => service::readyz;
    }
    table
}

/// The routes, and a 404 in our own form for everything else under `/api`.
pub(crate) fn router(api: Api) -> Router {
    // The layer itself skips event streams, and a socket has no body to compress.
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    table()
        .router
        .method_not_allowed_fallback(wrong_method)
        .route(guard::MCP_PATH, any(mcp::answer))
        .route(&format!("{MCP_CALLBACK}{{name}}"), get(mcp_login::come_back))
        .route(&format!("{MCP_CLIENT}{{name}}"), get(mcp_login::client))
        .route("/api", any(nothing_here))
        .route("/api/", any(nothing_here))
        .route("/api/{*rest}", any(nothing_here))
        .layer(compression)
        .with_state(api)
}

async fn nothing_here(request: Request) -> Response {
    let path = request.uri().path();
    problem(ApiError::new(ErrorCode::NotFound, format!("there is nothing at {path}; /api/docs lists what there is")))
}

/// The router adds `Allow`.
async fn wrong_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let mut answer =
        problem(ApiError::new(ErrorCode::MethodNotAllowed, format!("{path} does not take {method}; see `Allow`")));
    *answer.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    answer
}
