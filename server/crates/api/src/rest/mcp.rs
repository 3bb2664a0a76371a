//! MCP servers: what is known about them, restarts and logs.

use axum::{extract::State, response::Response};
use protocol::{
    Listing,
    operations::{McpServerLog, McpServers, RestartMcpServer},
};

use crate::{
    Api,
    answer::Problem,
    extract::Caller,
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

pub(crate) async fn log(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<McpServerLog>,
) -> Result<Response, Problem> {
    reply(&asked, api.backend().servers().log(&asked.name)?)
}
