//! The spans of runs and of tool calls, by OpenTelemetry's conventions for generative AI. Without a listener for the
//! target `otel` there are none, and nothing of this costs anything.

use pod::{PodSpec, ToolOutcome};
use protocol::{Outcome, ToolBy, Usage, WorkerId, tool::SERVER_TOOL};
use serde_json::Value;
use tracing::{Level, Span, enabled, field::Empty, span};

use crate::meters::{failure, word};

/// A run, or the part of it until it waits for a person, or from there on. One that is dropped before its end was
/// interrupted.
#[derive(Debug)]
pub(crate) struct RunSpan(Span);

impl RunSpan {
    pub(crate) fn none() -> Self {
        Self(Span::none())
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_disabled()
    }

    /// `run` is its number in the Pod; `asked` the provider and the model.
    pub(crate) fn begin(pod: &WorkerId, run: u64, spec: &PodSpec, asked: (&str, &str)) -> Self {
        Self(span!(
            target: "otel", parent: None, Level::TRACE, "invoke_agent",
            "otel.name" = name(spec.agent.as_deref()),
            "otel.kind" = "internal",
            "otel.status_code" = Empty,
            "error.type" = Empty,
            "gen_ai.operation.name" = "invoke_agent",
            "gen_ai.agent.name" = spec.agent.as_deref(),
            // Of a model's, the first call tells it.
            "gen_ai.provider.name" = spec.agent.as_deref(),
            "gen_ai.conversation.id" = %pod,
            "gen_ai.request.model" = spec.agent.is_none().then_some(asked.1),
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "yoi.provider" = spec.agent.as_deref().unwrap_or(asked.0),
            "yoi.run" = run,
            "yoi.outcome" = Empty,
        ))
    }

    /// The run waits for a person. It goes on in another span: meanwhile its Pod may have no task.
    pub(crate) fn wait(&mut self) {
        self.0.record("yoi.outcome", "waiting");
        self.0 = Span::none();
    }

    /// The run is over.
    pub(crate) fn end(&mut self, outcome: Outcome, usage: &Usage) {
        self.0.record("yoi.outcome", word(outcome));
        self.0.record("gen_ai.usage.input_tokens", usage.input);
        self.0.record("gen_ai.usage.output_tokens", usage.output);
        if outcome == Outcome::Error {
            self.0.record("error.type", "run_failed");
            self.0.record("otel.status_code", "ERROR");
        }
        self.0 = Span::none();
    }

    /// Does something whose spans belong to this run.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// A call of the run, or of a person beside it.
    pub(crate) fn call(&self, pod: &WorkerId, called: Called<'_>) -> CallSpan {
        let Called { call_id, tool, by, arguments } = called;
        let name = tool.unwrap_or("other");
        let by_word = match by {
            ToolBy::Model => "model",
            ToolBy::Operator => "operator",
            ToolBy::Agent => "agent",
        };
        let parent = (by != ToolBy::Operator).then(|| self.0.id()).flatten();
        let span = span!(
            target: "otel", parent: parent, Level::TRACE, "execute_tool",
            "otel.name" = format!("execute_tool {name}"),
            "otel.kind" = "internal",
            "otel.status_code" = Empty,
            "error.type" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = name,
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.call.id" = call_id,
            "mcp.method.name" = name.contains(SERVER_TOOL).then_some("tools/call"),
            "gen_ai.conversation.id" = %pod,
            "gen_ai.tool.call.arguments" = Empty,
            "gen_ai.tool.call.result" = Empty,
            "yoi.by" = by_word,
            "yoi.outcome" = Empty,
        );
        if !span.is_disabled() && enabled!(target: "genai_content", Level::TRACE) {
            span.record("gen_ai.tool.call.arguments", arguments.to_string());
        }
        CallSpan(Some(span))
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        self.0.record("yoi.outcome", word(Outcome::Interrupted));
    }
}

/// What is told of a call.
#[derive(Debug)]
pub(crate) struct Called<'a> {
    pub(crate) call_id: &'a str,
    /// `None` for a tool that nobody offers: its name is only what a model made up.
    pub(crate) tool: Option<&'a str>,
    pub(crate) by: ToolBy,
    pub(crate) arguments: &'a Value,
}

/// A tool call. One that is dropped before its end was cancelled.
#[derive(Debug)]
pub(crate) struct CallSpan(Option<Span>);

impl CallSpan {
    pub(crate) fn end(mut self, outcome: &ToolOutcome) {
        let Some(span) = self.0.take().filter(|span| !span.is_disabled()) else { return };
        if enabled!(target: "genai_content", Level::TRACE) {
            let content = outcome.content.as_deref().unwrap_or(&outcome.summary);
            span.record("gen_ai.tool.call.result", content);
        }
        if outcome.is_error {
            let failure = failure(outcome.code.as_deref());
            span.record("yoi.outcome", failure);
            span.record("error.type", failure);
            span.record("otel.status_code", "ERROR");
        } else {
            span.record("yoi.outcome", "ok");
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            span.record("yoi.outcome", "cancelled");
        }
    }
}

fn name(agent: Option<&str>) -> String {
    agent.map_or_else(|| "invoke_agent".to_owned(), |agent| format!("invoke_agent {agent}"))
}
