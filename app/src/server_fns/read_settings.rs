use leptos::prelude::*;
use protocol::{Gathered, PodLimits, PodRules, ProfileView, RuntimeView, SessionView, ToolDefault, WallItem};
use serde::{Deserialize, Serialize};

use super::ProvidersFound;
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
    let (backend, _) = super::door::caller()?;
    Ok(SettingsFound {
        providers: ProvidersFound { found: backend.providers().await, missing: backend.unconfigured() },
        profiles: backend.profiles(),
        runtimes: backend.runtimes(),
        tools: backend.tool_defaults(),
        rules: super::door::answer(
            backend.read(protocol::operations::Rules { runtime: Default::default(), page: Default::default() }).await,
        )?,
        walls: backend.walls().await,
        limits: backend.limits(),
        sessions: super::door::answer(backend.sessions(super::door::login().as_ref()).await)?,
    })
}
