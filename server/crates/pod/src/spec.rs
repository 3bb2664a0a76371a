//! The resolved settings of a Pod.

use std::sync::Arc;

use protocol::{
    Budget, Mode, ModelName, NetworkPolicy, PeerPolicy, PermissionRule, ReasoningPolicy, ScopeRule, Thinking,
    tool::SERVER_TOOL,
};
use serde::{Deserialize, Serialize};

use crate::{Sights, WorkTree};

/// An ancestor of a Pod: its current rules, and the folder that its relative paths are resolved against.
#[derive(Debug, Clone, PartialEq)]
pub struct Leader {
    pub cwd: String,
    pub permissions: Vec<PermissionRule>,
    pub network: NetworkPolicy,
    pub mode: Mode,
}

/// A file with instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// Absolute.
    pub path: String,
    pub text: String,
}

/// A skill, as a model is offered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillOffer {
    pub name: String,
    /// One line; may be empty.
    pub description: String,
}

/// Everything about a Pod that is not in its journal. Stored with the Pod, so that changes to a profile or the
/// configuration never affect existing Pods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodSpec {
    pub provider: String,
    pub model: String,
    /// The agent that answers instead of a model; the provider is [`protocol::ACP`] then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The mode that its agent is to use.
    #[serde(default, rename = "mode", skip_serializing_if = "Option::is_none")]
    pub agent_mode: Option<String>,
    /// What it does without asking.
    #[serde(default, rename = "permission_mode")]
    pub mode: Mode,
    #[serde(default)]
    pub profile: Option<String>,
    #[serde(default)]
    pub instructions: Option<String>,
    /// How hard its model is asked to think; if absent, the model decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// The most that it may spend, including its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The models that take over, in order, for the rest of a run when its own model is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ModelName>,
    /// Resumes by itself, once, when a provider's usage limit is over.
    #[serde(default)]
    pub auto_resume: bool,
    pub cwd: String,
    pub scope: Vec<ScopeRule>,
    /// The git work tree of its own that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorkTree>,
    #[serde(default)]
    pub peer_policy: PeerPolicy,
    pub wake_on_peer: bool,
    #[serde(default)]
    pub permissions: Vec<PermissionRule>,
    /// Which part of the network its commands can reach.
    #[serde(default)]
    pub network: NetworkPolicy,
    #[serde(default)]
    pub reasoning: ReasoningPolicy,
    /// The names of the tools that the model is offered; all if absent.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The names of the MCP servers that it uses; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Vec<String>>,
    /// The rules of this Pod's ancestors, nearest first, as they were when it was created. They cannot be bypassed by
    /// spawning another Pod: of all decisions, the strictest wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Vec<PermissionRule>>,
    /// The `AGENTS.md` of the working directory, as it was when the Pod was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_md: Option<String>,
    /// The instructions of this account and of the repository, as they were when the Pod was created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guides: Vec<Guide>,
    /// The skills that it is offered, as they were then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillOffer>,
    /// The kernel cannot confine a shell here, so no command is allowed without a person.
    #[serde(skip)]
    pub shell_is_unconfined: bool,
    /// Its agent runs in a sandbox with the Pod's scope.
    #[serde(skip)]
    pub agent_is_confined: bool,
    /// The configuration has hooks that judge its runs at their end.
    #[serde(skip)]
    pub has_run_end_hooks: bool,
    /// The rules of folders and of the whole server, newest first.
    #[serde(skip)]
    pub shared_rules: Arc<[PermissionRule]>,
    /// The configuration's rules about the tools of MCP servers. They count after the Pod's own rules.
    #[serde(skip)]
    pub server_rules: Arc<[PermissionRule]>,
    /// This Pod's ancestors, nearest first, as they are now; replaces `ceilings` once looked up.
    #[serde(skip)]
    pub leaders: Option<Vec<Leader>>,
    /// What was found out about the calls that are to be judged.
    #[serde(skip)]
    pub sights: Sights,
}

impl PodSpec {
    /// Which part of the network its commands can reach: the least of its own policy and its ancestors'.
    pub fn network_now(&self) -> NetworkPolicy {
        self.leaders.iter().flatten().map(|leader| leader.network).fold(self.network, NetworkPolicy::min)
    }

    /// Whether the model is offered this tool.
    ///
    /// A tool of an MCP server is offered if its name is listed, if all tools of that server are (`NAME__*`), or if the
    /// server itself is.
    pub fn offers(&self, tool: &str) -> bool {
        let Some(names) = &self.tools else { return true };
        let is_named = |wanted: &str| protocol::tool::is_listed(names, wanted);
        match tool.split_once(SERVER_TOOL) {
            None => is_named(tool),
            Some((server, _)) => {
                let is_used = self.mcp.iter().flatten().any(|name| name == server);
                is_used || is_named(tool) || is_named(&format!("{server}{SERVER_TOOL}*"))
            }
        }
    }
}
