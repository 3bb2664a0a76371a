//! The resolved recipe that a Pod was born with.

use protocol::{Budget, ModelName, NetworkPolicy, PeerPolicy, PermissionRule, ReasoningPolicy, ScopeRule, Thinking};
use serde::{Deserialize, Serialize};

use crate::Sights;

/// A Pod that leads another one: its rules, as they are now, and the folder that its relative paths are seen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Leader {
    pub cwd: String,
    pub permissions: Vec<PermissionRule>,
    pub network: NetworkPolicy,
}

/// Everything about a Pod that its journal does not say. Stored with the Pod, so that a changed profile or
/// configuration never changes a Pod that exists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodSpec {
    pub provider: String,
    pub model: String,
    /// The agent that answers in the place of a model; its provider is [`protocol::ACP`] then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The mode that its agent is to be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default)]
    pub profile: Option<String>,
    #[serde(default)]
    pub instructions: Option<String>,
    /// How hard its model is asked to think; absent: as the model does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// What it may use at most, with all that it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The models that answer in turn, for the rest of a run, when its own one is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ModelName>,
    /// It goes on by itself, once, when the time of a provider's usage limit is over.
    #[serde(default)]
    pub auto_resume: bool,
    pub cwd: String,
    pub scope: Vec<ScopeRule>,
    #[serde(default)]
    pub peer_policy: PeerPolicy,
    pub wake_on_peer: bool,
    #[serde(default)]
    pub permissions: Vec<PermissionRule>,
    /// What its commands reach of the network.
    #[serde(default)]
    pub network: NetworkPolicy,
    #[serde(default)]
    pub reasoning: ReasoningPolicy,
    /// Names of the tools that the model is offered; absent: all.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Rules of those who lead this Pod, nearest first, as they were when it was made. None of them can be got around by
    /// leading another Pod: of all decisions, the strictest counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Vec<PermissionRule>>,
    /// `AGENTS.md` of the working directory, as it was when the Pod was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_md: Option<String>,
    /// The kernel here cannot confine a shell, so that nothing of it is allowed without a person.
    #[serde(skip)]
    pub shell_is_unconfined: bool,
    /// Those who lead this Pod, nearest first, as they are now; takes the place of `ceilings` once they were looked at.
    #[serde(skip)]
    pub leaders: Option<Vec<Leader>>,
    /// What was found out about the calls that are to be judged.
    #[serde(skip)]
    pub sights: Sights,
}

impl PodSpec {
    /// What its commands reach of the network: of all up the line, the least.
    pub fn network_now(&self) -> NetworkPolicy {
        self.leaders.iter().flatten().map(|leader| leader.network).fold(self.network, NetworkPolicy::min)
    }

    /// Whether the model is offered this tool.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|names| names.iter().any(|name| name == tool))
    }
}
