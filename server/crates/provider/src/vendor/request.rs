//! Our messages and tools as the library wants them, for each vendor's taste.

use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, MessageOptions, ReasoningEffort,
    Tool, ToolCall, ToolResponse,
};
use protocol::{Message, Role};
use serde_json::{Value, json};

use super::{TimeLimits, frames::Frames};
use crate::{ModelRequest, ProviderKind, ToolSpec};

/// Said for the person who resumes, where the context ends with the model's own words: most vendors refuse that.
const GO_ON: &str = "Go on.";

/// A question in the library's terms.
pub(super) struct ChatQuestion {
    pub(super) chat: ChatRequest,
    pub(super) options: ChatOptions,
}

impl ChatQuestion {
    pub(super) fn new(kind: ProviderKind, request: &ModelRequest, limits: TimeLimits, frames: &Frames) -> Self {
        let mut chat = ChatRequest::new(messages(kind, &request.messages));
        if !request.tools.is_empty() {
            chat = chat.with_tools(request.tools.iter().map(tool));
        }
        Self { chat, options: options(kind, &request.model, limits, frames) }
    }
}

fn options(kind: ProviderKind, model: &str, limits: TimeLimits, frames: &Frames) -> ChatOptions {
    // Calls and reasoning are kept by us: the library makes room for as many calls as an index says, whatever it says.
    let options = ChatOptions::default()
        .with_stream_header_timeout(limits.header)
        .with_stream_read_timeout(limits.silence)
        .with_capture_usage(true)
        .with_raw_frame_sink(frames.clone());
    match kind {
        // The library would cut `vendor::` and an ending like `-high` off the name; the body's own name wins.
        ProviderKind::OpenAi => {
            let options = options.with_extra_body(json!({ "model": model }));
            match ReasoningEffort::from_model_name(model).0 {
                // A budget is the one effort that writes nothing into the body.
                Some(_) => options.with_reasoning_effort(ReasoningEffort::Budget(0)),
                None => options,
            }
        }
        _ => options,
    }
}

fn messages(kind: ProviderKind, messages: &[Message]) -> Vec<ChatMessage> {
    let mut chat: Vec<ChatMessage> = Vec::new();
    let mut results: Vec<ToolResponse> = Vec::new();
    for message in messages {
        if message.role == Role::Tool {
            results.push(tool_response(message, messages));
            continue;
        }
        flush(kind, &mut results, &mut chat);
        chat.extend(chat_message(kind, message));
    }
    flush(kind, &mut results, &mut chat);
    if messages.last().is_some_and(|last| last.role == Role::Assistant) {
        chat.push(ChatMessage::user(GO_ON));
    }
    if kind == ProviderKind::Anthropic {
        mark_for_cache(&mut chat);
    }
    chat
}

/// Results of one turn: Anthropic and Gemini want them in one message, the others each in its own.
fn flush(kind: ProviderKind, results: &mut Vec<ToolResponse>, chat: &mut Vec<ChatMessage>) {
    if results.is_empty() {
        return;
    }
    let results = std::mem::take(results);
    match kind {
        ProviderKind::Anthropic | ProviderKind::Gemini => chat.push(ChatMessage::from(results)),
        _ => chat.extend(results.into_iter().map(ChatMessage::from)),
    }
}

/// Vendors refuse empty texts, so a message without any content is left out.
fn chat_message(kind: ProviderKind, message: &Message) -> Option<ChatMessage> {
    let is_blank = message.content.trim().is_empty();
    match message.role {
        Role::System => (!is_blank).then(|| ChatMessage::system(message.content.as_str())),
        Role::User => (!is_blank).then(|| ChatMessage::user(message.content.as_str())),
        Role::Assistant => {
            let text = (!is_blank).then(|| ContentPart::Text(message.content.clone()));
            let calls = message.tool_calls.iter().map(|call| ContentPart::ToolCall(tool_call(kind, call)));
            let parts: Vec<_> = text.into_iter().chain(calls).collect();
            (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
        }
        Role::Tool => None,
    }
}

fn tool_call(kind: ProviderKind, call: &protocol::ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        // Only OpenAI's wire carries arguments as text; the others want an object.
        other if kind != ProviderKind::OpenAi => json!({ "arguments": other }),
        other => other.clone(),
    };
    ToolCall {
        call_id: call.call_id.clone(),
        fn_name: call.name.clone(),
        fn_arguments: arguments,
        thought_signatures: None,
    }
}

fn tool_response(message: &Message, messages: &[Message]) -> ToolResponse {
    let call_id = message.call_id.clone().unwrap_or_default();
    let calls = messages.iter().rev().flat_map(|message| &message.tool_calls);
    let name = calls.filter(|call| call.call_id == call_id).map(|call| call.name.clone()).next();
    let response = ToolResponse::new(call_id, message.content.as_str());
    match name {
        Some(name) => response.with_fn_name(name),
        None => response,
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(spec.schema.clone())
}

/// The system text and the conversation so far are read from Anthropic's cache the next time.
fn mark_for_cache(chat: &mut [ChatMessage]) {
    let last_system = chat.iter().rposition(|message| message.role == genai::chat::ChatRole::System);
    let last = chat.len().checked_sub(1);
    for position in last_system.into_iter().chain(last) {
        chat[position].options = Some(MessageOptions::from(CacheControl::Ephemeral));
    }
}
