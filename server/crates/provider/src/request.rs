//! What a model is asked, and the pieces of its answer.

use std::time::Duration;

use protocol::{Message, Proof, Thinking, Usage};
use serde_json::Value;

use crate::Attached;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub purpose: Purpose,
    pub model: String,
    /// How hard the model is asked to think; absent: nothing is asked.
    pub thinking: Option<Thinking>,
    pub messages: Vec<Message>,
    /// What the messages' attachments hold.
    pub attached: Attached,
    pub tools: Vec<ToolSpec>,
    /// What the model is known to have room for, for servers that give it as much as they are asked for.
    pub context_limit: Option<u64>,
}

/// What an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// The next part of the conversation.
    #[default]
    Answer,
    /// What shall stand for the conversation so far; the newest message asks for it.
    Summary,
}

/// A tool as a model is offered it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub schema: Value,
}

/// One piece of an answer. `ToolArgs` of a call come before its `ToolCall`.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// What the provider wants back with the thought that came before, or in the place of one that only it can read.
    Proof(Proof),
    /// A piece of the arguments' JSON text. `index` counts the calls of this answer from 0.
    ToolArgs {
        index: usize,
        name: String,
        text: String,
    },
    /// A call, whole. `call_id` is the provider's, or made when it gives none; it is unique within the messages that
    /// were sent, and not beyond them.
    ToolCall {
        index: usize,
        call_id: String,
        name: String,
        arguments: Value,
    },
    /// Not an answer yet: attempt number `attempt` (from 1) failed and the provider is asked again after `wait`.
    Retry {
        attempt: u32,
        wait: Duration,
        code: String,
        detail: String,
    },
    /// What the provider does not know, and was not asked for: people are told once, in each Pod.
    Alert {
        text: String,
    },
    /// Tokens of this call as its server counts them on the way, all from its beginning; none: it has begun to work. They
    /// count when the answer does not come to its end.
    UsedSoFar(Usage),
    /// Tokens of this call.
    Usage(Usage),
    /// The answer is complete. Nothing follows.
    Finished {
        reason: FinishReason,
    },
}

impl ModelEvent {
    /// A part of the answer itself: once one was given, the provider is not asked again.
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
    /// The provider's limit of output tokens.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// The smallest number so that `call_NUMBER` and all after it are free in these messages. From 1.
pub(crate) fn first_free_call_number(messages: &[Message]) -> usize {
    messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .filter_map(|call| call.call_id.strip_prefix("call_")?.parse::<usize>().ok())
        .map(|number| number.saturating_add(1))
        .fold(1, usize::max)
}
