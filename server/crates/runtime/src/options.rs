//! What a host is started with.

use std::{collections::BTreeMap, path::PathBuf};

use acp::{Agents, AgentsOptions};
use mcp::Servers;
use pod_store::Store;
use protocol::PodLimits;
use provider::Providers;
use tools::{
    Toolbox,
    bash::{Background, BashOptions},
    git::Git,
    guides::Guides,
    hooks::Hooks,
};

use crate::walls::Walls;

/// What a host is made of.
#[derive(Debug)]
pub struct HostOptions {
    pub store: Store,
    pub providers: Providers,
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// The tools that models may call, besides the tools for other Pods.
    pub toolbox: Toolbox,
    /// What runs before and after every call, whatever tool it is of.
    pub hooks: Hooks,
    /// Where the toolbox keeps commands that keep running after their call.
    pub background: Background,
    /// Finds the instructions, skills and commands of this account and of repositories.
    pub guides: Guides,
    /// How git is run for people: where a Pod's commands run.
    pub git: Git,
    /// The MCP servers whose tools models may also call.
    pub servers: Servers,
    /// The working directory of a Pod that names none: where yoi was started.
    pub cwd: String,
    /// Absolute paths of yoi's own files, which no Pod's tools may touch, whatever its scope says.
    pub hidden: Vec<String>,
    /// What every Pod may read within its scope but never write.
    pub protected: pod::Protected,
    /// Where long outputs of tools are kept, in one folder per Pod.
    pub outputs: PathBuf,
    /// Where snapshots of Pods' files are kept, in one folder per Pod.
    pub snapshots: PathBuf,
    /// Limits on the number of Pods.
    pub limits: PodLimits,
    /// The agents that Pods can be created with.
    pub agents: Agents,
    /// The walls around commands. Without a sandbox, no rule allows Bash without a person.
    pub walls: Walls,
}

impl HostOptions {
    /// A host without profiles and with only the Pod tools. Snapshots are kept beside the outputs.
    pub fn of(store: Store, providers: Providers, cwd: impl Into<String>, outputs: impl Into<PathBuf>) -> Self {
        let outputs = outputs.into();
        Self {
            store,
            providers,
            profiles: BTreeMap::new(),
            toolbox: Toolbox::default(),
            hooks: Hooks::default(),
            background: Background::default(),
            guides: Guides::default(),
            git: Git::new(BashOptions::of_this_process()),
            servers: Servers::default(),
            cwd: cwd.into(),
            hidden: Vec::new(),
            protected: pod::Protected::default(),
            snapshots: outputs.with_file_name("snapshots"),
            outputs,
            limits: PodLimits::default(),
            agents: Agents::new(AgentsOptions::none()),
            walls: Walls::standing(),
        }
    }
}

/// A template for new Pods. A Pod keeps the resolved copy that it was created with.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    pub provider: Option<String>,
    pub model: Option<String>,
    /// The agent that answers in its Pods, instead of a provider's model.
    pub agent: Option<String>,
    pub thinking: Option<protocol::Thinking>,
    pub instructions: Option<String>,
    /// The names of the tools that its model is offered; all if absent.
    pub tools: Option<Vec<String>>,
    /// The names of the MCP servers that its Pods use; absent: all.
    pub mcp: Option<Vec<String>>,
    pub reasoning: Option<protocol::ReasoningPolicy>,
    pub peer_policy: Option<protocol::PeerPolicy>,
    pub wake_on_peer: Option<bool>,
    pub permissions: Option<Vec<protocol::PermissionRule>>,
    pub network: Option<protocol::NetworkPolicy>,
    /// What its Pods do without asking.
    pub mode: Option<protocol::Mode>,
    /// The models that take over, in order, for the rest of a run when its own model is overloaded.
    pub fallback: Vec<protocol::ModelName>,
    /// Its Pods resume by themselves, once, when a provider's usage limit is over.
    pub auto_resume: Option<bool>,
    /// The scope of its Pods; if absent, their working directory, writable. A relative path is relative to that
    /// directory.
    pub scope: Option<Vec<protocol::ScopeRule>>,
}

impl Profile {
    /// Its model, if that belongs to this provider; without a provider of its own, a profile's model may belong to any.
    pub(crate) fn model_of(&self, provider: &str) -> Option<String> {
        let is_of = self.provider.as_ref().is_none_or(|own| own == provider);
        self.model.clone().filter(|_| is_of)
    }
}
