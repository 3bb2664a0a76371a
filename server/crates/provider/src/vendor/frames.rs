//! Reads what the library drops from the frames on the wire.
//!
//! It ignores tool calls without an index, an end without `[DONE]`, and Ollama's error lines; servers that speak chat
//! completions do all of these. From the Responses API it reads only the text. So each frame is also inspected here.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use protocol::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::{
    calls::CallPiece,
    notice::Notice,
    responses::{self, AFTER_CALLS, End, Read},
    usage,
};
use crate::ProviderKind;

/// Everything noticed and not yet taken.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    pub(super) notices: Vec<Notice>,
    /// Calls begun so far, as far as noticed here.
    calls: usize,
    /// The end of a Responses API answer.
    pub(super) end: Option<End>,
    /// Whether reasoning came as `reasoning_content`, which its server may want back.
    pub(super) has_reasoning_content: bool,
    /// The value of `finish_reason`: the answer is complete, whatever follows.
    pub(super) finish_reason: Option<String>,
    /// `usage` from the newest frame that had one.
    pub(super) usage: Option<Value>,
    /// Tokens that were counted on the way and not reported yet.
    pub(super) used: Option<Usage>,
    /// An error inside the stream.
    pub(super) error: Option<Value>,
    /// Whether something arrived that is not an event, which the library drops.
    pub(super) is_no_event: bool,
}

/// Shared with the library, which calls it for each frame.
#[derive(Debug, Clone)]
pub(super) struct Frames {
    pub(super) kind: ProviderKind,
    noticed: Arc<Mutex<Noticed>>,
    /// Whether anything arrived at all.
    has_come: Arc<AtomicBool>,
}

impl Frames {
    pub(super) fn new(kind: ProviderKind) -> Self {
        Self { kind, noticed: Arc::default(), has_come: Arc::default() }
    }

    /// Whether nothing has arrived.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_come.load(Relaxed)
    }

    /// Calls `read` with what was noticed so far.
    pub(super) fn with<T>(&self, read: impl FnOnce(&mut Noticed) -> T) -> T {
        read(&mut self.noticed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.has_come.store(true, Relaxed);
        if frame.data.is_empty() {
            self.with(|noticed| noticed.is_no_event = true);
            return;
        }
        match self.kind {
            ProviderKind::OpenAi => {
                if let Some(read) = responses::read(frame.data) {
                    self.with(|noticed| noticed.take(read));
                }
            }
            ProviderKind::OpenAiCompatible => {
                if gives_reasoning_content(frame.data) {
                    self.with(|noticed| noticed.has_reasoning_content = true);
                }
                if says_more_than_text(frame.data)
                    && let Ok(chunk) = serde_json::from_str::<Chunk>(frame.data)
                {
                    self.with(|noticed| noticed.take_chunk(chunk));
                }
            }
            ProviderKind::Ollama => {
                if let Ok(Line { error: Some(error) }) = serde_json::from_str(frame.data) {
                    self.with(|noticed| noticed.error = Some(error));
                }
            }
            ProviderKind::Anthropic => {
                if frame.data.contains("\"message_start\"")
                    && let Ok(Started { message }) = serde_json::from_str(frame.data)
                {
                    self.with(|noticed| noticed.used = message.usage.as_ref().map(usage::anthropic));
                }
                if frame.data.contains("\"redacted_thinking\"")
                    && let Ok(Begun { content_block }) = serde_json::from_str(frame.data)
                {
                    self.with(|noticed| noticed.notices.push(Notice::Thought(content_block)));
                }
            }
            ProviderKind::Gemini => {
                if frame.data.contains("\"usageMetadata\"")
                    && let Ok(Counted { usage: Some(usage) }) = serde_json::from_str(frame.data)
                {
                    self.with(|noticed| noticed.used = Some(usage::gemini(&usage)));
                }
            }
            ProviderKind::Rehearsal => (),
        }
    }
}

/// The beginning of an answer from Anthropic.
#[derive(Deserialize)]
struct Started {
    message: StartedMessage,
}

#[derive(Deserialize)]
struct StartedMessage {
    usage: Option<Value>,
}

/// The parts of a piece from Gemini that concern counting.
#[derive(Deserialize)]
struct Counted {
    #[serde(rename = "usageMetadata")]
    usage: Option<Value>,
}

/// The start of one of Anthropic's blocks.
#[derive(Deserialize)]
struct Begun {
    content_block: Value,
}

/// False for a frame with nothing but text, as most are, which need not be parsed twice.
fn says_more_than_text(frame: &str) -> bool {
    let goes_on = frame.contains("\"finish_reason\":null") || frame.contains("\"finish_reason\": null");
    !goes_on
        || ["\"tool_calls\"", "\"usage\"", "\"refusal\":\"", "\"refusal\": \""].iter().any(|name| frame.contains(name))
}

fn gives_reasoning_content(frame: &str) -> bool {
    frame.contains("\"reasoning_content\":\"") || frame.contains("\"reasoning_content\": \"")
}

impl Noticed {
    fn take(&mut self, read: Read) {
        match read {
            Read::Notice(notice) => self.push(notice),
            Read::Begun => self.used = Some(Usage::default()),
            Read::End(end) => self.end = Some(end),
        }
    }

    /// A thought records how many calls precede it.
    pub(super) fn push(&mut self, mut notice: Notice) {
        match &mut notice {
            Notice::Call(CallPiece { name: Some(_), .. }) | Notice::Whole(CallPiece { index: None, .. }) => {
                self.calls += 1
            }
            Notice::Thought(thought) if self.calls > 0 => thought[AFTER_CALLS] = Value::from(self.calls),
            _ => (),
        }
        self.notices.push(notice);
    }

    fn take_chunk(&mut self, chunk: Chunk) {
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            self.finish_reason = choice.finish_reason.or_else(|| self.finish_reason.take());
            let Delta { refusal, tool_calls } = choice.delta.unwrap_or_default();
            self.notices.extend(refusal.filter(|text| !text.is_empty()).map(Notice::Text));
            let pieces = tool_calls.unwrap_or_default();
            self.notices.extend(pieces.into_iter().map(|piece| Notice::Call(CallPiece::from(piece))));
        }
        if let Some(usage) = chunk.usage.filter(Value::is_object) {
            self.used = Some(usage::chat_completions(&usage));
            self.usage = Some(usage);
        }
    }
}

/// The parts of a chat completions frame that we read. All may be missing or null.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    refusal: Option<String>,
    tool_calls: Option<Vec<ToolCallDelta>>,
}

#[derive(Deserialize)]
struct ToolCallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

/// An error line in Ollama's protocol.
#[derive(Deserialize)]
struct Line {
    error: Option<Value>,
}

impl From<ToolCallDelta> for CallPiece {
    fn from(delta: ToolCallDelta) -> Self {
        let (name, arguments) = delta.function.map_or((None, None), |function| (function.name, function.arguments));
        let text = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(whole) => whole.to_string(),
        };
        Self { index: delta.index, id: delta.id, name, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_say_more_than_text_are_read() {
        let frame = |delta: &str, rest: &str| format!("{{\"choices\":[{{\"delta\":{{{delta}}},{rest}}}]}}");
        let text = "\"content\":\"a\"";
        assert!(!says_more_than_text(&frame(text, "\"finish_reason\":null")));
        assert!(!says_more_than_text(&frame(text, "\"finish_reason\": null")));
        assert!(says_more_than_text(&frame(text, "\"finish_reason\":\"stop\"")));
        assert!(says_more_than_text(&frame("\"tool_calls\":[{}]", "\"finish_reason\":null")));
        assert!(says_more_than_text(&frame(text, "\"finish_reason\":null}],\"usage\":{},\"x\":[{")));
        assert!(says_more_than_text(&frame("\"refusal\":\"No\"", "\"finish_reason\":null")));
        assert!(!says_more_than_text(&frame("\"content\":\"a\",\"refusal\":null", "\"finish_reason\":null")));
        assert!(says_more_than_text(&frame(text, "\"index\":0")), "a frame that leaves the reason out");
    }
}
