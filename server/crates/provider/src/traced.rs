//! The span of a model call, by OpenTelemetry's conventions for generative AI. Without a listener for the target `otel`
//! there is none, and nothing of this costs anything.

mod content;

use std::time::Duration;

use protocol::Usage;
use tracing::{Level, Span, enabled, field::Empty, span};

use self::content::Said;
use crate::{FinishReason, ModelEvent, ModelRequest, ProviderKind, Purpose};

/// The span of one call, with all its attempts.
pub(crate) struct Traced {
    span: Span,
    retries: u64,
    /// The answer, if somebody asked for contents.
    said: Option<Said>,
}

impl Traced {
    /// `name` is the configured name of the provider.
    pub(crate) fn begin(name: &str, kind: ProviderKind, request: &ModelRequest) -> Self {
        let purpose = match request.purpose {
            Purpose::Answer => "answer",
            Purpose::Summary => "summary",
        };
        let span = span!(
            target: "otel", Level::TRACE, "chat",
            "otel.name" = format!("chat {}", request.model),
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "error.type" = Empty,
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = semantic(kind),
            "gen_ai.request.model" = request.model,
            "gen_ai.request.stream" = true,
            "gen_ai.response.finish_reasons" = Empty,
            "gen_ai.response.time_to_first_chunk" = Empty,
            "gen_ai.conversation.id" = request.conversation.as_ref().map(ToString::to_string),
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "gen_ai.usage.cache_read.input_tokens" = Empty,
            "gen_ai.usage.cache_creation.input_tokens" = Empty,
            "gen_ai.input.messages" = Empty,
            "gen_ai.output.messages" = Empty,
            "yoi.provider" = name,
            "yoi.purpose" = purpose,
            "yoi.retries" = Empty,
            "yoi.outcome" = Empty,
        );
        if span.is_disabled() {
            return Self { span, retries: 0, said: None };
        }
        // Of the run that the call belongs to.
        Span::current().record("gen_ai.provider.name", semantic(kind));
        let has_content = enabled!(target: "genai_content", Level::TRACE);
        if has_content {
            span.record("gen_ai.input.messages", content::told(&request.messages));
        }
        Self { span, retries: 0, said: has_content.then(Said::default) }
    }

    /// The first piece of the answer came so long after the request.
    pub(crate) fn first_piece(&self, after: Duration) {
        self.span.record("gen_ai.response.time_to_first_chunk", after.as_secs_f64());
    }

    /// Nothing to do for the pieces of an answer, unless its content is wanted.
    pub(crate) fn heed(&mut self, event: &ModelEvent) {
        if self.span.is_disabled() {
            return;
        }
        match event {
            ModelEvent::Retry { .. } => self.retries += 1,
            ModelEvent::Usage(usage) => self.count(*usage),
            ModelEvent::Text(text) => {
                if let Some(said) = &mut self.said {
                    said.text(text);
                }
            }
            ModelEvent::ToolCall { call_id, name, arguments, .. } => {
                if let Some(said) = &mut self.said {
                    said.call(call_id, name, arguments);
                }
            }
            ModelEvent::Finished { reason } => {
                let reason = word(*reason);
                self.span.record("gen_ai.response.finish_reasons", reason);
                if let Some(said) = &mut self.said {
                    said.finished(reason);
                }
            }
            _ => (),
        }
    }

    fn count(&self, usage: Usage) {
        self.span.record("gen_ai.usage.input_tokens", usage.input);
        self.span.record("gen_ai.usage.output_tokens", usage.output);
        if usage.cached > 0 {
            self.span.record("gen_ai.usage.cache_read.input_tokens", usage.cached);
        }
        if usage.written > 0 {
            self.span.record("gen_ai.usage.cache_creation.input_tokens", usage.written);
        }
    }

    /// Ends the span. `failure` is the kind of failure, if it is one.
    pub(crate) fn end(&mut self, outcome: &'static str, failure: Option<&'static str>) {
        if self.span.is_disabled() {
            return;
        }
        self.span.record("yoi.outcome", outcome);
        if self.retries > 0 {
            self.span.record("yoi.retries", self.retries);
        }
        if let Some(failure) = failure {
            self.span.record("error.type", failure);
            self.span.record("otel.status_code", "ERROR");
        }
        if let Some(said) = self.said.take() {
            self.span.record("gen_ai.output.messages", said.whole());
        }
        self.span = Span::none();
    }
}

/// The conventions' name of a provider, where they have one.
fn semantic(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenAi => "openai",
        ProviderKind::OpenAiCompatible => "openai_compatible",
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Gemini => "gcp.gemini",
        ProviderKind::Ollama => "ollama",
        ProviderKind::Rehearsal => "rehearsal",
    }
}

fn word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Length => "length",
        FinishReason::Filtered => "content_filter",
    }
}
