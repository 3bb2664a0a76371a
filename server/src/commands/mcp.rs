use anyhow::Result;
use protocol::{McpServerItem, operation::Page, operations};

use super::Caller;
use crate::{
    cli::{McpOptions, McpVerb},
    output,
};

/// Serves MCP; with a verb, lists the MCP servers that Pods use, restarts one, logs in to it or out of it, or prints its
/// log.
pub(super) async fn mcp(caller: Caller, options: McpOptions) -> Result<()> {
    match options.verb {
        None => Ok(stdio::mcp(caller.client).await?),
        Some(McpVerb::Ls) => list(&caller).await,
        Some(McpVerb::Restart { name }) => restart(&caller, name).await,
        Some(McpVerb::Login { name }) => log_in(&caller, name).await,
        Some(McpVerb::Logout { name }) => log_out(&caller, name).await,
        Some(McpVerb::Log { name }) => log(&caller, name).await,
    }
}

async fn list(caller: &Caller) -> Result<()> {
    let page = caller.client.read(&operations::McpServers { page: Page::default() }).await?;
    match caller.config.json {
        true => output::json(&page),
        false => output::headed(["NAME", "STATE", "TOOLS", "DETAIL"], page.items.iter().map(row)),
    }
}

fn row(server: &McpServerItem) -> [String; 4] {
    let tools = server.tools.as_ref().map(|tools| tools.len().to_string()).unwrap_or_default();
    [server.name.clone(), server.state.as_str().to_owned(), tools, server.detail.clone().unwrap_or_default()]
}

async fn restart(caller: &Caller, name: String) -> Result<()> {
    let server = caller.client.read(&operations::RestartMcpServer { name }).await?;
    match caller.config.json {
        true => output::json(&server),
        false => output::line(&format!("{} begins anew for the Pods that use it", server.name)),
    }
}

async fn log_in(caller: &Caller, name: String) -> Result<()> {
    let login = caller.client.read(&operations::LogInToMcpServer { name }).await?;
    if caller.config.json {
        return output::json(&login);
    }
    let minutes = 10;
    output::line(&login.url)?;
    output::note(&format!(
        "open this address of {} in a browser on the server's machine within {minutes} minutes; `yoi mcp ls` then shows the state",
        login.host
    ));
    Ok(())
}

async fn log_out(caller: &Caller, name: String) -> Result<()> {
    let server = caller.client.read(&operations::LogOutOfMcpServer { name }).await?;
    match caller.config.json {
        true => output::json(&server),
        false => output::line(&format!("the login to {} is forgotten", server.name)),
    }
}

async fn log(caller: &Caller, name: String) -> Result<()> {
    let log = caller.client.read(&operations::McpServerLog { name }).await?;
    match caller.config.json {
        true => output::json(&log),
        false => log.text.lines().try_for_each(output::line),
    }
}
