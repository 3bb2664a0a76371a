//! What the host counts for those who watch over a server. Labels are words of ours, never what a model or a person
//! wrote.

use pod::Pod;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};
use protocol::{ControlEvent, Event, Outcome, TurnEvent, tool};

/// Upper bounds of the duration of a call, in seconds.
const CALL_SECONDS: [f64; 11] = [0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0];

/// How a run can end.
const OUTCOMES: [Outcome; 7] = [
    Outcome::Completed,
    Outcome::Cancelled,
    Outcome::Paused,
    Outcome::Limit,
    Outcome::Interrupted,
    Outcome::RolledBack,
    Outcome::Error,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    tool: &'static str,
    outcome: &'static str,
}

/// What a record counts as, once it is committed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Counted {
    Run(Outcome),
    Call { tool: &'static str, outcome: &'static str, seconds: f64 },
}

/// The counters of one host.
#[derive(Debug)]
pub(crate) struct Meters {
    runs: Family<Ended, Counter>,
    calls: Family<Called, Counter>,
    call_seconds: Histogram,
}

impl Default for Meters {
    fn default() -> Self {
        let (runs, calls) = (Family::<Ended, Counter>::default(), Family::<Called, Counter>::default());
        for outcome in OUTCOMES {
            drop(runs.get_or_create(&Ended { outcome: word(outcome) }));
        }
        drop(calls.get_or_create(&Called { tool: "Bash", outcome: OK }));
        Self { runs, calls, call_seconds: Histogram::new(CALL_SECONDS) }
    }
}

impl Meters {
    pub(crate) fn add(&self, counted: &Counted) {
        match counted {
            Counted::Run(outcome) => {
                self.runs.get_or_create(&Ended { outcome: word(*outcome) }).inc();
            }
            Counted::Call { tool, outcome, seconds } => {
                self.calls.get_or_create(&Called { tool, outcome }).inc();
                self.call_seconds.observe(*seconds);
            }
        }
    }

    /// Adds them to the registry of one scrape.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("runs_ended", "Runs that ended, by outcome", self.runs.clone());
        registry.register(
            "tool_calls",
            "Tool calls that ended, by tool (mcp: of a server, other: unknown) and outcome",
            self.calls.clone(),
        );
        registry.register("tool_call_duration_seconds", "How long tool calls took", self.call_seconds.clone());
    }
}

/// What a record counts as. `pod` is the Pod as it was before.
pub(crate) fn counted(pod: &Pod, event: &Event) -> Option<Counted> {
    match event {
        Event::Control(ControlEvent::RunFinished { outcome, .. }) => Some(Counted::Run(*outcome)),
        Event::Turn(TurnEvent::ToolFinished { call_id, is_error, code, duration_ms, .. }) => {
            let mut calls = pod.calls.iter().chain(&pod.operator_calls);
            let name = calls.find(|call| call.call_id == *call_id).map_or("", |call| call.name.as_str());
            let outcome = if *is_error { failure(code.as_deref()) } else { OK };
            let seconds = std::time::Duration::from_millis(*duration_ms).as_secs_f64();
            Some(Counted::Call { tool: tool_label(name), outcome, seconds })
        }
        _ => None,
    }
}

const OK: &str = "ok";

/// Tools of servers and what models made up share a label each, because the number of labels has to be bounded.
pub(crate) fn tool_label(name: &str) -> &'static str {
    match tool::facts(name).name {
        "" if name.contains(tool::SERVER_TOOL) => "mcp",
        "" => "other",
        known => known,
    }
}

/// As in records.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Paused => "paused",
        Outcome::Limit => "limit",
        Outcome::Interrupted => "interrupted",
        Outcome::RolledBack => "rolled_back",
        Outcome::Error => "error",
    }
}

/// Servers and hooks may give any code.
pub(crate) fn failure(code: Option<&str>) -> &'static str {
    match code {
        Some("permission_denied") => "denied",
        Some("cancelled") => "cancelled",
        Some("interrupted") => "interrupted",
        Some("limit") => "limit",
        Some("timeout") => "timeout",
        Some("exit") => "exit",
        Some("internal") => "internal",
        _ => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_name_has_a_label_of_ours() {
        assert_eq!([tool_label("Bash"), tool_label("execute")], ["Bash", "execute"]);
        assert_eq!(tool_label("tracker__close\"} 1\n"), "mcp");
        assert_eq!([tool_label("rm -rf /home/ada"), tool_label("")], ["other", "other"]);
        assert_eq!(failure(Some("/home/ada is secret")), "error");
        assert_eq!([failure(None), failure(Some("permission_denied"))], ["error", "denied"]);
    }
}
