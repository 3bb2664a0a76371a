//! A Pod as shown in a list, and on its own page.

use serde::{Deserialize, Serialize};

use crate::{
    AgentView, Budget, BudgetUse, Cost, Currency, Cut, Mode, ModelName, PlanEntry, PodName, PodRef, ScopeRule, Segment,
    Seq, Thinking, Timestamp, WorkerId, both_priced,
};

/// What a Pod is doing, as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PodState {
    Idle,
    Running,
    Paused,
    /// A person has to answer before the run continues.
    Waiting,
    /// Not live; `restore` brings it back.
    Stopped,
    /// Its runtime does not answer.
    Unreachable,
    /// Cannot be restored; `state_reason` says why.
    Broken,
}

impl PodState {
    pub const ALL: [Self; 7] =
        [Self::Idle, Self::Running, Self::Paused, Self::Waiting, Self::Stopped, Self::Unreachable, Self::Broken];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::Unreachable => "unreachable",
            Self::Broken => "broken",
        }
    }

    /// Whether commands reach it: idle, running, paused or waiting.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Idle | Self::Running | Self::Paused | Self::Waiting)
    }
}

/// Tokens, in the provider's own count. `input` includes `cached` and `written`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    pub input: u64,
    pub cached: u64,
    /// Tokens that were written to the provider's cache.
    #[serde(default)]
    pub written: u64,
    pub output: u64,
    /// Tokens of context that the newest model call used.
    #[serde(default)]
    pub context_used: u64,
    /// The size of the model's context, in tokens; absent, and 0 here, when unknown.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub context_limit: u64,
    /// Absent when the model has no price, or when the cost is in several currencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The currency of the cost; US dollars when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// The provider reported no tokens: some of these were estimated from the length of the text.
    #[serde(default, skip_serializing_if = "is_not")]
    pub estimated: bool,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

fn is_none_of(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Adds later usage; the context figures are the later ones.
    pub fn add(&mut self, later: &Self) {
        self.input += later.input;
        self.cached += later.cached;
        self.written += later.written;
        self.output += later.output;
        self.context_used = later.context_used;
        self.context_limit = later.context_limit;
        (self.cost, self.currency) = both_priced((self.cost, self.currency), (later.cost, later.currency));
        self.estimated |= later.estimated;
    }
}

/// The Pod's parent, and how many children and peers it has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Relations {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PodRef>,
    pub children: u32,
    pub peers: u32,
}

/// A Pod in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PodSummary {
    pub pod: PodRef,
    pub name: PodName,
    pub state: PodState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    pub provider: String,
    pub model: String,
    /// The agent that answers in it; then the provider is `acp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub cwd: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub head_seq: Seq,
    /// What it is doing now, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// You have to act: an approval is open, or the last run failed.
    pub needs_you: bool,
    /// `retry` would be refused with this code: every message has its answer, or the run is paused between calls.
    /// Absent when it is false, and while that is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_to_retry: bool,
    /// Answers finished since you last looked.
    pub unread: u32,
    /// The number of queued messages; absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued_count: u32,
    pub relations: Relations,
    pub usage: Usage,
    /// The most that it may use together with all Pods below it; null for no limit.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Absent where its folder is in no git repository, and where that is not known yet. In a list as it was when the
    /// Pod last did something or was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitView>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How a Pod responds to being added as a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PeerPolicy {
    #[default]
    Open,
    Ask,
    Closed,
}

/// What the commands of a Pod can reach on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NetworkPolicy {
    /// Nothing.
    None,
    /// Each host that a rule allows, or a person when asked.
    #[default]
    Ask,
    /// All that the machine reaches, this machine too.
    Open,
}

impl NetworkPolicy {
    pub const ALL: [Self; 3] = [Self::None, Self::Ask, Self::Open];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ask => "ask",
            Self::Open => "open",
        }
    }
}

/// How much of a Pod's reasoning is sent to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasoningPolicy {
    #[default]
    Full,
    /// The first line of each finished block, at most 200 characters.
    Summary,
    Hidden,
}

/// What happens when a model calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    Allow,
    Ask,
    Deny,
}

impl PermissionDecision {
    /// The decision that allows less.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny, _) | (_, Self::Deny) => Self::Deny,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

/// One rule for tool calls; the first one that matches decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// A tool's name; in a new rule, 1 to 200 characters, and not only spaces.
    pub tool: String,
    /// A pattern for the call's main argument; `*` stands for any text. Every call when absent. In a new rule, 1
    /// to 4,096 characters, and not only spaces.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Only calls in this folder, an absolute path; in any folder when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The Pod that `match` named when the rule was made. The rule does not apply to another one that gets this
    /// name later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<WorkerId>,
    pub decision: PermissionDecision,
}

/// A queued message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueuedInput {
    pub command_id: String,
    pub segments: Vec<Segment>,
    pub at: Timestamp,
    /// It joins the current run at its next model call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    /// Present if its text is cut here, with the bytes of the whole; taking it back returns the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// A Pod on its own page: the fields of its summary, and more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PodDetail {
    #[serde(flatten)]
    pub summary: PodSummary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How hard its model is asked to think; the model's own default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Present if there is a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_used: Option<BudgetUse>,
    /// The models to try in turn, for the rest of a run, when its own one is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub fallback: Vec<ModelName>,
    /// Whether it resumes by itself, once, when a provider's usage limit is over.
    #[serde(default)]
    pub auto_resume: bool,
    pub scope: Vec<ScopeRule>,
    pub peer_policy: PeerPolicy,
    pub wake_on_peer: bool,
    pub permissions: Vec<PermissionRule>,
    /// What some of these rules allow beyond what they seem to; one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What its commands can reach on the network. Those of a child reach no more than those of its parent.
    #[serde(default)]
    pub network: NetworkPolicy,
    /// What it does without asking. A child does no more than its parent.
    #[serde(default)]
    pub mode: Mode,
    pub reasoning: ReasoningPolicy,
    /// Queued messages, oldest first.
    pub queued: Vec<QueuedInput>,
    /// Pods that this one spawned, oldest first.
    #[serde(default)]
    pub children: Vec<ChildView>,
    /// What its agent is, offers and plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentView>,
    /// Its task list, in the words of the tool Tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::task")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::Task>))]
    pub tasks: Vec<PlanEntry>,
}

/// The git repository that a Pod's folder is in, as it was a moment ago.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GitView {
    /// The branch, or the beginning of the commit's id where none is checked out.
    pub branch: String,
    /// Something is not committed, new files included.
    pub dirty: bool,
    /// Commits that the branch has and its upstream has not. Without an upstream, the branch that the work tree came
    /// from takes its place; without either, 0.
    pub ahead: u32,
    /// The reverse.
    pub behind: u32,
    /// Lines that were added since the branch left the one that it came from, committed or not, new files included; of
    /// a branch that came from none, what is not committed. Absent: none, or too many to count in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: u32,
    /// Lines that were removed since then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u32,
    /// The folder of the Pod's own work tree, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch that its own work tree came from, which `merge` goes into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The name of the repository's folder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repository: String,
}

impl GitView {
    /// `main, not committed, 2 ahead`.
    pub fn words(&self) -> String {
        std::iter::once(self.branch.clone()).chain(self.state_words()).collect::<Vec<_>>().join(", ")
    }

    /// `not committed, 2 ahead`; empty if there is nothing to say.
    pub fn state_words(&self) -> Vec<String> {
        let count = |count: u32, word: &str| (count > 0).then(|| format!("{count} {word}"));
        let dirty = self.dirty.then(|| "not committed".to_owned());
        [dirty, count(self.ahead, "ahead"), count(self.behind, "behind")].into_iter().flatten().collect()
    }
}

/// A child, as its parent's page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChildView {
    pub pod: PodRef,
    pub name: PodName,
    pub state: PodState,
    /// The scope that is lent to it now; empty once it was taken back.
    pub scope: Vec<ScopeRule>,
}
