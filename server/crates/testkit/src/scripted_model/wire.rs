//! An answer as server-sent events in OpenAI's two protocols or Anthropic's, or as the bytes that a test wrote.

mod items;

use std::collections::VecDeque;

use bytes::Bytes;
use serde_json::{Value, json};

use self::items::Items;
use super::answer::{Answer, Step, Tokens};

/// The next thing that happens on the connection.
#[derive(Debug)]
pub(super) enum Piece {
    Bytes(Bytes),
    Cut,
}

/// One answer being sent.
#[derive(Debug)]
pub(super) struct Wire {
    steps: VecDeque<Step>,
    ready: VecDeque<Bytes>,
    tokens: Option<Tokens>,
    dialect: Dialect,
    /// Calls so far.
    calls: usize,
}

#[derive(Debug)]
enum Dialect {
    OpenAi {
        model: Value,
        /// Whether the client asked for token counts, without which there are none.
        wants_usage: bool,
    },
    Anthropic {
        /// The type of the open block.
        open: Option<&'static str>,
        /// Blocks so far, including the open one.
        blocks: usize,
    },
    Responses(Items),
    /// Any other protocol, whose bytes a test writes.
    Raw,
}

impl Wire {
    pub(super) fn open_ai(question: &Value, answer: &Answer) -> Self {
        let wants_usage = question["stream_options"]["include_usage"] == true;
        Self::new(answer, Dialect::OpenAi { model: question["model"].clone(), wants_usage })
    }

    pub(super) fn anthropic(question: &Value, answer: &Answer) -> Self {
        let mut wire = Self::new(answer, Dialect::Anthropic { open: None, blocks: 0 });
        let tokens = wire.tokens.unwrap_or(Tokens { input: 0, cached: 0, output: 0 });
        wire.event(json!({ "type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": question["model"], "content": [],
            "usage": {
                "input_tokens": tokens.input - tokens.cached, "cache_read_input_tokens": tokens.cached,
                "cache_creation_input_tokens": 0, "output_tokens": 1
            }
        }}));
        wire
    }

    pub(super) fn responses(question: &Value, answer: &Answer) -> Self {
        let (items, begun) = Items::new(question);
        let mut wire = Self::new(answer, Dialect::Responses(items));
        wire.event(begun);
        wire
    }

    pub(super) fn raw(_: &Value, answer: &Answer) -> Self {
        Self::new(answer, Dialect::Raw)
    }

    fn new(answer: &Answer, dialect: Dialect) -> Self {
        let tokens = answer.steps.iter().find_map(|step| match step {
            Step::Usage(tokens) => Some(*tokens),
            _ => None,
        });
        Self { steps: answer.steps.clone().into(), ready: VecDeque::new(), tokens, dialect, calls: 0 }
    }

    /// Whether everything was sent.
    pub(super) fn is_over(&self) -> bool {
        self.ready.is_empty() && self.steps.is_empty()
    }

    /// `None` after the last step.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(Piece::Bytes(bytes));
            }
            match self.steps.pop_front()? {
                Step::Text(text) => self.text(&text),
                Step::Reasoning(text) => self.reasoning(&text),
                Step::ToolCall { id, name, pieces } => self.call(id.as_deref(), &name, &pieces),
                Step::Usage(_) => (),
                Step::Pause(pause) => tokio::time::sleep(pause).await,
                Step::WaitFor(word) => word.notified().await,
                Step::Trickle { words, every } => {
                    for number in (1..=words).rev() {
                        let space = if number == 1 { "" } else { " " };
                        self.steps.push_front(Step::Text(format!("{space}w{number}")));
                        self.steps.push_front(Step::Pause(every));
                    }
                }
                Step::Cut => {
                    // The server sends what was written so far when it has to wait for more.
                    tokio::task::yield_now().await;
                    return Some(Piece::Cut);
                }
                Step::Stall => std::future::pending().await,
                Step::ErrorFrame(error) => self.error(error),
                Step::Raw(text) => self.ready.push_back(text.into()),
                Step::Finish(reason) => self.finish(reason.as_deref()),
            }
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.dialect {
            Dialect::OpenAi { .. } => self.delta(json!({ "content": text })),
            Dialect::Responses(items) => {
                let events = items.text(text);
                self.events(events);
            }
            Dialect::Anthropic { .. } => {
                self.open("text", json!({ "type": "text", "text": "" }));
                self.block_delta(json!({ "type": "text_delta", "text": text }));
            }
            Dialect::Raw => self.ready.push_back(text.to_owned().into()),
        }
    }

    fn reasoning(&mut self, text: &str) {
        match &mut self.dialect {
            Dialect::OpenAi { .. } => self.delta(json!({ "reasoning_content": text })),
            Dialect::Responses(items) => {
                let events = items.reasoning(text);
                self.events(events);
            }
            Dialect::Anthropic { .. } => {
                self.open("thinking", json!({ "type": "thinking", "thinking": "" }));
                self.block_delta(json!({ "type": "thinking_delta", "thinking": text }));
            }
            Dialect::Raw => (),
        }
    }

    fn call(&mut self, id: Option<&str>, name: &str, pieces: &[String]) {
        let index = self.calls;
        self.calls += 1;
        match &mut self.dialect {
            Dialect::Responses(items) => {
                let events = items.call(id, name, pieces);
                self.events(events);
            }
            Dialect::OpenAi { .. } => {
                let function = json!({ "name": name, "arguments": "" });
                let mut first = json!({ "index": index, "type": "function", "function": function });
                if let Some(id) = id {
                    first["id"] = json!(id);
                }
                self.delta(json!({ "tool_calls": [first] }));
                for piece in pieces {
                    let next = json!({ "index": index, "function": { "arguments": piece } });
                    self.delta(json!({ "tool_calls": [next] }));
                }
            }
            Dialect::Anthropic { .. } => {
                self.close();
                let id = id.map_or_else(|| format!("toolu_{index}"), str::to_owned);
                self.open("tool_use", json!({ "type": "tool_use", "id": id, "name": name, "input": {} }));
                for piece in pieces {
                    self.block_delta(json!({ "type": "input_json_delta", "partial_json": piece }));
                }
                self.close();
            }
            Dialect::Raw => (),
        }
    }

    fn error(&mut self, error: Value) {
        match self.dialect {
            Dialect::OpenAi { .. } => self.data(&json!({ "error": error }).to_string()),
            Dialect::Anthropic { .. } => self.event(json!({ "type": "error", "error": error })),
            Dialect::Responses(_) => self.event(Items::error(&error)),
            Dialect::Raw => self.ready.push_back(format!("{error}\n").into()),
        }
    }

    fn finish(&mut self, reason: Option<&str>) {
        let has_calls = self.calls > 0;
        let tokens = self.tokens;
        match &mut self.dialect {
            Dialect::Responses(items) => {
                let events = items.finish(reason, tokens);
                self.events(events);
            }
            Dialect::OpenAi { wants_usage, .. } => {
                let wants_usage = *wants_usage;
                let reason = reason.unwrap_or(if has_calls { "tool_calls" } else { "stop" });
                self.chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), None);
                if let Some(tokens) = tokens.filter(|_| wants_usage) {
                    self.chunk(json!([]), Some(tokens));
                }
                self.data("[DONE]");
            }
            Dialect::Anthropic { .. } => {
                self.close();
                let reason = reason.unwrap_or(if has_calls { "tool_use" } else { "end_turn" });
                let usage = json!({ "output_tokens": tokens.map_or(1, |tokens| tokens.output) });
                self.event(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": usage }));
                self.event(json!({ "type": "message_stop" }));
            }
            Dialect::Raw => (),
        }
    }

    fn delta(&mut self, delta: Value) {
        self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), None);
    }

    fn chunk(&mut self, choices: Value, tokens: Option<Tokens>) {
        let Dialect::OpenAi { model, .. } = &self.dialect else { return };
        let usage = tokens.map(|tokens| {
            json!({
                "prompt_tokens": tokens.input, "completion_tokens": tokens.output,
                "total_tokens": tokens.input + tokens.output,
                "prompt_tokens_details": { "cached_tokens": tokens.cached }
            })
        });
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": choices, "usage": usage
        });
        self.data(&chunk.to_string());
    }

    fn open(&mut self, kind: &'static str, content: Value) {
        if matches!(self.dialect, Dialect::Anthropic { open: Some(open), .. } if open == kind) {
            return;
        }
        self.close();
        let Dialect::Anthropic { open, blocks } = &mut self.dialect else { return };
        *open = Some(kind);
        let index = *blocks;
        *blocks += 1;
        self.event(json!({ "type": "content_block_start", "index": index, "content_block": content }));
    }

    fn block_delta(&mut self, delta: Value) {
        let Dialect::Anthropic { blocks, .. } = self.dialect else { return };
        self.event(json!({ "type": "content_block_delta", "index": blocks - 1, "delta": delta }));
    }

    fn close(&mut self) {
        let Dialect::Anthropic { open, blocks } = &mut self.dialect else { return };
        if open.take().is_some() {
            let index = *blocks - 1;
            self.event(json!({ "type": "content_block_stop", "index": index }));
        }
    }

    fn events(&mut self, events: Vec<Value>) {
        events.into_iter().for_each(|event| self.event(event));
    }

    /// An event named after its own type.
    fn event(&mut self, event: Value) {
        let name = event["type"].as_str().unwrap_or_default();
        self.ready.push_back(format!("event: {name}\ndata: {event}\n\n").into());
    }

    fn data(&mut self, data: &str) {
        self.ready.push_back(format!("data: {data}\n\n").into());
    }
}
