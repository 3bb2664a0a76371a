//! Metrics by the GenAI conventions, from the spans that pass. The server's own metrics are at `/metrics`.

use std::time::Duration;

use opentelemetry::{
    KeyValue, Value,
    metrics::{Histogram, MeterProvider as _},
};
use opentelemetry_sdk::{metrics::SdkMeterProvider, trace::SpanData};

/// The attributes of a span that its metrics have too; those that would make a series for each Pod are not among them.
const CALL_LABELS: [&str; 4] = ["error.type", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const RUN_LABELS: [&str; 3] = ["error.type", "gen_ai.agent.name", "gen_ai.request.model"];
const TOOL_LABELS: [&str; 2] = ["error.type", "gen_ai.tool.name"];

/// Bounds that the conventions advise: seconds of calls and tools, seconds of runs, and tokens.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const RUN_SECONDS: [f64; 13] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

#[derive(Debug)]
pub(crate) struct Figures {
    calls: Histogram<f64>,
    first_pieces: Histogram<f64>,
    tokens: Histogram<u64>,
    runs: Histogram<f64>,
    tools: Histogram<f64>,
}

impl Figures {
    pub(crate) fn of(metrics: &SdkMeterProvider) -> Self {
        let meter = metrics.meter("yoi");
        let seconds = |name: &'static str, bounds: &[f64]| {
            meter.f64_histogram(name).with_unit("s").with_boundaries(bounds.to_vec()).build()
        };
        Self {
            calls: seconds("gen_ai.client.operation.duration", &SECONDS),
            first_pieces: seconds("gen_ai.client.operation.time_to_first_chunk", &SECONDS),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            runs: seconds("gen_ai.invoke_agent.duration", &RUN_SECONDS),
            tools: seconds("gen_ai.execute_tool.duration", &SECONDS),
        }
    }

    /// Counts a span if it is one of the conventions'.
    pub(crate) fn take(&self, span: &SpanData) {
        let Some(operation) = of(span, "gen_ai.operation.name") else { return };
        let seconds = lasted(span).as_secs_f64();
        match &*operation.as_str() {
            "chat" => self.take_call(span, seconds),
            "invoke_agent" => self.runs.record(seconds, &labels(span, &RUN_LABELS)),
            "execute_tool" => self.tools.record(seconds, &labels(span, &TOOL_LABELS)),
            _ => (),
        }
    }

    fn take_call(&self, span: &SpanData, seconds: f64) {
        let labels = labels(span, &CALL_LABELS);
        self.calls.record(seconds, &labels);
        if let Some(Value::F64(seconds)) = of(span, "gen_ai.response.time_to_first_chunk") {
            self.first_pieces.record(*seconds, &labels);
        }
        for (key, kind) in [("gen_ai.usage.input_tokens", "input"), ("gen_ai.usage.output_tokens", "output")] {
            if let Some(Value::I64(tokens)) = of(span, key) {
                let mut labels = labels.clone();
                labels.push(KeyValue::new("gen_ai.token.type", kind));
                self.tokens.record(tokens.unsigned_abs(), &labels);
            }
        }
    }
}

fn of<'s>(span: &'s SpanData, key: &str) -> Option<&'s Value> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| &attribute.value)
}

fn labels(span: &SpanData, keys: &[&str]) -> Vec<KeyValue> {
    span.attributes.iter().filter(|attribute| keys.contains(&attribute.key.as_str())).cloned().collect()
}

/// How long a span lasted; a clock that was set back makes it nothing.
pub(crate) fn lasted(span: &SpanData) -> Duration {
    span.end_time.duration_since(span.start_time).unwrap_or_default()
}
