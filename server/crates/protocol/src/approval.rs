//! Questions about calls: what they show, how they are answered, and the rules that answers make.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{AgentOption, ApiError, Decision, PermissionDecision, PodName, PodRef, RuntimeId, Timestamp};

/// The most questions that one request answers.
pub const ANSWERS_MAX: usize = 200;

/// A call of a Pod that needs your answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Approval {
    pub id: String,
    pub tool: String,
    pub arguments: Value,
    pub asked_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What an open Write or Edit would change in the file as it is now, in the format of `tool_finished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The same in words: `+3 −11`, `new file, 12 lines`, or why it would fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// What an open call would do, taken apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<CallPreview>,
    /// What "always" can mean for an open call, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<PatternOffer>,
    /// The answers that an agent offers to its own question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// Which of them was given, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

impl Approval {
    /// An unanswered approval.
    pub fn open(id: String, tool: String, arguments: Value, asked_at: Timestamp) -> Self {
        Self {
            id,
            tool,
            arguments,
            asked_at,
            decision: None,
            by: None,
            reason: None,
            diff: None,
            effect: None,
            preview: None,
            patterns: Vec::new(),
            options: Vec::new(),
            option: None,
        }
    }
}

/// What an open call would do, as far as it can be seen before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallPreview {
    /// The file that would change, as the call names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Lines that would be added to the file as it is on the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u32>,
    /// Lines that would be removed from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
    /// The file does not exist yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// The changed places with the lines around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<PreviewHunk>,
    /// What would be removed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<String>,
    /// What a command can touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<CommandReach>,
    /// Why the call would fail, or why nothing is known about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One changed place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PreviewHunk {
    /// The number of its first line in the file as it is.
    pub old_start: u32,
    /// The number of its first line in the file as it would be.
    pub new_start: u32,
    /// Each begins with a space, `+` or `-`.
    pub lines: Vec<String>,
}

/// What a command can touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommandReach {
    /// It runs in a sandbox. If not, it has the rights of yoi's own account.
    pub sandboxed: bool,
    /// The folder that it runs in.
    pub cwd: String,
    /// Folders that it can write to.
    pub writes: Vec<String>,
    /// Folders that it can only read, besides the system's programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// `none`, `ask` (each host that a rule or a person allows) or `open`.
    pub network: String,
}

/// One meaning that "always" can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PatternOffer {
    /// Goes into `pattern` of the answer.
    pub pattern: String,
    /// What it means, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many of the Pod's recent calls of this tool it would have allowed, this one not counted.
    pub would_have_allowed: u32,
    /// What it allows beyond what it seems to, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Where a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    /// To one Pod.
    #[default]
    Pod,
    /// To every Pod's calls in one folder.
    Folder,
    /// To every Pod of the server.
    Everywhere,
}

impl RuleScope {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Pod, Self::Folder, Self::Everywhere];

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pod => "pod",
            Self::Folder => "folder",
            Self::Everywhere => "everywhere",
        }
    }

    /// Where that is, for display: `in this folder`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Pod => "in this Pod",
            Self::Folder => "in this folder",
            Self::Everywhere => "everywhere",
        }
    }
}

/// A rule that stands: of a Pod, of a folder, or of the whole server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuleItem {
    /// Goes into `DELETE /api/v1/rules/{id}`.
    pub id: String,
    pub tool: String,
    /// `*` means every call of the tool.
    pub pattern: String,
    pub decision: PermissionDecision,
    pub scope: RuleScope,
    /// The Pod whose rule it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodRef>,
    /// That Pod's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<PodName>,
    /// It applies only to calls in this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What it allows beyond what it seems to, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Separates the id of another runtime from the id that a rule has there.
const THERE: char = '~';

impl RuleItem {
    /// The id of a rule of another runtime, as it is known here.
    pub fn id_there(runtime_id: &RuntimeId, id: &str) -> String {
        format!("{runtime_id}{THERE}{id}")
    }

    /// Which runtime a rule's id names, and the id that the rule has there.
    pub fn place_of(id: &str) -> (RuntimeId, &str) {
        let there = id.split_once(THERE).and_then(|(runtime, rest)| Some((RuntimeId::parse(runtime).ok()?, rest)));
        there.unwrap_or_else(|| (RuntimeId::local(), id))
    }
}

/// Body of `POST P/approvals/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovalCommand {
    pub decision: Decision,
    /// Give the same answer from now on, by a rule.
    #[serde(default)]
    pub remember: bool,
    /// Where that rule applies; to this Pod when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RuleScope>,
    /// Which calls that rule means, as `match` of a rule; exactly this call when absent. It has to cover this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a server of tools has asked for: the fields of its form, an object.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub content: Option<Value>,
    /// One of the options that the question lists, by its id. Absent: the one of them that fits the decision, for this
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let fields = Option::<serde_json::Map<String, Value>>::deserialize(from)?;
    Ok(fields.map(Value::Object))
}

impl ApprovalCommand {
    /// Returns this answer, for this time only.
    pub fn once(decision: Decision) -> Self {
        Self { decision, remember: false, scope: None, pattern: None, reason: None, content: None, option: None }
    }

    /// Returns the answer that chooses this option.
    pub fn option(option: &AgentOption) -> Self {
        let decision = if option.allows() { Decision::Allow } else { Decision::Deny };
        Self { option: Some(option.id.clone()), ..Self::once(decision) }
    }
}

/// Body of `POST /api/v1/approvals`: one answer to several questions, for this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovalsCommand {
    /// The questions: 1 to 200.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub ids: Vec<QuestionId>,
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One question of one Pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuestionId {
    /// An address: `{ runtime_id, worker_id }`, or the text `runtime_id/worker_id`.
    #[serde(deserialize_with = "address")]
    pub pod: PodRef,
    pub id: String,
}

/// Reads an address in either of its forms.
fn address<'de, D: Deserializer<'de>>(from: D) -> Result<PodRef, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => text.parse().map_err(serde::de::Error::custom),
        fields => serde_json::from_value(fields).map_err(serde::de::Error::custom),
    }
}

/// What became of one of several answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnsweredQuestion {
    pub pod: PodRef,
    pub id: String,
    /// The approval with its answer. Absent if it was not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Why it was not answered: `code`, `detail` and the other fields of a problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub error: Option<ApiError>,
}

/// Answer of `POST /api/v1/approvals`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnsweredQuestions {
    /// One for each question, in the order of the request.
    pub items: Vec<AnsweredQuestion>,
}

/// An open question, with the Pod that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "FlatApproval")]
pub struct OpenApproval {
    pub pod: PodRef,
    pub name: PodName,
    /// The Pod that leads the one that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PodRef>,
    #[serde(flatten)]
    pub approval: Approval,
}

/// [`OpenApproval`] for deserializing. Using `flatten` would need a second deserializer for every field, which every
/// page of the console would load.
#[derive(Deserialize)]
struct FlatApproval {
    pod: PodRef,
    name: PodName,
    parent: Option<PodRef>,
    id: String,
    tool: String,
    arguments: Value,
    asked_at: Timestamp,
    decision: Option<Decision>,
    by: Option<String>,
    reason: Option<String>,
    diff: Option<String>,
    effect: Option<String>,
    preview: Option<CallPreview>,
    #[serde(default)]
    patterns: Vec<PatternOffer>,
    #[serde(default)]
    options: Vec<AgentOption>,
    option: Option<String>,
}

impl From<FlatApproval> for OpenApproval {
    fn from(flat: FlatApproval) -> Self {
        let FlatApproval { pod, name, parent, id, tool, arguments, asked_at, .. } = flat;
        let FlatApproval { decision, by, reason, diff, effect, preview, patterns, options, option, .. } = flat;
        let approval = Approval {
            id,
            tool,
            arguments,
            asked_at,
            decision,
            by,
            reason,
            diff,
            effect,
            preview,
            patterns,
            options,
            option,
        };
        Self { pod, name, parent, approval }
    }
}
