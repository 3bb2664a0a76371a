//! What the settings page shows and does.

use leptos::prelude::*;
use protocol::{
    AgentItem, Gathered, GiveKey, PodLimits, PodRules, ProfileView, ProviderTest, ProviderView, RuntimeView,
    SessionView, ToolDefault, UnconfiguredProvider, WallItem,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// All that the settings page shows of the server. Never a key, a token or an address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsFound {
    pub providers: ProvidersFound,
    pub profiles: Vec<ProfileView>,
    pub runtimes: Vec<RuntimeView>,
    pub tools: Vec<ToolDefault>,
    /// Of all servers that answer.
    pub rules: Gathered<PodRules>,
    pub sessions: Vec<SessionView>,
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
        walls: settings.walls().await,
        limits: settings.limits(),
        sessions: door::answer(backend.sessions().list(door::login().as_ref()).await)?,
    })
}

/// Ends a login, or all but the one that asks; those that are left.
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

/// Which models there are, and what would make more appear. Never a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvidersFound {
    pub found: Vec<ProviderView>,
    pub missing: Vec<UnconfiguredProvider>,
}

/// The agents that a Pod can be made with.
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

/// Asks a provider now; answers within 10 s.
#[server(prefix = "/fn", endpoint = "test_provider", input = Json, output = Json)]
pub async fn test_provider(name: String) -> Result<ProviderTest, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.settings().test_provider(&name).await)
}

/// Gives a provider its key, which is tried first; answers within 10 s. The key goes in, and never comes out again.
#[server(prefix = "/fn", endpoint = "set_key", input = Json, output = Json)]
pub async fn set_key(name: String, given: GiveKey) -> Result<ProviderView, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.keys().set(&origin, &name, given).await)
}

/// Forgets the key of a provider; the providers that are left.
#[server(prefix = "/fn", endpoint = "forget_key", input = Json, output = Json)]
pub async fn forget_key(name: String) -> Result<ProvidersFound, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.keys().forget(&origin, &name).await)?;
    list_providers().await
}
