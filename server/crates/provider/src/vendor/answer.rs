//! A vendor's stream as our events.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{Stream, StreamExt};
use genai::chat::{ChatStream, ChatStreamEvent, StopReason, StreamEnd};
use protocol::{Message, Usage};
use serde_json::Value;

use super::{calls::Calls, failure::Failures, frames::Frames};
use crate::{FinishReason, ModelEvent, ProviderError, ProviderErrorCode, ProviderKind};

type Item = Result<ModelEvent, ProviderError>;

/// Ends after `Finished` or an error, and lets go of the connection then.
pub(super) struct Answer {
    stream: Option<ChatStream>,
    frames: Frames,
    calls: Calls,
    context_limit: Option<u64>,
    failures: Failures,
    ready: VecDeque<Item>,
}

impl Answer {
    pub(super) fn new(
        stream: ChatStream,
        frames: Frames,
        messages: &[Message],
        context_limit: Option<u64>,
        failures: Failures,
    ) -> Self {
        let calls = Calls::new(messages);
        Self { stream: Some(stream), frames, calls, context_limit, failures, ready: VecDeque::new() }
    }

    fn accept(&mut self, event: Option<genai::Result<ChatStreamEvent>>) {
        match event {
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => self.show(ModelEvent::Text(chunk.content)),
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => self.show(ModelEvent::Reasoning(chunk.content)),
            // On OpenAI's wire the frames say more than the library's event.
            Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) if self.frames.kind != ProviderKind::OpenAi => {
                let call = chunk.tool_call;
                let whole = match call.fn_arguments {
                    Value::String(text) => text,
                    Value::Null => String::new(),
                    value => value.to_string(),
                };
                let event = self.calls.grow(&call.call_id, &call.fn_name, &whole);
                self.ready.extend(event.map(Ok));
            }
            Some(Ok(ChatStreamEvent::End(end))) => {
                self.take_frames();
                self.end(end);
            }
            // Also what newer versions of the library may add.
            Some(Ok(_)) => (),
            Some(Err(error)) => {
                let error = self.failures.translate(error);
                self.fail(error);
            }
            None => {
                self.take_frames();
                self.end_without_word();
            }
        }
        self.take_frames();
    }

    fn show(&mut self, event: ModelEvent) {
        self.ready.push_back(Ok(event));
    }

    fn take_frames(&mut self) {
        for piece in self.frames.with(|noticed| std::mem::take(&mut noticed.calls)) {
            let event = self.calls.add(piece);
            self.ready.extend(event.map(Ok));
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
            self.show(ModelEvent::Usage(self.usage(&usage)));
        }
        self.show(ModelEvent::Finished { reason });
        self.stream = None;
    }

    fn usage(&self, usage: &genai::chat::Usage) -> Usage {
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        let input = count(usage.prompt_tokens);
        let output = count(usage.completion_tokens);
        Usage {
            input,
            cached: count(usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens)),
            output,
            context_used: input + output,
            context_limit: self.context_limit.unwrap_or(0),
            cost: None,
        }
    }

    fn cut(&mut self) {
        let error = self.failures.error(ProviderErrorCode::Cut, "the stream ended before the answer did");
        self.fail(error);
    }

    fn fail(&mut self, error: ProviderError) {
        self.ready.push_back(Err(error));
        self.stream = None;
    }
}

impl Stream for Answer {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Poll::Ready(Some(item));
            }
            let Some(stream) = self.stream.as_mut() else { return Poll::Ready(None) };
            match stream.poll_next_unpin(context) {
                Poll::Ready(event) => self.accept(event),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
