//! Metrics for Prometheus. Each server has its own registry, so that tests can run in parallel.

use axum::http::{Method, StatusCode};
use backend::Figures;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::ConstGauge,
    },
    registry::Registry,
};

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
}

impl Metrics {
    /// Counts one response.
    pub(crate) fn count(&self, method: &Method, status: StatusCode) {
        let answered = Answered { method: label(method), status: status.as_u16().into() };
        self.requests.get_or_create(&answered).inc();
    }

    /// Everything in the OpenMetrics text format.
    pub(crate) fn text(&self, figures: Figures, connections: ConnectionFigures) -> String {
        let gauge = |number: u64| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
        let mut registry = Registry::with_prefix("yoi");
        registry.register("active_pods", "Pods that have a task now", gauge(figures.active_pods));
        registry.register("viewers", "Streams that are open now", gauge(figures.viewers));
        registry.register("records", "Records committed since the start", ConstCounter::new(figures.records_total));
        registry.register("commands", "Commands accepted since the start", ConstCounter::new(figures.commands_total));
        registry.register(
            "runtime_poll_seconds_max",
            "The longest that a task held a shared thread at once, in the last minute",
            ConstGauge::new(figures.longest_step.as_secs_f64()),
        );
        let storage = Family::<Vec<(&str, &str)>, Counter>::default();
        for (what, count) in [("read", figures.reads_failed_total), ("write", figures.writes_failed_total)] {
            storage.get_or_create(&vec![("operation", what)]).inc_by(count);
        }
        registry.register("storage_failures", "Reads and writes of the database that failed", storage);
        let is_out = u64::from(figures.is_out);
        registry.register("storage_out", "1 while the database cannot be written", gauge(is_out));
        let is_lost = u64::from(figures.is_lost);
        registry.register("storage_lost", "1 while the database is gone: deleted, moved or replaced", gauge(is_lost));
        let damaged = gauge(figures.records_damaged);
        registry.register(
            "records_damaged",
            "Records that are damaged and set aside; `yoi doctor` lists them",
            damaged,
        );
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
        registry.register("connections", "Connections that are open now", gauge(open));
        let mut text = String::new();
        text::encode(&mut text, &registry).expect("writing to a text cannot fail");
        text
    }
}

/// Unknown methods share one label, because the number of labels has to be bounded.
fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
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
        let figures = Figures { active_pods: 3, records_total: 7, writes_failed_total: 2, ..Figures::default() };
        let figures = Figures { longest_step: std::time::Duration::from_millis(250), ..figures };
        let connections = ConnectionFigures { open: 2, timed_out_total: 5, ..ConnectionFigures::default() };
        let text = metrics.text(figures, connections);
        assert!(
            text.contains(
                "yoi_http_requests_total{method=\"GET\",status=\"200\"} 2
"
            ),
            "{text}"
        );
        assert!(text.contains("yoi_runtime_poll_seconds_max 0.25\n"), "{text}");
        assert!(
            text.contains(
                "yoi_active_pods 3
"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "yoi_records_total 7
"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "yoi_storage_failures_total{operation=\"write\"} 2
"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "yoi_storage_failures_total{operation=\"read\"} 0
"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "yoi_connections 2
"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "yoi_connections_timed_out_total 5
"
            ),
            "{text}"
        );
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
