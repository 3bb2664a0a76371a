//! Commands of clients, and their receipts.

use serde::{Deserialize, Deserializer, Serialize};

use serde_json::Value;

use crate::{
    Budget, CommandId, Decision, NetworkPolicy, PeerPolicy, PermissionRule, PodName, PodRef, ReasoningPolicy,
    RuntimeId, ScopeRule, Segment, Seq, Thinking, Timestamp,
};

/// The command is on the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    pub command_id: CommandId,
    pub accepted_at: Timestamp,
    /// The Pod's head when the command was accepted, its own records included.
    pub seq: Seq,
    /// What became of each Pod of a tree that was to be restored; empty for every other command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report: Vec<RestoreLine>,
}

/// One Pod of a tree that was to be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RestoreLine {
    pub pod: PodRef,
    pub name: PodName,
    /// It is live now.
    pub restored: bool,
    /// Why not, or what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Body of `POST /api/v1/pods`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreatePod {
    pub name: PodName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<RuntimeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Absolute path of the working directory; by default the directory that yoi was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// By default the working directory, for writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_policy: Option<PeerPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_on_peer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningPolicy>,
    /// What its commands reach of the network; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// How hard its model is asked to think: a level that the model has. By default as the model does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// What it may use at most, with all that it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

impl CreatePod {
    /// A Pod with this name and all defaults.
    pub fn named(name: PodName) -> Self {
        Self {
            name,
            runtime_id: None,
            profile: None,
            provider: None,
            model: None,
            instructions: None,
            cwd: None,
            scope: None,
            peer_policy: None,
            wake_on_peer: None,
            reasoning: None,
            network: None,
            thinking: None,
            budget: None,
        }
    }
}

/// Body of `POST /api/v1/import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportCommand {
    pub name: PodName,
    /// A Pod's export as JSONL: one record a line, as `GET P/export?format=jsonl` gives them.
    pub jsonl: String,
}

/// Body of `PATCH P`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchPod {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<PodName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_policy: Option<PeerPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_on_peer: Option<bool>,
    /// Whether it goes on by itself, once, when the time of a provider's usage limit is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resume: Option<bool>,
    /// All its rules from now on: at most 200, or as many as there are already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_items = 200))]
    pub permissions: Option<Vec<PermissionRule>>,
    /// What its commands reach of the network, from their next start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// Who answers from the next model call on; without a `model`, with the default one of that provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What answers from the next model call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard its model is asked to think from the next call on: a level that the model has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Its instructions from the next model call on; empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The folders that it reads and writes from the next call on. What it has lent has to stay within; what it is lent
    /// itself is its parent's to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    /// A profile whose settings it takes; what stands beside it here counts more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What it may use at most, with all that it leads; null: as much as it needs. Raising it begins nothing by itself.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_null")]
    pub budget: Option<Option<Budget>>,
}

/// Distinguishes `null` from an absent field.
fn or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Body of `POST P/input`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct InputCommand {
    #[serde(deserialize_with = "crate::segment::sent")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::segment::SentSegment>))]
    pub segments: Vec<Segment>,
    /// Wait for the present run to end instead of being refused as `busy`.
    #[serde(default)]
    pub queue: bool,
    /// Go into the present run, when its model is asked next, instead of waiting for its end. Without one it begins one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
}

/// The commands of a Pod that carry nothing but their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ControlVerb {
    Pause,
    Resume,
    Cancel,
    Stop,
    Restore,
    /// Puts a summary in the place of what came before the newest turn.
    Compact,
    /// Asks the model again where its last answer was cut off or is missing.
    Retry,
}

impl ControlVerb {
    pub const ALL: [Self; 7] =
        [Self::Pause, Self::Resume, Self::Cancel, Self::Stop, Self::Restore, Self::Compact, Self::Retry];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Stop => "stop",
            Self::Restore => "restore",
            Self::Compact => "compact",
            Self::Retry => "retry",
        }
    }
}

/// Body of `POST P/restore`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreCommand {
    /// Its stopped children, and theirs, too.
    #[serde(default)]
    pub tree: bool,
}

/// Body of `POST P/rewind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RewindCommand {
    /// Records up to this one stay in the model's context.
    pub to_seq: Seq,
    /// The `head_seq` that the caller decided on; another one is refused as `head_moved`.
    pub expected_head: Seq,
}

/// Body of `POST P/fork`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ForkCommand {
    /// The new Pod's name.
    pub name: PodName,
    /// The last record that it begins with; the newest one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_seq: Option<Seq>,
}

/// Body of `POST P/tools/{name}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolCommand {
    /// An object of what the tool takes.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub arguments: Value,
}

/// How a tool that a person ran has ended. A tool's own failure is no failure of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolAnswer {
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Body of `POST P/approvals/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovalCommand {
    pub decision: Decision,
    /// The same answer from now on, for this Pod, this tool and exactly this argument.
    #[serde(default)]
    pub remember: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
