//! Agents that are programs of their own and speak the Agent Client Protocol: what is known about them, and what they
//! offer.

use serde::{Deserialize, Deserializer, Serialize};

/// The provider of a Pod in which an agent answers.
pub const ACP: &str = "acp";

/// An agent that can answer in Pods. Never its command or what is in its environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentItem {
    pub name: String,
    pub state: AgentState,
    /// Its version, or what is missing and the way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Tools of yoi that are handed to it at the start of its session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// It runs as a whole in a sandbox of its Pod's scope.
    #[serde(default)]
    pub confined: bool,
}

/// Whether an agent can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Its program is there.
    Ready,
    /// At least one Pod has it running now.
    Running,
    /// Its program is not there.
    Missing,
    /// It did not start the last time, or wants a login.
    Failed,
}

impl AgentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Missing => "missing",
            Self::Failed => "failed",
        }
    }
}

/// One answer that an agent offers to its own question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentOption {
    pub id: String,
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once` or `reject_always`.
    pub kind: String,
}

impl AgentOption {
    /// Returns whether the option allows the call.
    pub fn allows(&self) -> bool {
        self.kind.starts_with("allow")
    }
}

/// All that it offers to one question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct AgentOptions(pub Vec<AgentOption>);

impl AgentOptions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A missing list reads as an empty one.
impl<'de> Deserialize<'de> for AgentOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or_default()))
    }
}

/// One step of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanEntry {
    pub content: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

impl PlanEntry {
    /// A line of a list: `[x] …` if it is done, `[~] …` if it is in progress, otherwise `[ ] …`.
    pub fn line(&self) -> String {
        let mark = match self.status.as_str() {
            "completed" => 'x',
            "in_progress" => '~',
            _ => ' ',
        };
        format!("[{mark}] {}", self.content)
    }
}

/// A mode or a model that an agent can be set to, or a command that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentChoice {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What an agent lets its client choose, as it said last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct AgentOffers {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<AgentChoice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<AgentChoice>,
    /// The model that answers now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Commands that a message may begin with, `/` before their `id`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<AgentChoice>,
    /// It can neither load nor resume a session: when its process ends, it forgets what was said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forgets: bool,
}

/// The session of a Pod's agent, as its page shows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentView {
    /// As the agent calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// It runs as a whole in a sandbox of the Pod's scope.
    pub confined: bool,
    /// What yoi cannot control of it, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(flatten)]
    pub offers: AgentOffers,
    /// The newest plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanEntry>,
}
