//! Lists, and the items in them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Cost, Currency, Decision, PodName, PodRef, PodState, RuleScope, RuntimeId, ScopeRule, Seq, Timestamp, both_priced,
};

/// One page of a list. `next` goes into `?after=` (for transcripts, `?before=`); null at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Listing<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// One page of a list gathered from several runtimes. It can be read as a [`Listing`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Gathered<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
    /// Runtimes that did not answer in time: their items are missing, here and on the following pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<RuntimeId>,
}

/// Folders that a new Pod can work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FolderList {
    /// Absolute paths, by name.
    pub items: Vec<String>,
    /// More folders match, or there was no time to look at all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Where a Pod works whose request names no folder.
    pub default: String,
}

/// How a runtime is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuntimeKind {
    Embedded,
    Remote,
    Compat,
}

/// Whether a runtime answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuntimeState {
    Live,
    Connecting,
    Unreachable,
    Unauthorized,
    Incompatible,
}

impl RuntimeState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Connecting => "connecting",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::Incompatible => "incompatible",
        }
    }
}

/// A runtime, without its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuntimeView {
    pub runtime_id: RuntimeId,
    pub kind: RuntimeKind,
    pub state: RuntimeState,
    pub since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Why a Pod sees another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    #[serde(rename = "self")]
    Itself,
    SpawnedChild,
    Peer,
}

/// A Pod as another one's model sees it. It contains no path of the server, no address and no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VisiblePod {
    pub name: PodName,
    pub pod: PodRef,
    /// All reasons that apply.
    pub visibility: Vec<Visibility>,
    pub state: PodState,
    /// It is stopped, and RestorePod can restore it.
    pub restorable: bool,
    /// Why it is in this state, or why it cannot be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The scope that is lent to it; for the Pod itself, its own; empty for a peer.
    pub scope: Vec<ScopeRule>,
    /// How many children it has.
    pub children: u32,
}

/// What compacting a Pod now would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactionPreview {
    /// The number of messages that a summary would replace.
    pub dropped: u32,
    pub kept: u32,
    /// The first record that stays in the context as it is.
    pub kept_from_seq: Seq,
    /// Estimated tokens of the current context; `tokens_kept` counts what would be kept.
    pub tokens_now: u64,
    pub tokens_kept: u64,
}

/// Who did what, from where, and with what result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    pub at: Timestamp,
    pub by: String,
    pub client: String,
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// `done`, `refused` or `failed`.
    pub result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Only `approve`, `tool`, `preview_open` and `preview_close` have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<AuditAbout>,
}

/// Which tool call or port a row is about, and what you answered when you were asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditAbout {
    /// Absent when no approval had the id that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The main argument of a call (a command, a path, an address), at most 200 characters of it; one that was cut ends
    /// with `…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The answer applies from then on: `remember` was set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// Where the rule of a remembered answer applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RuleScope>,
    /// Which calls that rule means, as `match` of a rule, at most 200 characters of it; exactly this call when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// For display, on one line: "always denied Bash: rm -r build (rm *, in this Pod)".
impl fmt::Display for AuditAbout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, subject, decision, remembered, scope, pattern } = self;
        let decided = match decision {
            Some(Decision::Allow) => Some("allowed"),
            Some(Decision::Deny) => Some("denied"),
            None => None,
        };
        let always = (*remembered && decided.is_some()).then_some("always");
        let words: Vec<&str> = always.into_iter().chain(decided).chain(tool.as_deref()).collect();
        formatter.write_str(&words.join(" "))?;
        if !words.is_empty() && subject.is_some() {
            formatter.write_str(": ")?;
        }
        let subject = subject.as_deref().unwrap_or_default();
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        formatter.write_str(&one_line(subject))?;
        match (scope, pattern) {
            (Some(scope), Some(pattern)) => write!(formatter, " ({}, {})", one_line(pattern), scope.words()),
            (Some(scope), None) => write!(formatter, " ({})", scope.words()),
            (None, _) => Ok(()),
        }
    }
}

/// A row of the audit, and the runtime it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditRow {
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// The runtime whose server wrote the row.
    #[serde(default = "RuntimeId::local")]
    pub runtime_id: RuntimeId,
    /// The cursor that continues after this row in the audit of its own runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// One place where a word was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchHit {
    pub pod: PodRef,
    pub name: PodName,
    pub seq: Seq,
    pub kind: String,
    /// The plain text around the hit.
    pub snippet: String,
    /// When it was said. Absent if the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The cursor that continues after this place in a search of its own runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Tokens over all Pods, per Pod and per day (UTC).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageReport {
    pub total: UsageDay,
    pub pods: Vec<UsageOfPod>,
    /// Oldest first; days without any use are left out.
    pub days: Vec<UsageDay>,
    /// Models that were used, those with most tokens first; empty names stand for those of Pods that are long gone.
    #[serde(default)]
    pub models: Vec<UsageOfModel>,
    /// Pods with children, each with all Pods below it.
    pub trees: Vec<UsageOfTree>,
    /// Runs that a message from one Pod began in another, for each pair.
    pub links: Vec<UsageOfLink>,
    /// Runtimes that did not answer in time: what was used there is not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<RuntimeId>,
}

/// Tokens of a Pod and of all Pods below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfTree {
    pub root: PodRef,
    pub name: PodName,
    /// The number of Pods in the tree, including its root.
    pub count: u32,
    #[serde(flatten)]
    pub usage: UsageDay,
}

/// Tokens used because of messages between two Pods, in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfLink {
    pub a: PodRef,
    pub a_name: PodName,
    pub b: PodRef,
    pub b_name: PodName,
    /// The number of runs that their messages began.
    pub runs: u64,
    #[serde(flatten)]
    pub usage: UsageDay,
}

/// Tokens of one day, or of all days when `day` is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageDay {
    /// `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    pub input: u64,
    pub cached: u64,
    /// Tokens that were written to the provider's cache.
    #[serde(default)]
    pub written: u64,
    pub output: u64,
    /// The cost of everything that has a price; absent when nothing has one, or when it is in several currencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The currency of the cost; US dollars when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// Not all of these tokens were counted by a provider: some were estimated by the length of what was said.
    #[serde(default, skip_serializing_if = "is_not")]
    pub estimated: bool,
}

impl UsageDay {
    /// Adds other usage. Usage without a price contributes no cost, and does not hide the cost of the rest.
    pub fn add(&mut self, more: &Self) {
        self.input += more.input;
        self.cached += more.cached;
        self.written += more.written;
        self.output += more.output;
        (self.cost, self.currency) = both_priced((self.cost, self.currency), (more.cost, more.currency));
        self.estimated |= more.estimated;
    }
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// Tokens of one model, over all Pods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfModel {
    pub provider: String,
    pub model: String,
    #[serde(flatten)]
    pub usage: UsageDay,
}

/// Tokens of one Pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfPod {
    pub pod: PodRef,
    pub name: PodName,
    #[serde(flatten)]
    pub usage: UsageDay,
}
