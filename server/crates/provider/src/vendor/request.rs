//! Converts our messages and tools into the library's types, for each vendor.

use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, MessageOptions, ReasoningEffort,
    Tool, ToolCall, ToolResponse,
};
use protocol::{Message, Role, Thinking, Thought};
use serde_json::{Map, Value, json};

use super::{
    TimeLimits,
    attachments::{self, Shown},
    frames::Frames,
    ollama, responses,
    weak::Manner,
};
use crate::{ModelRequest, ProviderKind, ToolSpec, attached::Attached};

/// Added on behalf of the user who resumes, if the context ends with the model's own message: most vendors refuse
/// that.
pub(super) const GO_ON: &str = "Go on.";

/// The `type` of a thought that is sent back as its message's `reasoning_content`, or as Ollama's `thinking`.
pub(super) const REASONING_CONTENT: &str = "reasoning_content";

/// A request in the library's types.
pub(super) struct ChatQuestion {
    pub(super) chat: ChatRequest,
    pub(super) options: ChatOptions,
    /// What is sent instead of the library's messages, if those would leave something out.
    pub(super) messages: Option<String>,
}

impl ChatQuestion {
    pub(super) fn new(manner: Manner, request: &ModelRequest, limits: TimeLimits, frames: &Frames) -> Self {
        let kind = manner.wire;
        let options = options(kind, request, limits, frames);
        if kind == ProviderKind::OpenAi {
            let body = responses::body(request, manner.offers_tools);
            let options = options.with_extra_body(body);
            return Self { chat: ChatRequest::new(Vec::new()), options, messages: None };
        }
        let said = messages(kind, request);
        let (said, messages) = match kind {
            ProviderKind::Ollama => (Vec::new(), Some(ollama::messages(&said).to_string())),
            _ => (said, None),
        };
        let mut chat = ChatRequest::new(said);
        if manner.offers_tools && !request.tools.is_empty() {
            chat = chat.with_tools(request.tools.iter().map(tool));
        }
        Self { chat, options, messages }
    }
}

/// Returns what Ollama needs beyond what the library can express: the context size that the model is known to have
/// here, which Ollama does not allocate by default, and a refusal of longer requests, whose beginning it would
/// otherwise drop silently.
pub(super) fn fields(kind: ProviderKind, request: &ModelRequest) -> Map<String, Value> {
    let mut fields = Map::new();
    if kind == ProviderKind::Ollama {
        let room = request.context_limit.map(|limit| ("options", json!({ "num_ctx": limit })));
        let whole = [("truncate", json!(false)), ("shift", json!(false))];
        fields.extend(room.into_iter().chain(whole).map(|(name, value)| (name.to_owned(), value)));
    }
    fields
}

fn options(kind: ProviderKind, request: &ModelRequest, limits: TimeLimits, frames: &Frames) -> ChatOptions {
    // Calls and reasoning are collected by us: the library allocates room for as many calls as an index claims.
    let options = ChatOptions::default()
        .with_stream_header_timeout(limits.header)
        .with_stream_read_timeout(limits.silence)
        .with_capture_usage(true)
        .with_raw_frame_sink(frames.clone());
    let effort = effort(kind, request).filter(|_| kind != ProviderKind::Anthropic || can_think(&request.messages));
    let model = request.model.as_str();
    match kind {
        // Everything is in a body of our own; a budget is the only effort for which the library writes nothing into
        // it.
        ProviderKind::OpenAi => options.with_reasoning_effort(ReasoningEffort::Budget(0)),
        // The library would strip `vendor::` and a suffix like `-high` from the name; the name in the body overrides
        // it.
        ProviderKind::OpenAiCompatible => {
            let options = options.with_extra_body(json!({ "model": model }));
            match effort.or(ReasoningEffort::from_model_name(model).0.map(|_| ReasoningEffort::Budget(0))) {
                // A budget is the only effort that writes nothing into the body.
                Some(effort) => options.with_reasoning_effort(effort),
                None => options,
            }
        }
        // Without this, reasoning is not shown, and its signatures are missing.
        ProviderKind::Anthropic | ProviderKind::Gemini => match effort {
            Some(ReasoningEffort::Zero) => options.with_reasoning_effort(ReasoningEffort::Zero),
            Some(effort) => options.with_reasoning_effort(effort).with_capture_reasoning_content(true),
            None => options,
        },
        ProviderKind::Ollama | ProviderKind::Rehearsal => match effort {
            Some(effort) => options.with_reasoning_effort(effort),
            None => options,
        },
    }
}

/// Token budgets for a model that takes no effort levels.
const OPUS_4_5_BUDGETS: [(Thinking, u32); 4] =
    [(Thinking::Low, 2_048), (Thinking::Medium, 8_000), (Thinking::High, 24_000), (Thinking::Max, 48_000)];

/// The requested thinking level as the library's effort.
fn effort(kind: ProviderKind, request: &ModelRequest) -> Option<ReasoningEffort> {
    let level = request.thinking?;
    // For this model the library would raise the effort without enabling thinking.
    if kind == ProviderKind::Anthropic && request.model.contains("opus-4-5") {
        let budget = OPUS_4_5_BUDGETS.iter().find(|(known, _)| *known == level);
        return Some(budget.map_or(ReasoningEffort::Zero, |(_, budget)| ReasoningEffort::Budget(*budget)));
    }
    // Only this family of Ollama's models accepts a level; the others think or do not, and refuse a request with a
    // level.
    if kind == ProviderKind::Ollama && level != Thinking::Off && !has_levels(&request.model) {
        return Some(ReasoningEffort::Budget(0));
    }
    Some(match level {
        // A budget of zero turns it off in this family.
        Thinking::Off if kind == ProviderKind::Gemini => ReasoningEffort::Budget(0),
        Thinking::Off => ReasoningEffort::Zero,
        Thinking::Low => ReasoningEffort::Low,
        Thinking::Medium => ReasoningEffort::Medium,
        Thinking::High => ReasoningEffort::High,
        Thinking::Max if kind == ProviderKind::Anthropic => ReasoningEffort::Max,
        // OpenAI's name for the maximum.
        Thinking::Max if kind.is_like(ProviderKind::OpenAi) => ReasoningEffort::XHigh,
        Thinking::Max => ReasoningEffort::High,
    })
}

/// Returns whether this Ollama model can be told how hard to think.
pub(super) fn has_levels(model: &str) -> bool {
    model.contains("gpt-oss")
}

/// Anthropic refuses thinking in the middle of calls that were made without it, or whose reasoning is another
/// model's: each answer with calls has to begin with a thought.
fn can_think(messages: &[Message]) -> bool {
    let since_user = messages.iter().rev().take_while(|message| message.role != Role::User);
    since_user.filter(|message| !message.tool_calls.is_empty()).all(|message| !message.thoughts.is_empty())
}

/// The same for all requests of one conversation, because it begins with the same instructions.
pub(super) fn cache_key(messages: &[Message]) -> String {
    // FNV-1a: not cryptographic, and the same in every process.
    let beginning = messages.first().map(|message| message.content.as_bytes()).unwrap_or_default();
    let hash = beginning
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("yoi-{hash:016x}")
}

fn messages(kind: ProviderKind, request: &ModelRequest) -> Vec<ChatMessage> {
    let ModelRequest { messages, attached, .. } = request;
    // Thoughts are of no use to a model that does not think. Gemini's models think, and sign, even without a setting.
    let thinks = request.thinking.map_or(kind == ProviderKind::Gemini, |level| level != Thinking::Off);
    let mut chat: Vec<ChatMessage> = Vec::new();
    let mut results: Vec<Shown> = Vec::new();
    let mut has_called = false;
    for message in messages {
        has_called = (has_called && message.role != Role::User) || !message.tool_calls.is_empty();
        if message.role == Role::Tool {
            results.push(tool_response(message, request));
            continue;
        }
        flush(kind, &mut results, &mut chat);
        let gives_thoughts = match kind {
            ProviderKind::OpenAiCompatible | ProviderKind::Ollama => has_called,
            _ => thinks,
        };
        chat.extend(chat_message(kind, message, attached, gives_thoughts));
    }
    flush(kind, &mut results, &mut chat);
    if messages.last().is_some_and(|last| last.role == Role::Assistant) {
        chat.push(user(kind, GO_ON, Vec::new()));
    }
    if kind == ProviderKind::Anthropic {
        mark_for_cache(&mut chat);
    }
    chat
}

/// Always a list of parts for Anthropic: the library would make a list of a message that is marked for caching and a
/// string of the same message later, and caches match only identical bytes.
fn user(kind: ProviderKind, text: &str, shown: Vec<ContentPart>) -> ChatMessage {
    let text = match kind {
        ProviderKind::Anthropic => ContentPart::from_custom(json!({ "type": "text", "text": text }), None),
        _ => ContentPart::Text(text.to_owned()),
    };
    ChatMessage::user(MessageContent::from_parts(std::iter::once(text).chain(shown).collect::<Vec<_>>()))
}

/// Returns the thoughts that are sent back before an answer. Anthropic needs its blocks unchanged, and Gemini each
/// signature before the part that it came with. A server that sent `reasoning_content` may require it in each answer of
/// a turn with calls, and Ollama gets its `thinking` there.
fn thoughts(kind: ProviderKind, message: &Message) -> Vec<ContentPart> {
    let part = |thought: &Thought| match (kind, thought.data.get("signature").and_then(Value::as_str)) {
        (ProviderKind::Anthropic, None) => Some(ContentPart::from_custom(thought.data.clone(), None)),
        (ProviderKind::Anthropic, Some(signature)) => {
            let block = json!({ "type": "thinking", "thinking": thought.text, "signature": signature });
            Some(ContentPart::from_custom(block, None))
        }
        (ProviderKind::Gemini, Some(signature)) => Some(ContentPart::ThoughtSignature(signature.to_owned())),
        (ProviderKind::OpenAiCompatible | ProviderKind::Ollama, None) if thought.data["type"] == REASONING_CONTENT => {
            Some(ContentPart::ReasoningContent(thought.text.clone()))
        }
        _ => None,
    };
    message.thoughts.iter().filter_map(part).collect()
}

fn flush(kind: ProviderKind, results: &mut Vec<Shown>, chat: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        if kind == ProviderKind::Ollama {
            ollama::in_order_of_calls(results, chat.last());
        }
        chat.extend(attachments::results(kind, std::mem::take(results)));
    }
}

/// Vendors refuse empty texts, so a message without any content is left out.
fn chat_message(
    kind: ProviderKind,
    message: &Message,
    attached: &Attached,
    gives_thoughts: bool,
) -> Option<ChatMessage> {
    let is_blank = message.content.trim().is_empty();
    match message.role {
        Role::System => (!is_blank).then(|| ChatMessage::system(message.content.as_str())),
        Role::User => {
            let (words, shown) = (attached.words(message), attachments::parts(message, attached));
            (!words.trim().is_empty()).then(|| user(kind, &words, shown))
        }
        Role::Assistant => {
            let text = (!is_blank).then(|| ContentPart::Text(message.content.clone()));
            let calls = message.tool_calls.iter().map(|call| ContentPart::ToolCall(tool_call(kind, call)));
            let said: Vec<ContentPart> = text.into_iter().chain(calls).collect();
            let thoughts = if gives_thoughts { thoughts(kind, message) } else { Vec::new() };
            // With calls, Gemini's signature belongs to the first one.
            let at = match kind {
                ProviderKind::Gemini => {
                    said.iter().position(|part| matches!(part, ContentPart::ToolCall(_))).unwrap_or(0)
                }
                _ => 0,
            };
            let mut parts = said;
            let is_blank = parts.is_empty();
            parts.splice(at..at, thoughts);
            (!is_blank).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
        }
        Role::Tool => None,
    }
}

fn tool_call(kind: ProviderKind, call: &protocol::ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        // Only OpenAI's protocols carry arguments as text; the others want an object.
        other if !kind.is_like(ProviderKind::OpenAi) => json!({ "arguments": other }),
        other => other.clone(),
    };
    ToolCall {
        call_id: call.call_id.clone(),
        fn_name: call.name.clone(),
        fn_arguments: arguments,
        thought_signatures: None,
    }
}

fn tool_response(message: &Message, request: &ModelRequest) -> Shown {
    let call_id = message.call_id.clone().unwrap_or_default();
    let calls = request.messages.iter().rev().flat_map(|message| &message.tool_calls);
    let name = calls.filter(|call| call.call_id == call_id).map(|call| call.name.clone()).next();
    let response = ToolResponse::new(call_id, request.attached.words(message));
    let response = match name {
        Some(name) => response.with_fn_name(name),
        None => response,
    };
    Shown { response, parts: attachments::parts(message, &request.attached) }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(spec.schema.clone())
}

/// Lets the next request read the system text and the conversation so far from Anthropic's cache.
fn mark_for_cache(chat: &mut [ChatMessage]) {
    let last_system = chat.iter().rposition(|message| message.role == genai::chat::ChatRole::System);
    let last = chat.len().checked_sub(1);
    for position in last_system.into_iter().chain(last) {
        chat[position].options = Some(MessageOptions::from(CacheControl::Ephemeral));
    }
}
