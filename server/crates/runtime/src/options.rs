//! What a host is started with.

use std::{collections::BTreeMap, path::PathBuf};

use acp::{Agents, AgentsOptions};
use pod_store::Store;
use protocol::PodLimits;
use provider::Providers;
use tools::Toolbox;

use crate::walls::Walls;

/// What a host is made of.
#[derive(Debug)]
pub struct HostOptions {
    pub store: Store,
    pub providers: Providers,
    /// Recipes by name.
    pub profiles: BTreeMap<String, Profile>,
    /// What models may call, besides the tools by which they lead other Pods.
    pub toolbox: Toolbox,
    /// Working directory of a Pod that names none: where yoi was started.
    pub cwd: String,
    /// Absolute paths of yoi's own: no tool of any Pod touches them, whatever its scope says.
    pub hidden: Vec<String>,
    /// What every Pod may read within its scope, and none may write.
    pub protected: pod::Protected,
    /// Where long outputs of tools are kept, in a folder per Pod.
    pub outputs: PathBuf,
    /// How many Pods there may be.
    pub limits: PodLimits,
    /// The agents that Pods can be made with.
    pub agents: Agents,
    /// What stands around commands. Where they have no room, no rule allows Bash without a person.
    pub walls: Walls,
}

impl HostOptions {
    /// A host without profiles and with the Pod tools alone.
    pub fn of(store: Store, providers: Providers, cwd: impl Into<String>, outputs: impl Into<PathBuf>) -> Self {
        Self {
            store,
            providers,
            profiles: BTreeMap::new(),
            toolbox: Toolbox::default(),
            cwd: cwd.into(),
            hidden: Vec::new(),
            protected: pod::Protected::default(),
            outputs: outputs.into(),
            limits: PodLimits::default(),
            agents: Agents::new(AgentsOptions::none()),
            walls: Walls::standing(),
        }
    }
}

/// A named recipe for new Pods. A Pod keeps the resolved copy that it was born with.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    pub provider: Option<String>,
    pub model: Option<String>,
    /// The agent that answers in its Pods, in the place of a provider's model.
    pub agent: Option<String>,
    pub thinking: Option<protocol::Thinking>,
    pub instructions: Option<String>,
    /// Names of the tools that its model is offered; absent: all.
    pub tools: Option<Vec<String>>,
    pub reasoning: Option<protocol::ReasoningPolicy>,
    pub peer_policy: Option<protocol::PeerPolicy>,
    pub wake_on_peer: Option<bool>,
    pub permissions: Option<Vec<protocol::PermissionRule>>,
    pub network: Option<protocol::NetworkPolicy>,
    /// The models that answer in turn, for the rest of a run, when its own one is overloaded.
    pub fallback: Vec<protocol::ModelName>,
    /// Its Pods go on by themselves, once, when the time of a provider's usage limit is over.
    pub auto_resume: Option<bool>,
    /// What its Pods work on; absent: their folder, for writing. A path that is not absolute begins at the Pod's folder.
    pub scope: Option<Vec<protocol::ScopeRule>>,
}

impl Profile {
    /// Its model, where it is one of this provider: without a provider of its own it is one of any.
    pub(crate) fn model_of(&self, provider: &str) -> Option<String> {
        let is_of = self.provider.as_ref().is_none_or(|own| own == provider);
        self.model.clone().filter(|_| is_of)
    }
}
