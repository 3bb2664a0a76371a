//! What the settings of a server show: profiles, rules, logins, and how a provider answered a live test. Never a key.

use serde::{Deserialize, Serialize};

use crate::{
    ModelName, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, PodName, PodRef, ReasoningPolicy,
    RuntimeId, ScopeRule, Thinking, Timestamp,
};

/// How a provider answered when it was asked now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderTest {
    pub provider: String,
    pub is_ok: bool,
    /// Milliseconds until it had answered, or until it was given up.
    pub took_ms: u64,
    /// How many models it offers.
    pub models: u32,
    /// What went wrong, and the way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `not_configured`, `unauthorized`, `unreachable`, `timeout`, or another code of `run_finished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A named recipe for new Pods, as it is configured. What it leaves out, the server's defaults decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileView {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent that answers in its Pods, in the place of a provider's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Names of the tools that its model is offered; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_policy: Option<PeerPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_on_peer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// The models that answer in turn when its own one is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub fallback: Vec<ModelName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resume: Option<bool>,
    /// What its Pods work on. A path that is not absolute begins at the Pod's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    pub permissions: Vec<PermissionRule>,
    /// What some of these rules allow beyond what they seem to, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What happens to a call of a tool that no rule of its Pod is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolDefault {
    pub tool: String,
    pub decision: PermissionDecision,
}

/// The rules that a Pod has: from its profile, and from answers of "always".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PodRules {
    pub pod: PodRef,
    pub name: PodName,
    /// In the order in which they are tried.
    pub permissions: Vec<PermissionRule>,
    /// What some of these rules allow beyond what they seem to, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What logs one browser in, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoginCode {
    pub code: String,
    /// Where the console is: `ADDRESS/login` takes the code as a form, `ADDRESS/?code=CODE` in the address.
    pub address: String,
    pub expires_at: Timestamp,
}

/// A browser that is logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionView {
    /// Names the login; nobody can log in with it.
    pub id: String,
    /// What the browser calls itself; empty when it did not say.
    pub client: String,
    pub created_at: Timestamp,
    /// To the minute.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
    /// The one that asks.
    pub is_this: bool,
}

/// Body of `POST /api/v1/runtimes`: another server. It goes in, and never comes out again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AddRuntime {
    /// What its Pods' addresses begin with here.
    pub runtime_id: RuntimeId,
    /// `http://…` or `https://…`.
    pub url: String,
    /// What `yoi token` prints there.
    pub token: String,
}

// By hand: neither the address nor the token is anybody's business.
impl std::fmt::Debug for AddRuntime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AddRuntime").field("runtime_id", &self.runtime_id).finish_non_exhaustive()
    }
}

/// Body of `PUT /api/v1/providers/{name}/key`: a key for a provider. It goes in, and never comes out again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GiveKey {
    /// `openai`, `openai-compatible`, `anthropic` or `gemini`; absent: as it was, or what its name says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `http://…` or `https://…`; absent: the vendor's own, and without a kind, as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    pub key: String,
}

// By hand: neither the address nor the key is anybody's business.
impl std::fmt::Debug for GiveKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GiveKey").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Answer of `GET /api/v1/about`: which server this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct About {
    /// Of the frames and records.
    pub protocol: u32,
    /// `yoi 0.1.0`.
    pub server: String,
    /// What it calls itself.
    pub name: RuntimeId,
    /// Names its database; it stays as long as the database does.
    pub store_id: String,
}
