//! The data and commands of the settings page.

use leptos::prelude::*;
use protocol::{
    AgentItem, CommandId, Gathered, GiveKey, McpLog, McpLogin, McpServerItem, PodLimits, ProfileView, ProviderTest,
    ProviderView, RuleItem, RuntimeView, SessionView, ToolDefault, UnconfiguredProvider, WallItem,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// Everything about the server on the settings page. Never contains a key, a token or an address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsFound {
    pub providers: ProvidersFound,
    pub profiles: Vec<ProfileView>,
    pub runtimes: Vec<RuntimeView>,
    pub tools: Vec<ToolDefault>,
    /// From all servers that answer.
    pub rules: Gathered<RuleItem>,
    pub sessions: Vec<SessionView>,
    pub servers: Vec<McpServerItem>,
    pub walls: Vec<WallItem>,
    pub limits: PodLimits,
}

#[server(prefix = "/fn", endpoint = "read_settings", input = Json, output = Json)]
pub async fn read_settings() -> Result<SettingsFound, UiError> {
    let (backend, _) = door::caller()?;
    let settings = backend.settings();
    Ok(SettingsFound {
        providers: ProvidersFound { found: settings.providers().await, missing: settings.unconfigured() },
        profiles: settings.profiles(),
        runtimes: backend.runtimes().list(),
        tools: settings.tool_defaults(),
        rules: door::read(operations::Rules { runtime: Default::default(), page: Default::default() }).await?,
        servers: backend.servers().items(),
        walls: settings.walls().await,
        limits: settings.limits(),
        sessions: door::answer(backend.sessions().list(door::login().as_ref()).await)?,
    })
}

/// Takes a rule back.
#[server(prefix = "/fn", endpoint = "remove_rule", input = Json, output = Json)]
pub async fn remove_rule(command_id: CommandId, id: String) -> Result<(), UiError> {
    door::carry_out(command_id, operations::RemoveRule { id }).await
}

/// Ends one login, or all except the caller's; returns the remaining ones.
#[server(prefix = "/fn", endpoint = "sign_out", input = Json, output = Json)]
pub async fn sign_out(id: Option<String>) -> Result<Vec<SessionView>, UiError> {
    let (backend, origin) = door::caller()?;
    let this = door::login();
    door::answer(match &id {
        Some(id) => backend.sessions().end(&origin, id).await,
        None => backend.sessions().end_others(&origin, this.as_ref()).await,
    })?;
    door::answer(backend.sessions().list(this.as_ref()).await)
}

/// The models available, and how to add more. Never contains a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvidersFound {
    pub found: Vec<ProviderView>,
    pub missing: Vec<UnconfiguredProvider>,
}

/// Returns the agents that a Pod can be created with.
#[server(prefix = "/fn", endpoint = "list_agents", input = Json, output = Json)]
pub async fn list_agents() -> Result<Vec<AgentItem>, UiError> {
    let (backend, _) = door::caller()?;
    Ok(backend.settings().agents().await)
}

#[server(prefix = "/fn", endpoint = "list_providers", input = Json, output = Json)]
pub async fn list_providers() -> Result<ProvidersFound, UiError> {
    let (backend, _) = door::caller()?;
    Ok(ProvidersFound { found: backend.settings().providers().await, missing: backend.settings().unconfigured() })
}

/// Tests a provider now; returns within 10 s.
#[server(prefix = "/fn", endpoint = "test_provider", input = Json, output = Json)]
pub async fn test_provider(name: String) -> Result<ProviderTest, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.settings().test_provider(&name).await)
}

/// Returns the MCP servers with their current states.
#[server(prefix = "/fn", endpoint = "list_servers", input = Json, output = Json)]
pub async fn list_servers() -> Result<Vec<McpServerItem>, UiError> {
    let (backend, _) = door::caller()?;
    Ok(backend.servers().items())
}

/// Ends the connections and processes of an MCP server. Returns the servers afterwards.
#[server(prefix = "/fn", endpoint = "restart_server", input = Json, output = Json)]
pub async fn restart_server(name: String) -> Result<Vec<McpServerItem>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.servers().restart(&origin, &name).await)?;
    Ok(backend.servers().items())
}

/// Begins a login to an MCP server, which this browser alone can finish; returns within 30 s.
#[server(prefix = "/fn", endpoint = "log_in_to_server", input = Json, output = Json)]
pub async fn log_in_to_server(name: String) -> Result<McpLogin, UiError> {
    let (backend, origin) = door::caller()?;
    let (back, session) = (door::return_address()?, door::login());
    door::answer(backend.servers().log_in(&origin, &name, &back, session.as_ref()).await)
}

/// Forgets the login to an MCP server. Returns the servers afterwards.
#[server(prefix = "/fn", endpoint = "log_out_of_server", input = Json, output = Json)]
pub async fn log_out_of_server(name: String) -> Result<Vec<McpServerItem>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.servers().log_out(&origin, &name).await)?;
    Ok(backend.servers().items())
}

/// Returns what an MCP server has written to its standard error.
#[server(prefix = "/fn", endpoint = "server_log", input = Json, output = Json)]
pub async fn server_log(name: String) -> Result<McpLog, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.servers().log(&name))
}

/// Sets a provider's key, after testing it; returns within 10 s. The key is write-only.
#[server(prefix = "/fn", endpoint = "set_key", input = Json, output = Json)]
pub async fn set_key(name: String, given: GiveKey) -> Result<ProviderView, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.keys().set(&origin, &name, given).await)
}

/// Removes a provider's key; returns the remaining providers.
#[server(prefix = "/fn", endpoint = "forget_key", input = Json, output = Json)]
pub async fn forget_key(name: String) -> Result<ProvidersFound, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.keys().forget(&origin, &name).await)?;
    list_providers().await
}
