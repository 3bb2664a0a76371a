use anyhow::Result;
use jiff::Timestamp;
use protocol::{
    McpArgument, McpPrompt, McpResource, McpServerItem,
    operation::{Loose, Page},
    operations,
};

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
        Some(McpVerb::Prompts { pod }) => prompts(&caller, &pod).await,
        Some(McpVerb::Prompt { pod, name, arguments }) => prompt(&caller, &pod, name, &arguments).await,
        Some(McpVerb::Resources { pod, letters }) => resources(&caller, &pod, letters).await,
        Some(McpVerb::Read { pod, server, uri }) => read(&caller, &pod, server, uri).await,
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
        false => output::line(&format!("{} restarts for the Pods that use it", server.name)),
    }
}

async fn log_in(caller: &Caller, name: String) -> Result<()> {
    let login = caller.client.read(&operations::LogInToMcpServer { name }).await?;
    if caller.config.json {
        return output::json(&login);
    }
    let left = login.expires_at.duration_since(Timestamp::now()).as_secs();
    let minutes = (left + 59) / 60;
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

async fn prompts(caller: &Caller, pod: &str) -> Result<()> {
    let pod = caller.resolve(pod).await?;
    let listed = caller.client.read(&operations::Prompts { pod, page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listed);
    }
    let row = |prompt: &McpPrompt| {
        let mark = |one: &McpArgument| if one.required { one.name.clone() } else { format!("[{}]", one.name) };
        let arguments = prompt.arguments.iter().map(mark).collect::<Vec<_>>().join(" ");
        [prompt.name.clone(), arguments, prompt.description.clone().unwrap_or_default()]
    };
    output::headed(["NAME", "ARGUMENTS", "ABOUT"], listed.items.iter().map(row))
}

async fn prompt(caller: &Caller, pod: &str, name: String, arguments: &[String]) -> Result<()> {
    let pod = caller.resolve(pod).await?;
    // The shell has taken the quotation marks away.
    let quoted = |word: &String| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() };
    let words = Loose(Some(arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")));
    let made = caller.client.read(&operations::PromptMade { pod, name, arguments: Loose(None), words }).await?;
    match caller.config.json {
        true => output::json(&made),
        false => made.text.lines().try_for_each(output::line),
    }
}

async fn resources(caller: &Caller, pod: &str, letters: Option<String>) -> Result<()> {
    let pod = caller.resolve(pod).await?;
    let listed = caller.client.read(&operations::Resources { pod, q: Loose(letters), page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listed);
    }
    let address = |one: &McpResource| one.template.as_ref().unwrap_or(&one.uri).clone();
    let row = |one: &McpResource| [one.server.clone(), one.name.clone(), address(one)];
    output::headed(["SERVER", "NAME", "ADDRESS"], listed.items.iter().map(row))
}

async fn read(caller: &Caller, pod: &str, server: String, uri: String) -> Result<()> {
    let pod = caller.resolve(pod).await?;
    let (server, uri) = (Loose(Some(server)), Loose(Some(uri)));
    let content = caller.client.read(&operations::ResourceContent { pod, server, uri }).await?;
    match (&content.text, caller.config.json) {
        (Some(text), false) => text.lines().try_for_each(output::line),
        _ => output::json(&content),
    }
}

async fn log(caller: &Caller, name: String) -> Result<()> {
    let log = caller.client.read(&operations::McpServerLog { name }).await?;
    match caller.config.json {
        true => output::json(&log),
        false => log.text.lines().try_for_each(output::line),
    }
}
