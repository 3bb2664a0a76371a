//! Converts a vendor's stream into our events.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{FutureExt, Stream, StreamExt, future::BoxFuture};
use genai::chat::{ChatStream, ChatStreamEvent, StopReason, StreamEnd};
use protocol::{Proof, Usage};
use serde_json::{Value, json};
use tokio::task::coop::poll_proceed;

use super::{
    bounds::{SAID_BYTES_MAX, TooMuch},
    calls::{CallPiece, Calls},
    failure::{Failures, Refused},
    frames::Frames,
    gate::Ask,
    notice::Notice,
    plain::{Plain, Whole, counted},
    request::REASONING_CONTENT,
    responses::{self, End},
};
use crate::{FinishReason, ModelEvent, ProviderError, ProviderKind};

type Item = Result<ModelEvent, ProviderError>;

/// Ends after `Finished` or an error, and then closes the connection.
pub(super) struct Answer {
    stream: Option<ChatStream>,
    ask: Ask,
    frames: Frames,
    calls: Calls,
    /// Bytes of text and reasoning so far.
    said: usize,
    /// The signature of the current thought, as far as received.
    signature: String,
    /// The current thought came as `reasoning_content` or as Ollama's `thinking`: its words are sent back.
    has_reasoning_content: bool,
    failures: Failures,
    /// The request, kept until something of an answer has arrived.
    plain: Option<Plain>,
    looking: Option<BoxFuture<'static, Result<Whole, ProviderError>>>,
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
            has_reasoning_content: false,
            failures,
            plain: Some(plain),
            looking: None,
            ready: VecDeque::new(),
        }
    }

    fn accept(&mut self, event: Option<genai::Result<ChatStreamEvent>>) {
        match &event {
            // The signature may be incomplete here.
            Some(Ok(ChatStreamEvent::ThoughtSignatureChunk(_)) | Err(_)) => (),
            Some(Ok(ChatStreamEvent::ReasoningChunk(_))) => self.sign(),
            _ => self.end_thought(),
        }
        // Anthropic's first counts precede the text that may have arrived with them; those of others include it.
        if self.frames.kind == ProviderKind::Anthropic {
            self.take_used();
        }
        // In a chat completions frame the text comes first.
        if self.frames.kind != ProviderKind::OpenAiCompatible {
            self.take_notices();
        }
        match event {
            _ if self.is_over() => return,
            Some(Ok(ChatStreamEvent::ThoughtSignatureChunk(chunk))) => {
                self.said += chunk.content.len();
                self.signature.push_str(&chunk.content);
            }
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => self.say(chunk.content, ModelEvent::Text),
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => {
                self.has_reasoning_content |= self.frames.kind == ProviderKind::Ollama
                    || self.frames.with(|noticed| noticed.has_reasoning_content);
                self.say(chunk.content, ModelEvent::Reasoning);
            }
            // For OpenAI's protocols the frames carry more than the library's event.
            Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) if !self.frames.kind.is_like(ProviderKind::OpenAi) => {
                let event = self.calls.grow(CallPiece::from(chunk.tool_call));
                self.called(event);
            }
            Some(Ok(ChatStreamEvent::End(end))) => {
                self.take_notices();
                self.end(end);
            }
            // Includes variants that newer versions of the library may add.
            Some(Ok(_)) => (),
            // JSON that is spread over several lines.
            Some(Err(genai::Error::StreamParse { .. })) if self.frames.kind == ProviderKind::Ollama => {
                self.frames.with(|noticed| noticed.is_no_event = true);
                self.cut();
            }
            // The library reports an error for an answer that was reported as failed.
            Some(Err(_)) if self.frames.with(|noticed| noticed.end.is_some()) => self.end_as_told(),
            Some(Err(error)) => {
                let error = self.ask.failure().unwrap_or_else(|| self.failures.translate(error));
                self.fail(error);
            }
            None => {
                self.take_notices();
                self.end_without_word();
            }
        }
        self.take_notices();
        if !self.ready.is_empty() {
            self.plain = None;
        }
        // Comes last, because these counts include what was said with them.
        self.take_used();
    }

    /// Reports the tokens counted so far and returns whether there were any. An answer that has ended reports its total
    /// instead.
    fn take_used(&mut self) -> bool {
        let used = self.frames.with(|noticed| noticed.used.take()).filter(|_| self.stream.is_some());
        used.map(|used| self.show(ModelEvent::UsedSoFar(used))).is_some()
    }

    /// Emits the signature, now that it is complete.
    fn sign(&mut self) {
        if !self.signature.is_empty() {
            let signature = std::mem::take(&mut self.signature);
            self.show(ModelEvent::Proof(proof(json!({ "type": "thinking", "signature": signature }))));
        }
    }

    fn end_thought(&mut self) {
        self.sign();
        if std::mem::take(&mut self.has_reasoning_content) {
            self.show(ModelEvent::Proof(proof(json!({ "type": REASONING_CONTENT }))));
        }
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
        if !self.is_over() {
            self.ready.push_back(Ok(event));
        }
    }

    fn take_notices(&mut self) {
        for notice in self.frames.with(|noticed| std::mem::take(&mut noticed.notices)) {
            if self.is_over() {
                return;
            }
            match notice {
                Notice::Text(text) => self.say(text, ModelEvent::Text),
                Notice::Reasoning(text) => self.say(text, ModelEvent::Reasoning),
                Notice::Thought(data) => self.seal(data),
                Notice::Call(piece) => {
                    let event = self.calls.add(piece);
                    self.called(event);
                }
                Notice::Whole(whole) => {
                    let event = self.calls.grow(whole);
                    self.called(event);
                }
            }
        }
    }

    fn seal(&mut self, data: Value) {
        self.said += data.to_string().len();
        match self.said > SAID_BYTES_MAX {
            true => self.fail(self.failures.too_much(TooMuch::Said)),
            false => self.show(ModelEvent::Proof(proof(data))),
        }
    }

    /// Nothing may follow an error.
    fn is_over(&self) -> bool {
        matches!(self.ready.back(), Some(Err(_)))
    }

    fn end(&mut self, end: StreamEnd) {
        if self.frames.kind == ProviderKind::OpenAi {
            return self.end_as_told();
        }
        if let Some(error) = self.frames.with(|noticed| noticed.error.take()) {
            let error = self.failures.said(&error);
            return self.fail(error);
        }
        // The library makes up an end if a stream just stops; these fields are set only at a real one.
        let is_cut = match self.frames.kind {
            ProviderKind::Ollama => end.captured_usage.is_none(),
            ProviderKind::Gemini => end.captured_stop_reason.is_none(),
            _ => false,
        };
        if is_cut {
            return self.cut();
        }
        self.finish(end.captured_stop_reason, end.captured_usage.as_ref().map(counted));
    }

    /// The Responses API states how an answer ended; without that, the answer was cut off.
    fn end_as_told(&mut self) {
        let Some(End { reason, usage, output }) = self.frames.with(|noticed| noticed.end.take()) else {
            return self.cut();
        };
        // Some servers send everything with the final event and nothing before.
        if self.said == 0 && self.calls.is_empty() {
            self.take_items(responses::notices(&output));
        }
        match reason {
            Ok(reason) => self.finish(Some(StopReason::from(reason.to_owned())), usage),
            Err(error) => {
                let error = self.failures.said(&error);
                self.fail(error);
            }
        }
    }

    fn take_items(&mut self, items: Vec<Notice>) {
        self.frames.with(|noticed| items.into_iter().for_each(|item| noticed.push(item)));
        self.take_notices();
    }

    /// The stream ended without an end event. Some servers omit `[DONE]` after a `finish_reason`.
    fn end_without_word(&mut self) {
        let (reason, usage) = self.frames.with(|noticed| (noticed.finish_reason.take(), noticed.usage.take()));
        match reason {
            Some(reason) => {
                let usage = usage.and_then(|usage| serde_json::from_value(usage).ok());
                self.finish(Some(StopReason::from(reason)), usage.as_ref().map(counted));
            }
            None => self.cut(),
        }
    }

    fn finish(&mut self, reason: Option<StopReason>, usage: Option<Usage>) {
        self.end_thought();
        if self.is_over() {
            return;
        }
        let reason = match (self.calls.is_empty(), reason) {
            (false, _) => FinishReason::ToolCalls,
            (true, Some(StopReason::MaxTokens(_))) => FinishReason::Length,
            (true, Some(StopReason::ContentFilter(_))) => FinishReason::Filtered,
            (true, _) => FinishReason::Stop,
        };
        self.ready.extend(self.calls.finish().into_iter().map(Ok));
        if let Some(usage) = usage {
            self.show(ModelEvent::Usage(usage));
        }
        self.show(ModelEvent::Finished { reason });
        self.stream = None;
    }

    /// The stream ended too early. If it was not an event stream, or was empty, asks the server again without
    /// streaming: a server that fails after it has begun to answer has no other way to report it.
    fn cut(&mut self) {
        let is_no_event = self.frames.with(|noticed| noticed.is_no_event);
        let is_no_stream = self.ready.is_empty() && (is_no_event || self.frames.is_empty());
        match self.plain.take().filter(|_| is_no_stream) {
            Some(plain) => {
                self.stream = None;
                self.looking = Some(plain.ask().boxed());
            }
            None => self.fail(self.failures.cut()),
        }
    }

    /// Handles an answer that came in one piece.
    fn looked(&mut self, answer: Result<Whole, ProviderError>) {
        self.looking = None;
        let Whole { items, reason, usage } = match answer {
            Ok(whole) => whole,
            Err(error) => return self.fail(error),
        };
        self.take_items(items);
        self.finish(reason, usage);
    }

    /// The server's refusal, if it refused.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.ask.refused()
    }

    fn fail(&mut self, error: ProviderError) {
        if !self.is_over() {
            self.ready.push_back(Err(error));
        }
        self.stream = None;
    }
}

/// Provider and model are filled in by the caller.
fn proof(data: Value) -> Proof {
    Proof { provider: String::new(), model: String::new(), data }
}

impl Stream for Answer {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Poll::Ready(Some(item));
            }
            // Cooperate with the scheduler even if all chunks are ready.
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
                // Not every frame is an event.
                Ok(Poll::Pending) if self.take_used() => (),
                Ok(Poll::Pending) => return Poll::Pending,
                Err(_panicked) => {
                    let error = self.failures.unreadable();
                    self.fail(error);
                }
            }
        }
    }
}
