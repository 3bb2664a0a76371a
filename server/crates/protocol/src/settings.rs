//! The data of a server's settings: profiles, rules, logins, and the result of a provider's live test. Never a key.

use serde::{Deserialize, Serialize};

use crate::{
    Mode, ModelName, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, ReasoningPolicy, RuntimeId,
    ScopeRule, Thinking, Timestamp,
};

/// How a provider answered just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderTest {
    pub provider: String,
    pub is_ok: bool,
    /// Milliseconds until it answered, or until the attempt was given up.
    pub took_ms: u64,
    /// How many models it offers.
    pub models: u32,
    /// What went wrong, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `not_configured`, `unauthorized`, `unreachable`, `timeout`, or another code of `run_finished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A template for new Pods, as configured. The server's defaults apply to what it leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileView {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent that answers in its Pods, instead of a provider's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The names of the tools that its model is offered; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Names of the MCP servers that it uses; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_policy: Option<PeerPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_on_peer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// What its Pods do without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The models to try in turn when its own one is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub fallback: Vec<ModelName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resume: Option<bool>,
    /// The scope of its Pods. A relative path begins at the Pod's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    pub permissions: Vec<PermissionRule>,
    /// What some of these rules allow beyond what they seem to; one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What happens to a call of a tool that no rule of its Pod matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolDefault {
    pub tool: String,
    pub decision: PermissionDecision,
}

/// A code that logs one browser in, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoginCode {
    pub code: String,
    /// The address of the console: `ADDRESS/login` takes the code as a form, `ADDRESS/?code=CODE` in the URL.
    pub address: String,
    pub expires_at: Timestamp,
}

/// A browser that is logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionView {
    /// Identifies the login; it cannot be used to log in.
    pub id: String,
    /// The browser's own name for itself; empty if it gave none.
    pub client: String,
    pub created_at: Timestamp,
    /// Accurate to the minute.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
    /// It is the caller's own login.
    pub is_this: bool,
}

/// Body of `POST /api/v1/runtimes`: another server. It is written, and never read back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AddRuntime {
    /// What the addresses of its Pods begin with here.
    pub runtime_id: RuntimeId,
    /// `http://…` or `https://…`.
    pub url: String,
    /// What `yoi token` prints there.
    pub token: String,
}

// Written by hand, so that neither the address nor the token is printed.
impl std::fmt::Debug for AddRuntime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AddRuntime").field("runtime_id", &self.runtime_id).finish_non_exhaustive()
    }
}

/// Body of `PUT /api/v1/providers/{name}/key`: a key for a provider. It is written, and never read back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GiveKey {
    /// `openai`, `openai-compatible`, `anthropic` or `gemini`. When absent, unchanged, or as its name says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `http://…` or `https://…`. When absent, the vendor's own; without a `kind` either, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    pub key: String,
}

// Written by hand, so that neither the address nor the key is printed.
impl std::fmt::Debug for GiveKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GiveKey").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Answer of `GET /api/v1/about`: which server this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct About {
    /// Version of the frames and records.
    pub protocol: u32,
    /// Program and version, such as `yoi 0.1.0`.
    pub server: String,
    /// The name that it calls itself by.
    pub name: RuntimeId,
    /// Identifies its database; it never changes for one database.
    pub store_id: String,
}
