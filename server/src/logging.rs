//! The log: lines on standard error, filtered by YOI_LOG. It contains no token, no key and no query string. Beside it,
//! with the feature `otel`, OpenTelemetry.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use tracing_subscriber::{EnvFilter, Layer, filter::Directive, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{BadConfig, Environment};

/// Crates that log whole requests, including tokens, or the addresses of other servers, at their most detailed level;
/// and spans that are only for OpenTelemetry.
const TALKATIVE: [&str; 8] = [
    "tungstenite=info",
    "tokio_tungstenite=info",
    "hyper=info",
    "h2=info",
    "reqwest=info",
    "rmcp=error",
    "otel=off",
    "genai_content=off",
];

/// What has to be ended with the server.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    #[cfg(feature = "otel")]
    telemetry: Option<telemetry::Telemetry>,
}

impl Tracing {
    /// Sends what OpenTelemetry has not sent yet, for at most `limit`.
    pub(crate) async fn end(self, limit: Duration) {
        #[cfg(feature = "otel")]
        if let Some(telemetry) = self.telemetry {
            telemetry.end(limit).await;
        }
        #[cfg(not(feature = "otel"))]
        let _ = limit;
    }
}

/// Starts logging. `filter` uses the syntax of tracing: `info`, `yoi=debug,runtime=trace`.
pub(crate) fn start(filter: &str, environment: &Environment) -> Result<Tracing, BadConfig> {
    let wrong = |error: &dyn std::fmt::Display| {
        BadConfig(format!(
            "YOI_LOG \"{filter}\" is not a valid filter ({error}); try info, debug or runtime=debug,info"
        ))
    };
    let mut chosen = EnvFilter::builder().parse(filter).map_err(|error| wrong(&error))?;
    for limit in TALKATIVE {
        let limit: Directive = limit.parse().expect("our own limits are directives");
        chosen = chosen.add_directive(limit);
    }
    let log = tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let log = tracing_subscriber::registry().with(log.with_filter(chosen));
    let cannot = |error: &dyn std::fmt::Display| BadConfig(format!("the log cannot be started: {error}"));
    #[cfg(feature = "otel")]
    if let Some(settings) = telemetry::Settings::of(|name| environment.text(name)) {
        let content = settings.with_content;
        let (layer, telemetry) = telemetry::start(settings).map_err(|error| BadConfig(error.to_string()))?;
        log.with(layer).try_init().map_err(|error| cannot(&error))?;
        tracing::info!(content, "OpenTelemetry is on; what the models and tools say is sent only if content is true");
        return Ok(Tracing { telemetry: Some(telemetry) });
    }
    log.try_init().map_err(|error| cannot(&error))?;
    if !cfg!(feature = "otel") && environment.text("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
        tracing::warn!("this yoi was built without OpenTelemetry; build it with --features otel");
    }
    Ok(Tracing::default())
}
