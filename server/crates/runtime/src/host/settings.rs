//! What the host works with: providers, profiles, rules.

use protocol::{
    AgentItem, ApiError, ErrorCode, FolderList, ModelItem, PodLimits, ProfileView, ProviderTest, ProviderView,
    ToolDefault, UnconfiguredProvider, WallItem,
};
use provider::Providers;

use super::Inner;
use crate::{
    agents,
    folders::{self, Found},
};

/// What the host works with: providers, profiles, rules.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    pub(super) inner: &'a Inner,
}

impl Settings<'_> {
    /// Returns the agents that Pods can be created with.
    pub async fn agents(self) -> Vec<AgentItem> {
        agents::list(&self.inner.actors.equipment.agents).await
    }

    pub async fn providers(self) -> Vec<ProviderView> {
        self.inner.actors.equipment.providers.views().await
    }

    /// The providers themselves, which also take and forget API keys.
    pub fn model_providers(self) -> Providers {
        self.inner.actors.equipment.providers.clone()
    }

    /// The models of all providers, with what is known of each.
    pub async fn models(self) -> Vec<ModelItem> {
        self.inner.actors.equipment.providers.models().await
    }

    /// Providers that could be configured, and what each of them lacks.
    pub fn unconfigured(self) -> Vec<UnconfiguredProvider> {
        self.inner.actors.equipment.providers.unconfigured()
    }

    /// Tests a provider now; takes at most 10 s. A problem with the provider is a result and not an error.
    pub async fn test_provider(self, name: &str) -> Result<ProviderTest, ApiError> {
        self.inner.actors.equipment.providers.test(name).await.ok_or_else(|| {
            let name: String = name.chars().take(64).collect();
            let sentence = format!("no provider is called \"{name}\"; GET /api/v1/providers lists the providers");
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// The walls around the commands of Pods.
    pub async fn walls(self) -> Vec<WallItem> {
        self.inner.actors.equipment.walls.items().await
    }

    /// Folders that a new Pod can work in: those whose path begins with `prefix`, and the default for a Pod that names
    /// none.
    pub async fn folders(self, prefix: Option<&str>) -> Result<FolderList, ApiError> {
        let default = self.inner.family.recipes.cwd.clone();
        let Some(prefix) = prefix else { return Ok(FolderList { items: Vec::new(), is_cut: false, default }) };
        let Found { items, is_cut } = folders::beginning_with(prefix).await?;
        Ok(FolderList { items, is_cut, default })
    }

    /// Returns the MCP servers whose tools models may call.
    pub fn servers(self) -> mcp::Servers {
        self.inner.actors.equipment.servers.clone()
    }

    /// The limits on the number of Pods.
    pub fn limits(self) -> PodLimits {
        self.inner.family.limits
    }

    /// The configured profiles, by name.
    pub fn profiles(self) -> Vec<ProfileView> {
        let view = |(name, profile): (&String, &crate::Profile)| ProfileView {
            name: name.clone(),
            provider: profile.provider.clone(),
            model: profile.model.clone(),
            agent: profile.agent.clone(),
            thinking: profile.thinking,
            instructions: profile.instructions.clone(),
            tools: profile.tools.clone(),
            mcp: profile.mcp.clone(),
            reasoning: profile.reasoning,
            peer_policy: profile.peer_policy,
            wake_on_peer: profile.wake_on_peer,
            network: profile.network,
            mode: profile.mode,
            fallback: profile.fallback.clone(),
            auto_resume: profile.auto_resume,
            scope: profile.scope.clone(),
            permissions: profile.permissions.clone().unwrap_or_default(),
            warnings: pod::rule_warnings(profile.permissions.as_deref().unwrap_or_default()),
        };
        self.inner.family.recipes.profiles.iter().map(view).collect()
    }

    /// Every tool, with the decision for its calls that no rule covers.
    pub fn tool_defaults(self) -> Vec<ToolDefault> {
        let all = self.inner.actors.equipment.toolbox.offered(None);
        all.map(|tool| ToolDefault { tool: tool.name().to_owned(), decision: tool.default_permission() }).collect()
    }
}
