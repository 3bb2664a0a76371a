//! A request to a model, and the events of its answer.

use std::time::Duration;

use protocol::{Message, Proof, Thinking, Usage, WorkerId};
use serde_json::Value;

use crate::Attached;

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub purpose: Purpose,
    pub model: String,
    /// The requested thinking level; `None` leaves it to the provider.
    pub thinking: Option<Thinking>,
    pub messages: Vec<Message>,
    /// The contents of the messages' attachments.
    pub attached: Attached,
    pub tools: Vec<ToolSpec>,
    /// The known context size of the model, for servers that allocate as much as the request asks for.
    pub context_limit: Option<u64>,
    /// The Pod whose conversation it is, for tracing; never sent to the provider.
    pub conversation: Option<WorkerId>,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// The next part of the conversation.
    #[default]
    Answer,
    /// A summary to replace the conversation so far; the newest message asks for it.
    Summary,
}

/// A tool offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON schema of the arguments, an object.
    pub schema: Value,
}

/// One event of an answer. The `ToolArgs` of a call precede its `ToolCall`.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// Opaque data that the provider wants back, with the reasoning before it or in place of reasoning that only the
    /// provider can read.
    Proof(Proof),
    /// A chunk of the arguments' JSON text. `index` counts the calls of this answer from 0.
    ToolArgs {
        index: usize,
        name: String,
        text: String,
    },
    /// A complete call. `call_id` is the provider's, or generated if it gives none; it is unique within the messages
    /// that were sent, and not beyond them.
    ToolCall {
        index: usize,
        call_id: String,
        name: String,
        arguments: Value,
    },
    /// Not part of an answer: attempt `attempt` (from 1) failed, and the provider is asked again after `wait`.
    Retry {
        attempt: u32,
        wait: Duration,
        code: String,
        detail: String,
    },
    /// Something that the provider does not support and had to be left out; shown to the user once per Pod.
    Alert {
        text: String,
    },
    /// The tokens of the whole call so far, as the server counts them on the way; zero means that it has begun to work.
    /// They count if the answer does not reach its end.
    UsedSoFar(Usage),
    /// The tokens used by this request.
    Usage(Usage),
    /// The answer is complete. Nothing follows.
    Finished {
        reason: FinishReason,
    },
}

impl ModelEvent {
    /// Whether this is part of the answer itself: after one of these the request is not retried.
    pub fn is_delta(&self) -> bool {
        matches!(
            self,
            Self::Text(_) | Self::Reasoning(_) | Self::Proof(_) | Self::ToolArgs { .. } | Self::ToolCall { .. }
        )
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    ToolCalls,
    /// The provider's limit on output tokens was reached.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// The smallest number, from 1, such that `call_NUMBER` and all higher ones are unused in these messages.
pub(crate) fn first_free_call_number(messages: &[Message]) -> usize {
    messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .filter_map(|call| call.call_id.strip_prefix("call_")?.parse::<usize>().ok())
        .map(|number| number.saturating_add(1))
        .fold(1, usize::max)
}
