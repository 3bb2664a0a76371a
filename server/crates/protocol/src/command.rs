//! Commands of clients, and their receipts.

use serde::{Deserialize, Deserializer, Serialize};

use serde_json::Value;

use crate::{
    Budget, CommandId, Mode, NetworkPolicy, PeerPolicy, PermissionRule, PodName, PodRef, QueuedInput, ReasoningPolicy,
    RuntimeId, ScopeRule, Segment, Seq, Thinking, Timestamp, WorktreeWish,
};

/// The answer to a command: it is on disk.
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

/// The answer to an interruption: the run has ended, and these messages are no longer queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Interrupted {
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The messages that were queued, whole and in their order.
    pub queued: Vec<QueuedInput>,
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
    /// The agent that answers instead of a provider's model: one of `GET /api/v1/agents`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Absolute path of the working directory; by default the directory that yoi was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// A git work tree with a branch of its own, made from the repository that the working directory is in; the Pod
    /// works in there, and rules of `scope` for the repository's folder mean the work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeWish>,
    /// The working directory, for writing, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_policy: Option<PeerPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_on_peer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningPolicy>,
    /// What its commands can reach on the network; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// What it does without asking; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How hard its model is asked to think: a level that the model has. The model's own default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// The most that it may use together with all Pods below it.
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
            agent: None,
            model: None,
            instructions: None,
            cwd: None,
            worktree: None,
            scope: None,
            peer_policy: None,
            wake_on_peer: None,
            reasoning: None,
            network: None,
            mode: None,
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
    /// A Pod's export as JSONL: one record per line, as returned by `GET P/export?format=jsonl`. Or a session file of
    /// another agent.
    pub jsonl: String,
    /// Whose file it is; detected from its content when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ImportFormat>,
    /// The new Pod's folder; the server's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl ImportCommand {
    /// The import of a file whose format its content tells, into the server's default folder.
    pub fn of(name: PodName, jsonl: impl Into<String>) -> Self {
        Self { name, jsonl: jsonl.into(), format: None, cwd: None }
    }
}

/// What wrote a file that is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImportFormat {
    /// The export of a Pod.
    Yoi,
    /// A session of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`.
    Claude,
    /// A session of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.
    Codex,
    /// A session of opencode, as `opencode export` prints it.
    Opencode,
}

impl ImportFormat {
    pub const ALL: [Self; 4] = [Self::Yoi, Self::Claude, Self::Codex, Self::Opencode];

    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yoi => "yoi",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// The name of the agent, as it calls itself.
    pub fn title(self) -> &'static str {
        match self {
            Self::Yoi => "yoi",
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
        }
    }

    /// `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }
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
    /// Whether it resumes by itself, once, when a provider's usage limit is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resume: Option<bool>,
    /// All its rules from now on: at most 200, or as many as it already has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_items = 200))]
    pub permissions: Option<Vec<PermissionRule>>,
    /// What its commands can reach on the network, from their next start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// The agent that answers in it, as it is: who answers in a Pod does not change. Another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The provider from the next model call on; without a `model`, with that provider's default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model that answers from the next model call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it does without asking, from its next call on. Open questions that the mode decides are answered by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The mode of its agent: one of those that the agent offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_mode: Option<String>,
    /// How hard its model is asked to think from the next call on: a level that the model has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Its instructions from the next model call on; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The folders that it reads and writes from the next call on. What it has lent has to stay inside them; what
    /// it is lent itself, only its parent can change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
    /// A profile whose settings it takes; other fields in this body take precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The most that it may use together with all Pods below it; null for no limit. Raising it does not start a run.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_null")]
    pub budget: Option<Option<Budget>>,
}

impl PatchPod {
    /// The change of a mode as people write it: one of the Pod's own modes, or else one of its agent's.
    pub fn of_mode(text: &str) -> Self {
        match text.parse() {
            Ok(mode) => Self { mode: Some(mode), ..Self::default() },
            Err(_) => Self { agent_mode: Some(text.to_owned()), ..Self::default() },
        }
    }
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
    /// Wait for the current run to end instead of being refused as `busy`.
    #[serde(default)]
    pub queue: bool,
    /// Join the current run at its next model call instead of waiting for its end. If there is no run, this begins one.
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
    /// Replaces what came before the newest turn with a summary.
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
    /// Also restore its stopped children, and theirs.
    #[serde(default)]
    pub tree: bool,
}

/// Body of `POST P/rewind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RewindCommand {
    /// The last record that stays in the context.
    pub to_seq: Seq,
    /// The `head_seq` that the caller has seen; if it has changed, the command is refused as `head_moved`.
    pub expected_head: Seq,
    /// Also undo what the Pod's calls after that record changed on the disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// With `files`: also where somebody else has changed a file since, instead of refusing it as `files_changed`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overwrite: bool,
}

impl RewindCommand {
    /// Rewinds the context alone.
    pub fn context(to_seq: Seq, expected_head: Seq) -> Self {
        Self { to_seq, expected_head, files: false, overwrite: false }
    }
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
    /// The tool's arguments, as an object.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub arguments: Value,
}

/// How a tool call that you made ended. A failure of the tool is not a failure of the request.
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
