//! What a Pod's model would be sent now.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BlobId;

/// Answer of `GET P/history`. The same journal gives the same bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct History {
    pub messages: Vec<Message>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// One message of a model's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    pub role: Role,
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Thoughts that are sent back to the model exactly as it gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<Thought>,
    /// The pictures and files attached to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A picture or a file attached to a message. Its content is not included; a provider gets it with the model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attachment {
    pub blob: BlobId,
    pub media_type: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A thought with what its provider wants back with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Thought {
    pub text: String,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub data: Value,
    /// The Pod's policy hides its text from people: the model is sent more than is shown here.
    #[serde(default, skip_serializing_if = "is_shown")]
    pub hidden: bool,
}

fn is_shown(hidden: &bool) -> bool {
    !hidden
}

/// The `type` of thought data that belongs to the text before it: how to take that text, not something that was
/// thought.
pub const THOUGHT_OF_WORDS: &str = "message";

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            call_id: None,
            reasoning: None,
            thoughts: Vec::new(),
            attachments: Vec::new(),
        }
    }
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolCall {
    pub call_id: String,
    pub name: String,
    pub arguments: Value,
}
