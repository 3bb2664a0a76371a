//! OpenTelemetry for a server: it takes the spans that other crates emit under the target `otel`, and sends them as
//! OTLP over HTTP. Nothing else leaves: no log line, and no attribute that is not on the list (`gate`).
//!
//! It may lose spans, and never holds anybody up: a queue of limited length, a thread of its own that sends, and a time
//! limit at the end.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod client;
mod figures;
mod gate;

use std::time::Duration;

use opentelemetry::{KeyValue, trace::TracerProvider as _};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    metrics::SdkMeterProvider,
    trace::{BatchConfig, BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider},
};
use tokio::sync::oneshot;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use self::{client::Client, figures::Figures, gate::Gate};

/// The target of the spans that are sent. Whoever logs turns it off, because they are not for reading.
pub const TARGET: &str = "otel";
/// Enabled if prompts, answers, arguments and results are wanted too.
pub const CONTENT_TARGET: &str = "genai_content";

const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Spans with content that may wait to be sent, unless `OTEL_BSP_MAX_QUEUE_SIZE` says otherwise: each may have twice
/// 64 KiB. Of others, the specification's 2,048 may wait.
const WITH_CONTENT_WAITING_MAX: usize = 256;

/// What is sent, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether prompts, answers, arguments and results of tools are sent.
    pub with_content: bool,
    /// Whether metrics are sent as well.
    pub with_metrics: bool,
    /// Where to send to, without `/v1/traces`; `None` leaves it to the variables of the specification.
    pub endpoint: Option<String>,
    /// Whether to send JSON; else the variables decide, and without them it is Protobuf.
    pub as_json: bool,
}

/// The exporters cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("OpenTelemetry cannot be started: {0}; check the OTEL_… variables")]
pub struct NotStarted(String);

impl Settings {
    /// What the variables of the specification say; `None` if they name no endpoint or turn OpenTelemetry off.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is_true = |name: &str| variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
        let is_one_of = |name: &str, words: &[&str]| {
            variable(name).is_some_and(|value| words.iter().any(|word| value.trim().eq_ignore_ascii_case(word)))
        };
        let for_all = is_set("OTEL_EXPORTER_OTLP_ENDPOINT");
        let has_endpoint = for_all || is_set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        (has_endpoint && !is_true("OTEL_SDK_DISABLED")).then(|| Self {
            with_content: is_one_of(CONTENT, &["true", "span_only", "span_and_event"]),
            with_metrics: (for_all || is_set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"))
                && !is_one_of("OTEL_METRICS_EXPORTER", &["none"]),
            endpoint: None,
            as_json: false,
        })
    }
}

/// The running exporters.
#[derive(Debug)]
pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: Option<SdkMeterProvider>,
}

impl Telemetry {
    /// Sends what is left, for at most `limit`, and stops. What cannot be sent in time is lost.
    pub async fn end(self, limit: Duration) {
        let Self { traces, metrics } = self;
        let traces = aside(move || drop(traces.shutdown_with_timeout(limit)));
        let metrics = aside(move || drop(metrics.map(|metrics| metrics.shutdown_with_timeout(limit))));
        let _ = tokio::time::timeout(limit, async { (traces.await, metrics.await) }).await;
    }
}

/// Runs this on a thread that nobody has to wait for, not even the end of the runtime.
fn aside(work: impl FnOnce() + Send + 'static) -> oneshot::Receiver<()> {
    let (sender, done) = oneshot::channel();
    std::thread::spawn(move || {
        work();
        // Nobody waits any more.
        let _ = sender.send(());
    });
    done
}

/// A layer that takes the spans, and what sends them. Must be called within a tokio runtime, which then does the
/// sending.
///
/// # Errors
/// A variable of the specification is not valid.
pub fn start<S>(settings: Settings) -> Result<(impl Layer<S> + Send + Sync, Telemetry), NotStarted>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let metrics = settings.with_metrics.then(|| metrics(&settings)).transpose()?;
    let figures = metrics.as_ref().map(Figures::of);
    let waiting = BatchSpanProcessor::builder(span_exporter(&settings)?).with_batch_config(waiting(&settings));
    let gate = Gate::new(waiting.build(), settings.with_content, figures);
    let traces = SdkTracerProvider::builder().with_span_processor(gate).with_resource(resource()).build();
    let mut targets = Targets::new().with_target(TARGET, LevelFilter::TRACE);
    if settings.with_content {
        targets = targets.with_target(CONTENT_TARGET, LevelFilter::TRACE);
    }
    let layer = tracing_opentelemetry::layer()
        .with_tracer(traces.tracer("yoi"))
        // Where in the source and on which thread says nothing about a run.
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(targets);
    Ok((layer, Telemetry { traces, metrics }))
}

fn span_exporter(settings: &Settings) -> Result<SpanExporter, NotStarted> {
    let mut exporter = SpanExporter::builder().with_http().with_http_client(Client::new("traces"));
    if let Some(endpoint) = &settings.endpoint {
        exporter = exporter.with_endpoint(format!("{endpoint}/v1/traces"));
    }
    if let Some(protocol) = protocol(settings, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") {
        exporter = exporter.with_protocol(protocol);
    }
    exporter.build().map_err(|error| NotStarted(error.to_string()))
}

fn metrics(settings: &Settings) -> Result<SdkMeterProvider, NotStarted> {
    let mut exporter = MetricExporter::builder().with_http().with_http_client(Client::new("metrics"));
    if let Some(endpoint) = &settings.endpoint {
        exporter = exporter.with_endpoint(format!("{endpoint}/v1/metrics"));
    }
    if let Some(protocol) = protocol(settings, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL") {
        exporter = exporter.with_protocol(protocol);
    }
    let exporter = exporter.build().map_err(|error| NotStarted(error.to_string()))?;
    Ok(SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource()).build())
}

/// `None` leaves it to the variables. The exporter itself would prefer JSON, which not every collector takes.
fn protocol(settings: &Settings, variable: &str) -> Option<Protocol> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match settings.as_json {
        true => Some(Protocol::HttpJson),
        false if is_set(variable) || is_set("OTEL_EXPORTER_OTLP_PROTOCOL") => None,
        false => Some(Protocol::HttpBinary),
    }
}

/// How many spans may wait, and for how long, by the variables `OTEL_BSP_…`.
fn waiting(settings: &Settings) -> BatchConfig {
    let config = BatchConfigBuilder::default();
    match settings.with_content && std::env::var_os("OTEL_BSP_MAX_QUEUE_SIZE").is_none() {
        true => config.with_max_queue_size(WITH_CONTENT_WAITING_MAX).build(),
        false => config.build(),
    }
}

/// Who sends. Variables of the specification add to it.
fn resource() -> Resource {
    let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    match is_service_named(|name| std::env::var(name).ok()) {
        true => resource.build(),
        false => resource.with_service_name("yoi").build(),
    }
}

/// Whether the variables say the name of the service.
fn is_service_named(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_name = |pair: &str| {
        pair.split_once('=').is_some_and(|(key, value)| key.trim() == "service.name" && !value.trim().is_empty())
    };
    variable("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty())
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|pairs| pairs.split(',').any(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_unless_an_endpoint_is_named_and_content_only_on_request() {
        let of = |set: &[(&str, &str)]| {
            Settings::of(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        let content = |value| ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value);
        assert_eq!(of(&[content("true")]), None);
        assert_eq!(of(&[endpoint, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(of(&[endpoint]).map(|settings| settings.with_content), Some(false));
        assert_eq!(of(&[endpoint, content("no")]).map(|settings| settings.with_content), Some(false));
        for value in ["True", "SPAN_ONLY", "span_and_event"] {
            assert_eq!(of(&[endpoint, content(value)]).map(|settings| settings.with_content), Some(true));
        }
    }

    #[test]
    fn the_service_is_yoi_unless_a_variable_says_its_name() {
        let of = |set: &str, value: &str| is_service_named(|name| (name == set).then(|| value.to_owned()));
        for value in ["", "deployment.environment=prod", "my.service.name=x", "service.name=", "service.namespace=x"] {
            assert!(!of("OTEL_RESOURCE_ATTRIBUTES", value), "{value}");
        }
        assert!(of("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=prod, service.name=eve"));
        assert!(of("OTEL_SERVICE_NAME", "eve") && !of("OTEL_SERVICE_NAME", ""));
    }

    #[test]
    fn metrics_are_sent_where_somebody_takes_them() {
        let of = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            Settings::of(value).map(|settings| settings.with_metrics)
        };
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces");
        let metrics = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://localhost:4319/v1/metrics");
        assert_eq!([of(&[endpoint]), of(&[traces, metrics])], [Some(true); 2]);
        assert_eq!([of(&[traces]), of(&[endpoint, ("OTEL_METRICS_EXPORTER", "none")])], [Some(false); 2]);
    }
}
