//! `list_pods` and `create_pod`.

use protocol::{
    ApiError, PodName, PodState, PodSummary,
    operation::{Filled, Limit, Loose},
    operations::{Create, Pods},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, Hints, PersonTool};

/// The default and the maximum number of Pods on one page.
const LISTED: u32 = 50;
const LISTED_MAX: u32 = 200;

/// A Pod in brief.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PodLine {
    /// The Pod's address, which every tool accepts: `runtime_id/worker_id`.
    pub(super) pod: String,
    pub(super) name: String,
    /// idle, running, paused, waiting (for an approval), stopped, unreachable or broken.
    pub(super) state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state_reason: Option<String>,
    /// What it is doing now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) activity: Option<String>,
    /// A person has to act: an approval is open, or the last run failed.
    pub(super) needs_you: bool,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) cwd: String,
    pub(super) updated_at: String,
}

impl From<PodSummary> for PodLine {
    fn from(summary: PodSummary) -> Self {
        Self {
            pod: summary.pod.to_string(),
            name: summary.name.to_string(),
            state: summary.state.as_str().to_owned(),
            state_reason: summary.state_reason,
            activity: summary.activity,
            needs_you: summary.needs_you,
            provider: summary.provider,
            model: summary.model,
            cwd: summary.cwd,
            updated_at: summary.updated_at.to_string(),
        }
    }
}

pub(super) struct ListPods;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Exactly this name.
    #[serde(default)]
    name: Option<String>,
    /// Only Pods in this state: idle, running, paused, waiting, stopped, unreachable or broken.
    #[serde(default)]
    state: Option<String>,
    /// Part of a name, working directory, model or activity; case-insensitive.
    #[serde(default)]
    q: Option<String>,
    /// `next` of the previous page.
    #[serde(default)]
    after: Option<String>,
    /// The maximum number of Pods, up to 200; 50 when absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    pods: Vec<PodLine>,
    /// Present if there are more: pass it as `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl PersonTool for ListPods {
    const NAME: &'static str = "list_pods";
    const TITLE: &'static str = "List Pods";
    const DESCRIPTION: &'static str =
        "Lists the Pods (durable agents) of this yoi and of the servers that it reaches, with what each is doing now.";
    const HINTS: Hints = Hints::Reads;
    type Arguments = ListArguments;
    type Answer = Listed;

    async fn act(call: &Call<'_>, arguments: ListArguments) -> Result<Listed, ApiError> {
        let ListArguments { name, state, q, after, limit } = arguments;
        let name = name.map(|name| PodName::parse(&name)).transpose();
        let name = name.map_err(|error| ApiError::invalid(format!("`name`: {error}")))?;
        let query = Pods {
            name: Filled(name),
            state: Filled(state.map(|state| state_named(&state)).transpose()?),
            q: Loose(q),
            after: Loose(after),
            limit: Limit(checked(limit)?),
        };
        let page = call.backend.read(query).await?;
        Ok(Listed { pods: page.items.into_iter().map(PodLine::from).collect(), next: page.next })
    }
}

fn state_named(text: &str) -> Result<PodState, ApiError> {
    PodState::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
        let known = PodState::ALL.map(PodState::as_str).join(", ");
        ApiError::invalid(format!("`state` is one of {known}"))
    })
}

fn checked(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit {
        None => Ok(LISTED),
        Some(0) => Err(ApiError::invalid(format!("`limit` is a number from 1 to {LISTED_MAX}"))),
        Some(limit) => Ok(limit.min(LISTED_MAX)),
    }
}

pub(super) struct CreatePod;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateArguments {
    /// A name that no other Pod has: 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen.
    name: String,
    /// The runtime where it will live; this server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runtime_id: Option<String>,
    /// A profile from the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The instructions at the head of its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// Absolute path of its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Whether it works in a git work tree of its own, with a new branch, made from the working directory's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worktree: Option<bool>,
    /// The folders that it reads and writes; its working directory, for writing, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<Vec<Rule>>,
    /// How it responds to being added as a peer: open, ask or closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peer_policy: Option<String>,
}

/// A rule for one folder or file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// An absolute path.
    path: String,
    /// read, write or deny.
    access: String,
    /// Whether the rule applies to everything beneath the path; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recursive: Option<bool>,
}

impl PersonTool for CreatePod {
    const NAME: &'static str = "create_pod";
    const TITLE: &'static str = "Create a Pod";
    const DESCRIPTION: &'static str = "Creates a new Pod: a durable agent with a model, a working directory and a scope of folders. It \
                                       does nothing until `send` gives it something to do.";
    const HINTS: Hints = Hints::Adds;
    type Arguments = CreateArguments;
    type Answer = PodLine;

    async fn act(call: &Call<'_>, arguments: CreateArguments) -> Result<PodLine, ApiError> {
        // The protocol's own type validates this, and words its errors.
        let body = serde_json::from_value(json!(arguments)).map_err(|error| ApiError::invalid(error.to_string()))?;
        let made = call.backend.carry_out(&call.origin, call.key.clone(), Create { body }).await?;
        Ok(made.into())
    }
}
