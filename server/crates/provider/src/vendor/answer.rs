//! A vendor's stream as our events.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{FutureExt, Stream, StreamExt, future::BoxFuture};
use genai::chat::{ChatResponse, ChatStream, ChatStreamEvent, StopReason, StreamEnd, ToolCall};
use protocol::{Proof, Usage};
use serde_json::{Value, json};
use tokio::task::coop::poll_proceed;

use super::{
    bounds::{SAID_BYTES_MAX, TooMuch},
    calls::Calls,
    failure::Failures,
    frames::Frames,
    gate::Ask,
    plain::Plain,
};
use crate::{FinishReason, ModelEvent, ProviderError, ProviderKind};

type Item = Result<ModelEvent, ProviderError>;

/// Ends after `Finished` or an error, and lets go of the connection then.
pub(super) struct Answer {
    stream: Option<ChatStream>,
    ask: Ask,
    frames: Frames,
    calls: Calls,
    /// Bytes of text and reasoning so far.
    said: usize,
    /// Of the present thought, as far as it has come.
    signature: String,
    failures: Failures,
    /// The question, until something of an answer has come.
    plain: Option<Plain>,
    looking: Option<BoxFuture<'static, Result<ChatResponse, ProviderError>>>,
    ready: VecDeque<Item>,
}

impl Answer {
    pub(super) fn new(stream: ChatStream, ask: Ask, frames: Frames, failures: Failures, plain: Plain) -> Self {
        Self {
            stream: Some(stream),
            ask,
            frames,
            calls: Calls::new(&plain.request.messages),
            said: 0,
            signature: String::new(),
            failures,
            plain: Some(plain),
            looking: None,
            ready: VecDeque::new(),
        }
    }

    fn accept(&mut self, event: Option<genai::Result<ChatStreamEvent>>) {
        if !matches!(event, Some(Ok(ChatStreamEvent::ThoughtSignatureChunk(_)))) {
            self.sign();
        }
        match event {
            Some(Ok(ChatStreamEvent::ThoughtSignatureChunk(chunk))) => {
                self.said += chunk.content.len();
                self.signature.push_str(&chunk.content);
            }
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => self.say(chunk.content, ModelEvent::Text),
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => self.say(chunk.content, ModelEvent::Reasoning),
            // On OpenAI's wire the frames say more than the library's event.
            Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) if !self.frames.kind.is_like(ProviderKind::OpenAi) => {
                self.call(chunk.tool_call);
            }
            Some(Ok(ChatStreamEvent::End(end))) => {
                self.take_frames();
                self.end(end);
            }
            // Also what newer versions of the library may add.
            Some(Ok(_)) => (),
            // Lines of JSON that is laid out over several.
            Some(Err(genai::Error::StreamParse { .. })) if self.frames.kind == ProviderKind::Ollama => {
                self.frames.with(|noticed| noticed.is_no_event = true);
                self.cut();
            }
            Some(Err(error)) => {
                let error = self.ask.failure().unwrap_or_else(|| self.failures.translate(error));
                self.fail(error);
            }
            None => {
                self.take_frames();
                self.end_without_word();
            }
        }
        self.take_frames();
        if !self.ready.is_empty() {
            self.plain = None;
        }
    }

    /// A thought is over: what has come of its signature is all of it.
    fn sign(&mut self) {
        if !self.signature.is_empty() {
            let signature = std::mem::take(&mut self.signature);
            self.show(ModelEvent::Proof(proof(json!({ "type": "thinking", "signature": signature }))));
        }
    }

    fn call(&mut self, call: ToolCall) {
        let whole = match call.fn_arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let event = self.calls.grow(&call.call_id, &call.fn_name, &whole);
        self.called(event);
    }

    fn called(&mut self, event: Result<Option<ModelEvent>, TooMuch>) {
        match event {
            Ok(event) => self.ready.extend(event.map(Ok)),
            Err(bound) => self.fail(self.failures.too_much(bound)),
        }
    }

    fn say(&mut self, text: String, event: fn(String) -> ModelEvent) {
        self.said += text.len();
        match self.said > SAID_BYTES_MAX {
            true => self.fail(self.failures.too_much(TooMuch::Said)),
            false => self.show(event(text)),
        }
    }

    fn show(&mut self, event: ModelEvent) {
        self.ready.push_back(Ok(event));
    }

    fn take_frames(&mut self) {
        for block in self.frames.with(|noticed| std::mem::take(&mut noticed.redacted)) {
            self.show(ModelEvent::Proof(proof(block)));
        }
        for piece in self.frames.with(|noticed| std::mem::take(&mut noticed.calls)) {
            let event = self.calls.add(piece);
            self.called(event);
            if self.stream.is_none() {
                return;
            }
        }
    }

    fn end(&mut self, end: StreamEnd) {
        if let Some(error) = self.frames.with(|noticed| noticed.error.take()) {
            let error = self.failures.said(&error);
            return self.fail(error);
        }
        // The library makes up an end where a stream just stops; these are the marks of a real one.
        let is_cut = match self.frames.kind {
            ProviderKind::Ollama => end.captured_usage.is_none(),
            ProviderKind::Gemini => end.captured_stop_reason.is_none(),
            _ => false,
        };
        if is_cut {
            return self.cut();
        }
        self.finish(end.captured_stop_reason, end.captured_usage);
    }

    /// The stream is over and said nothing about it. Some servers leave `[DONE]` out after a `finish_reason`.
    fn end_without_word(&mut self) {
        let (reason, usage) = self.frames.with(|noticed| (noticed.finish_reason.take(), noticed.usage.take()));
        match reason {
            Some(reason) => {
                let usage = usage.and_then(|usage| serde_json::from_value(usage).ok());
                self.finish(Some(StopReason::from(reason)), usage);
            }
            None => self.cut(),
        }
    }

    fn finish(&mut self, reason: Option<StopReason>, usage: Option<genai::chat::Usage>) {
        let reason = match (self.calls.is_empty(), reason) {
            (false, _) => FinishReason::ToolCalls,
            (true, Some(StopReason::MaxTokens(_))) => FinishReason::Length,
            (true, Some(StopReason::ContentFilter(_))) => FinishReason::Filtered,
            (true, _) => FinishReason::Stop,
        };
        self.ready.extend(self.calls.finish().into_iter().map(Ok));
        if let Some(usage) = usage {
            self.show(ModelEvent::Usage(counted(&usage)));
        }
        self.show(ModelEvent::Finished { reason });
        self.stream = None;
    }

    /// The stream has ended too early. When it was none, the server is asked what it said.
    fn cut(&mut self) {
        let is_no_stream = self.ready.is_empty() && self.frames.with(|noticed| noticed.is_no_event);
        match self.plain.take().filter(|_| is_no_stream) {
            Some(plain) => {
                self.stream = None;
                self.looking = Some(plain.ask().boxed());
            }
            None => self.fail(self.failures.cut()),
        }
    }

    /// The answer has come in one piece.
    fn looked(&mut self, answer: Result<ChatResponse, ProviderError>) {
        self.looking = None;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return self.fail(error),
        };
        if let Some(reasoning) = answer.reasoning_content.filter(|text| !text.is_empty()) {
            self.say(reasoning, ModelEvent::Reasoning);
        }
        let (text, calls) = (answer.content.joined_texts(), answer.content.into_tool_calls());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.say(text, ModelEvent::Text);
        }
        calls.into_iter().for_each(|call| self.call(call));
        let usage = answer.usage;
        self.finish(answer.stop_reason, usage.prompt_tokens.is_some().then_some(usage));
    }

    fn fail(&mut self, error: ProviderError) {
        self.ready.push_back(Err(error));
        self.stream = None;
    }
}

/// Who it is from is added by whoever knows.
fn proof(data: Value) -> Proof {
    Proof { provider: String::new(), model: String::new(), data }
}

fn counted(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    let (input, output) = (count(usage.prompt_tokens), count(usage.completion_tokens));
    let details = usage.prompt_tokens_details.as_ref();
    Usage {
        input,
        cached: count(details.and_then(|details| details.cached_tokens)),
        written: count(details.and_then(|details| details.cache_creation_tokens)),
        output,
        context_used: input + output,
        ..Usage::default()
    }
}

impl Stream for Answer {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Poll::Ready(Some(item));
            }
            // An answer whose pieces are all there takes turns with everybody else.
            let turn = ready!(poll_proceed(context));
            if let Some(looking) = self.looking.as_mut() {
                match looking.poll_unpin(context) {
                    Poll::Ready(answer) => {
                        turn.made_progress();
                        self.looked(answer);
                    }
                    Poll::Pending => return Poll::Pending,
                }
                continue;
            }
            let Self { stream: Some(stream), ask, .. } = &mut *self else { return Poll::Ready(None) };
            match ask.work(|| stream.poll_next_unpin(context)) {
                Ok(Poll::Ready(event)) => {
                    turn.made_progress();
                    self.accept(event);
                }
                Ok(Poll::Pending) => return Poll::Pending,
                Err(_panicked) => {
                    let error = self.failures.unreadable();
                    self.fail(error);
                }
            }
        }
    }
}
