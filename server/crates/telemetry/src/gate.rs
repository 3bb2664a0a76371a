//! The last look at a span before it leaves: only attributes on the list pass, each of limited length. So whatever a
//! model, a tool or a person wrote stays here, unless it was asked for, even if some code puts it into a span.

use std::{borrow::Cow, time::Duration};

use opentelemetry::{Array, Context, KeyValue, StringValue, Value, trace::Status};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{Span, SpanData, SpanEvents, SpanLinks, SpanProcessor},
};

use crate::figures::{Figures, lasted};

/// Attributes that may leave: numbers, names from the configuration, ids and words of ours.
const KEYS: [&str; 28] = [
    "error.type",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.request.stream",
    FINISH_REASONS,
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.tool.call.id",
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "mcp.method.name",
    "yoi.by",
    "yoi.commit.batches",
    "yoi.commit.records",
    "yoi.outcome",
    "yoi.provider",
    "yoi.purpose",
    "yoi.retries",
    "yoi.run",
];
/// What only leaves on request.
const CONTENT_KEYS: [&str; 4] =
    ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"];

/// Numbers of spans are unsigned, and what lies between takes them for texts.
const NUMBERS: [&str; 9] = [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "http.response.status_code",
    "yoi.commit.batches",
    "yoi.commit.records",
    "yoi.retries",
    "yoi.run",
];
/// A list by the conventions, which `tracing` cannot say.
const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";

/// The longest text of an attribute, in bytes.
const TEXT_BYTES_MAX: usize = 256;
const CONTENT_BYTES_MAX: usize = 64 * 1024;

/// The name of a commit's span, and how long a commit takes that is worth one; metrics count the others.
const COMMIT: &str = "commit";
const COMMIT_MIN: Duration = Duration::from_millis(100);

/// Lets spans through to the processor that sends them.
#[derive(Debug)]
pub(crate) struct Gate<P> {
    inner: P,
    with_content: bool,
    /// `None` if nobody takes metrics.
    figures: Option<Figures>,
}

impl<P: SpanProcessor> Gate<P> {
    pub(crate) fn new(inner: P, with_content: bool, figures: Option<Figures>) -> Self {
        Self { inner, with_content, figures }
    }
}

impl<P: SpanProcessor> SpanProcessor for Gate<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, mut span: SpanData) {
        if span.name == COMMIT && lasted(&span) < COMMIT_MIN && !matches!(span.status, Status::Error { .. }) {
            return;
        }
        strip(&mut span, self.with_content);
        if let Some(figures) = &self.figures {
            figures.take(&span);
        }
        self.inner.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

fn strip(span: &mut SpanData, with_content: bool) {
    span.attributes.retain(|attribute| {
        let key = attribute.key.as_str();
        KEYS.contains(&key) || (with_content && CONTENT_KEYS.contains(&key))
    });
    for attribute in &mut span.attributes {
        shape(attribute);
        bound(attribute);
    }
    span.name = Cow::Owned(cut(&span.name, TEXT_BYTES_MAX).to_owned());
    if let Status::Error { description } = &mut span.status {
        *description = Cow::Borrowed("");
    }
    (span.events, span.links) = (SpanEvents::default(), SpanLinks::default());
}

/// Gives a value the type that the conventions demand.
fn shape(attribute: &mut KeyValue) {
    let Value::String(text) = &attribute.value else { return };
    let key = attribute.key.as_str();
    if key == FINISH_REASONS {
        attribute.value = Value::Array(Array::String(vec![text.clone()]));
    } else if NUMBERS.contains(&key)
        && let Ok(number) = text.as_str().parse()
    {
        attribute.value = Value::I64(number);
    }
}

fn bound(attribute: &mut KeyValue) {
    let is_content = CONTENT_KEYS.contains(&attribute.key.as_str());
    let most = if is_content { CONTENT_BYTES_MAX } else { TEXT_BYTES_MAX };
    if let Value::String(text) = &attribute.value
        && text.as_str().len() > most
    {
        attribute.value = Value::String(StringValue::from(cut(text.as_str(), most).to_owned()));
    }
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use opentelemetry::{
        InstrumentationScope,
        trace::{Event, SpanContext, SpanId, SpanKind},
    };

    use super::*;

    fn span(attributes: Vec<KeyValue>) -> SpanData {
        let mut events = SpanEvents::default();
        events.events.push(Event::with_name("the secret was said"));
        SpanData {
            span_context: SpanContext::NONE,
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: Cow::Borrowed("execute_tool"),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes,
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status: Status::error("the secret failed"),
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    #[test]
    fn only_what_is_on_the_list_passes_and_content_only_on_request() {
        let attributes = || {
            vec![
                KeyValue::new("gen_ai.tool.name", "x".repeat(1_000)),
                KeyValue::new("gen_ai.tool.call.result", "the secret"),
                KeyValue::new("path", "/home/secret"),
                KeyValue::new("gen_ai.usage.input_tokens", "7"),
                KeyValue::new(FINISH_REASONS, "stop"),
            ]
        };
        let mut bare = span(attributes());
        strip(&mut bare, false);
        let keys: Vec<&str> = bare.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
        assert_eq!(keys, ["gen_ai.tool.name", "gen_ai.usage.input_tokens", FINISH_REASONS]);
        assert_eq!(bare.attributes[1].value, Value::I64(7));
        assert_eq!(bare.attributes[2].value, Value::Array(Array::String(vec!["stop".into()])));
        assert_eq!(bare.attributes[0].value.as_str().len(), TEXT_BYTES_MAX);
        assert!(!format!("{bare:?}").contains("secret"), "{bare:?}");
        let mut whole = span(attributes());
        strip(&mut whole, true);
        assert!(format!("{whole:?}").contains("the secret\"") && !format!("{whole:?}").contains("/home/secret"));
    }

    #[test]
    fn a_text_is_cut_between_letters() {
        assert_eq!(cut("häuser", 2), "h");
        assert_eq!(cut("ab", 5), "ab");
    }
}
