//! Metrics for Prometheus. Each server has its own registry, so that tests can run in parallel.

mod process;

use axum::http::{Method, StatusCode};
use backend::Backend;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::ConstGauge,
        info::Info,
    },
    registry::Registry,
};

use self::process::Process;
use crate::ConnectionFigures;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    status: u32,
}

/// What the HTTP side counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Family<Answered, Counter>,
    process: Process,
}

impl Metrics {
    /// Counts one response.
    pub(crate) fn count(&self, method: &Method, status: StatusCode) {
        let answered = Answered { method: label(method), status: status.as_u16().into() };
        self.requests.get_or_create(&answered).inc();
    }

    /// Everything that this server counts, in the OpenMetrics text format.
    pub(crate) async fn text(&self, backend: &Backend, connections: ConnectionFigures) -> String {
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("yoi");
        backend.health().register(ours).await;
        self.register(ours, connections);
        self.process.register(registry.sub_registry_with_prefix("process"));
        let mut text = String::new();
        text::encode(&mut text, &registry).expect("writing to a text cannot fail");
        text
    }

    fn register(&self, registry: &mut Registry, connections: ConnectionFigures) {
        registry.register("build", "The version of this server", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        registry.register("http_requests", "Requests answered since the start", self.requests.clone());
        let ConnectionFigures { open, refused_total, timed_out_total, displaced_total } = connections;
        let mut counter = |name: &str, help: &str, total: u64| registry.register(name, help, ConstCounter::new(total));
        counter("connections_refused", "Connections for which there was no room", refused_total);
        counter(
            "connections_timed_out",
            "Connections that sent no whole request in time, or took no answer",
            timed_out_total,
        );
        counter("connections_displaced", "Connections that had to make room for others", displaced_total);
        let open = ConstGauge::new(i64::try_from(open).unwrap_or(i64::MAX));
        registry.register("connections", "Connections that are open now", open);
    }
}

/// Unknown methods share one label, because the number of labels has to be bounded.
pub(crate) const OTHER: &str = "other";

pub(crate) fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_figures_are_told_in_the_text_format() {
        let metrics = Metrics::default();
        metrics.count(&Method::GET, StatusCode::OK);
        metrics.count(&Method::GET, StatusCode::OK);
        let connections = ConnectionFigures { open: 2, timed_out_total: 5, ..ConnectionFigures::default() };
        let mut registry = Registry::with_prefix("yoi");
        metrics.register(&mut registry, connections);
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        for line in [
            "yoi_http_requests_total{method=\"GET\",status=\"200\"} 2",
            "yoi_connections 2",
            "yoi_connections_timed_out_total 5",
            concat!("yoi_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
