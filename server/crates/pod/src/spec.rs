//! The resolved recipe that a Pod was born with.

use protocol::{PeerPolicy, PermissionRule, ReasoningPolicy, ScopeRule};
use serde::{Deserialize, Serialize};

/// Everything about a Pod that its journal does not say. Stored with the Pod, so that a changed profile or
/// configuration never changes a Pod that exists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodSpec {
    pub provider: String,
    pub model: String,
    #[serde(default)]
    pub profile: Option<String>,
    #[serde(default)]
    pub instructions: Option<String>,
    pub cwd: String,
    pub scope: Vec<ScopeRule>,
    #[serde(default)]
    pub peer_policy: PeerPolicy,
    pub wake_on_peer: bool,
    #[serde(default)]
    pub permissions: Vec<PermissionRule>,
    #[serde(default)]
    pub reasoning: ReasoningPolicy,
    /// Names of the tools that the model is offered; absent: all.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
}
