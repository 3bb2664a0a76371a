//! The form of a delta in each protocol.

use serde_json::{Value, json};

/// The protocol of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Responses,
    ChatCompletions,
    Anthropic,
    Gemini,
    Ollama,
}

impl Wire {
    pub const ALL: [Self; 5] = [Self::Responses, Self::ChatCompletions, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The `kind` of a provider that speaks it, in the configuration.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Responses => "openai",
            Self::ChatCompletions => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Determined by the requested path.
    pub(super) fn of(request_line: &str) -> Self {
        let paths = [
            ("/responses", Self::Responses),
            ("/messages", Self::Anthropic),
            (":streamGenerateContent", Self::Gemini),
            ("/api/chat", Self::Ollama),
        ];
        let known = paths.into_iter().find(|(path, _)| request_line.contains(path));
        known.map_or(Self::ChatCompletions, |(_, wire)| wire)
    }

    /// What precedes the first delta.
    pub(super) fn begin(self) -> String {
        let frames = match self {
            Self::Responses => vec![json!({
                "type": "response.created", "response": { "id": "r", "status": "in_progress", "model": "timed" }
            })],
            Self::Anthropic => vec![
                json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            ],
            Self::ChatCompletions | Self::Gemini | Self::Ollama => Vec::new(),
        };
        self.frames(&frames)
    }

    /// What precedes and follows the text of a delta.
    pub(super) fn around_delta(self) -> (String, String) {
        const TEXT: &str = "TEXT";
        let frame = self.delta(TEXT);
        let (before, after) = frame.split_once(TEXT).expect("the text is in its frame");
        (before.to_owned(), after.to_owned())
    }

    fn delta(self, text: &str) -> String {
        let frame = match self {
            Self::Responses => json!({
                "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
                "delta": text
            }),
            Self::ChatCompletions => chunk(&json!({ "content": text }), None),
            Self::Anthropic => {
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
            }
            Self::Gemini => json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }] }),
            Self::Ollama => {
                json!({ "model": "timed", "message": { "role": "assistant", "content": text }, "done": false })
            }
        };
        self.frames(&[frame])
    }

    /// What follows the last of `deltas` deltas.
    pub(super) fn end(self, deltas: usize) -> String {
        let frames = match self {
            Self::Responses => vec![json!({
                "type": "response.completed",
                "response": {
                    "id": "r", "status": "completed", "model": "timed",
                    "usage": { "input_tokens": 9, "output_tokens": deltas }
                }
            })],
            Self::ChatCompletions => vec![chunk(&json!({}), Some("stop"))],
            Self::Anthropic => vec![
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({
                    "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": deltas }
                }),
                json!({ "type": "message_stop" }),
            ],
            Self::Gemini => vec![json!({
                "candidates": [{ "content": { "role": "model", "parts": [] }, "finishReason": "STOP" }],
                "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": deltas }
            })],
            Self::Ollama => vec![json!({
                "model": "timed", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
                "prompt_eval_count": 9, "eval_count": deltas
            })],
        };
        let done = if self == Self::ChatCompletions { "data: [DONE]\n\n" } else { "" };
        self.frames(&frames) + done
    }

    fn frames(self, frames: &[Value]) -> String {
        let frame = |frame: &Value| match (self, frame["type"].as_str()) {
            (Self::Ollama, _) => format!("{frame}\n"),
            (_, Some(name)) => format!("event: {name}\ndata: {frame}\n\n"),
            (_, None) => format!("data: {frame}\n\n"),
        };
        frames.iter().map(frame).collect()
    }
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "timed",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }]
    })
}
