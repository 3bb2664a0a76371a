//! MCP servers: what is known about them, restarts, logs and logins.

use axum::{Extension, extract::State, response::Response};
use backend::ReturnAddress;
use protocol::{
    Listing,
    operations::{LogInToMcpServer, LogOutOfMcpServer, McpServerLog, McpServers, RestartMcpServer},
};

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Login},
    sent::{Sent, reply},
};

pub(crate) async fn servers(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<McpServers>,
) -> Result<Response, Problem> {
    reply(&asked, Listing { items: api.backend().servers().items(), next: None })
}

pub(crate) async fn restart(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(asked): Sent<RestartMcpServer>,
) -> Result<Response, Problem> {
    let item = api.backend().servers().restart(&origin, &asked.name).await?;
    reply(&asked, item)
}

pub(crate) async fn log_in(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(session): Login,
    Extension(back): Extension<ReturnAddress>,
    Sent(asked): Sent<LogInToMcpServer>,
) -> Result<Response, Problem> {
    let login = api.backend().servers().log_in(&origin, &asked.name, &back, session.as_ref()).await?;
    reply(&asked, login)
}

pub(crate) async fn log_out(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(asked): Sent<LogOutOfMcpServer>,
) -> Result<Response, Problem> {
    let item = api.backend().servers().log_out(&origin, &asked.name).await?;
    reply(&asked, item)
}

pub(crate) async fn log(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<McpServerLog>,
) -> Result<Response, Problem> {
    reply(&asked, api.backend().servers().log(&asked.name)?)
}
