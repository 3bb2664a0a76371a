//! `list_approvals` and `approve`.

use protocol::{ApiError, Approval, PodRef, operations::AnswerApproval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Call, Hints, PersonTool};

/// The maximum number of approvals in one answer; there are as many as waiting Pods, and the calls that they ask for.
const LISTED_MAX: usize = 200;
/// How many bytes of a call's arguments are listed; the Pod's transcript has all of them.
const ARGUMENTS_BYTES_MAX: usize = 16 * 1024;

/// A call that a Pod may make only if a person allows it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Question {
    pod: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    id: String,
    tool: String,
    /// The arguments of the call, as JSON; data from a model.
    arguments: String,
    asked_at: String,
    /// What a change would do to its file, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<String>,
    /// allow or deny, once it is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Question {
    fn of(pod: &PodRef, name: Option<String>, approval: Approval) -> Self {
        let mut arguments = approval.arguments.to_string();
        if arguments.len() > ARGUMENTS_BYTES_MAX {
            arguments.truncate(arguments.floor_char_boundary(ARGUMENTS_BYTES_MAX));
            arguments.push_str(" [cut]");
        }
        Self {
            pod: pod.to_string(),
            name,
            id: approval.id,
            tool: approval.tool,
            arguments,
            asked_at: approval.asked_at.to_string(),
            effect: approval.effect,
            decision: approval.decision.and_then(|decision| json!(decision).as_str().map(str::to_owned)),
            by: approval.by,
            reason: approval.reason,
        }
    }
}

pub(super) struct ListApprovals;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Only approvals of this Pod: its name, `name@runtime_id` or `runtime_id/worker_id`.
    #[serde(default)]
    pod: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Questions {
    /// Oldest first.
    approvals: Vec<Question>,
    /// The number of open approvals that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

impl PersonTool for ListApprovals {
    const NAME: &'static str = "list_approvals";
    const TITLE: &'static str = "List open approvals";
    const DESCRIPTION: &'static str =
        "Lists the open approvals of all Pods or of one: calls that wait until a person allows them.";
    const HINTS: Hints = Hints::Reads;
    type Arguments = ListArguments;
    type Answer = Questions;

    async fn act(call: &Call<'_>, arguments: ListArguments) -> Result<Questions, ApiError> {
        let only = match arguments.pod {
            Some(pod) => Some(call.backend.resolve(&pod).await?),
            None => None,
        };
        let mut open = call.backend.everywhere().open_approvals().await?.items;
        open.retain(|open| only.as_ref().is_none_or(|only| open.pod == *only));
        let left_out = open.len().saturating_sub(LISTED_MAX) as u64;
        let shown = open.into_iter().take(LISTED_MAX);
        let approvals = shown.map(|open| Question::of(&open.pod, Some(open.name.to_string()), open.approval)).collect();
        Ok(Questions { approvals, left_out: (left_out > 0).then_some(left_out) })
    }
}

pub(super) struct Approve;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveArguments {
    /// The Pod that asks: its name, `name@runtime_id` or `runtime_id/worker_id`.
    pod: String,
    /// The approval's id, as listed by list_approvals.
    id: String,
    decision: Decided,
    /// Give the same answer from now on for this Pod, this tool and exactly this argument.
    #[serde(default)]
    remember: bool,
    /// A reason, which is passed to the model that asked.
    #[serde(default)]
    reason: Option<String>,
    /// Where the question is a form (its arguments have a schema): an object with its fields.
    #[serde(default)]
    content: Option<Map<String, Value>>,
    /// Where the question lists options: the id of one of them.
    #[serde(default)]
    option: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decided {
    Allow,
    Deny,
}

impl PersonTool for Approve {
    const NAME: &'static str = "approve";
    const TITLE: &'static str = "Answer an approval";
    const DESCRIPTION: &'static str = "Answers an open approval: allow or deny the call. The first answer counts, whoever gives it. Ask the \
                                       person you work for before you allow anything.";
    const HINTS: Hints = Hints::Acts;
    type Arguments = ApproveArguments;
    type Answer = Question;

    async fn act(call: &Call<'_>, arguments: ApproveArguments) -> Result<Question, ApiError> {
        let ApproveArguments { pod, id, decision, remember, reason, content, option } = arguments;
        let pod = call.backend.resolve(&pod).await?;
        let mut said = json!({ "decision": decision, "remember": remember });
        if let Some(reason) = reason {
            said["reason"] = Value::String(reason);
        }
        if let Some(content) = content {
            said["content"] = Value::Object(content);
        }
        if let Some(option) = option {
            said["option"] = Value::String(option);
        }
        let body = serde_json::from_value(said).map_err(|error| ApiError::invalid(error.to_string()))?;
        let answer = AnswerApproval { pod: pod.clone(), id, body };
        let answered = call.backend.carry_out(&call.origin, call.key.clone(), answer).await?;
        Ok(Question::of(&pod, None, answered))
    }
}
