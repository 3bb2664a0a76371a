//! Converts an older Pod's events to our records. Pure: no clock, no socket; unknown events are shown as unknown.
//!
//! Runs and blocks have no ids in the older protocol; they are generated here, and are unique within a connection.

mod calls;
mod drafts;
#[cfg(test)]
mod fuzz;
mod log;
mod runs;
mod segments;
mod speech;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use protocol::{AlertLevel, CommandId, ControlEvent, PodName, PodState, Segment, Trigger, Usage};
use serde_json::Value;

use self::{
    calls::Outcome,
    drafts::Drafts,
    log::{argument_text, replay, system_item},
    runs::Runs,
    speech::Kind,
};
pub(crate) use self::{
    runs::is_cancelled,
    segments::{segments_of, to_wire},
};
use crate::{journal::Draft, names, scrub::Scrub, values};

/// Events that occur only within a run: if none is open, one has begun.
const OF_RUN: [&str; 12] = [
    "turn_start",
    "llm_call_start",
    "llm_retry",
    "text_delta",
    "text_done",
    "thinking_start",
    "thinking_delta",
    "thinking_done",
    "tool_call_start",
    "tool_call_args_delta",
    "tool_call_done",
    "tool_result",
];

/// What an event results in.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    More(Vec<Draft>),
    /// The view starts over with these.
    Anew(Vec<Draft>),
}

/// An input of ours that the Pod has not echoed yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    pub(crate) segments: Vec<Segment>,
    pub(crate) command_id: CommandId,
    pub(crate) by: String,
}

/// What a list of Pods shows of this one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Face {
    pub(crate) state: PodState,
    pub(crate) usage: Usage,
    pub(crate) activity: Option<String>,
    /// Whether the last run ended with an error.
    pub(crate) has_failed: bool,
    /// Whether it announced that it is shutting down.
    pub(crate) has_shut_down: bool,
    /// How many answers were finished in this view.
    pub(crate) answers: u32,
}

impl Default for Face {
    /// The face of a Pod that has not been heard of.
    fn default() -> Self {
        Self {
            state: PodState::Unreachable,
            usage: Usage::default(),
            activity: None,
            has_failed: false,
            has_shut_down: false,
            answers: 0,
        }
    }
}

/// The state of a connected Pod.
pub(crate) fn state_of(status: &str) -> PodState {
    match status {
        "running" => PodState::Running,
        "paused" => PodState::Paused,
        _ => PodState::Idle,
    }
}

#[derive(Debug)]
pub(crate) struct Translator {
    name: PodName,
    runs: Runs,
}

impl Translator {
    /// `label` distinguishes this connection's ids from another's.
    pub(crate) fn new(scrub: Arc<Scrub>, name: PodName, label: String) -> Self {
        Self { name, runs: Runs::new(Drafts::new(scrub, label), Face::default()) }
    }

    pub(crate) fn face(&self) -> Face {
        let activity = self.runs.calls.newest().filter(|_| self.runs.is_open()).map(str::to_owned);
        Face { activity, answers: self.runs.drafts.answers, ..self.runs.face.clone() }
    }

    /// The next event of a connection whose snapshot has arrived.
    pub(crate) fn event(&mut self, name: &str, data: &Value, at: Timestamp) -> Step {
        self.runs.drafts.at = at;
        let is_anew = match name {
            "snapshot" => {
                self.snapshot(data);
                true
            }
            "segment_rotated" => self.rotated(data.get("entry").unwrap_or(&Value::Null)),
            "rewind_applied" => {
                self.anew(values::list(data, "entries"));
                true
            }
            _ => {
                self.goes_on(name, data);
                false
            }
        };
        let drafts = self.runs.drafts.take();
        if is_anew { Step::Anew(drafts) } else { Step::More(drafts) }
    }

    /// Replaces the view by the entries of a log.
    fn snapshot(&mut self, data: &Value) {
        self.runs.clear();
        let greeting = data.get("greeting").unwrap_or(&Value::Null);
        self.runs.face.usage.context_limit = values::number(greeting, "context_window");
        self.runs.face.usage.context_used = values::number(greeting, "context_tokens");
        replay(&mut self.runs, values::list(data, "entries"));
        self.runs.live_again(state_of(values::text(data, "status")));
    }

    /// A new segment: the view starts over from its history. A Pod's first segment follows nothing and changes
    /// nothing.
    fn rotated(&mut self, entry: &Value) -> bool {
        let is_anew = self.runs.drafts.has_conversation || !values::list(entry, "history").is_empty();
        if is_anew {
            self.anew(std::slice::from_ref(entry));
        }
        is_anew
    }

    /// Starts a new view of a Pod that continues what it was doing.
    fn anew(&mut self, entries: &[Value]) {
        let (is_running, state) = (self.runs.is_at_work(), self.runs.face.state);
        self.runs.clear();
        replay(&mut self.runs, entries);
        self.runs.live_again(match state {
            PodState::Running | PodState::Paused => state,
            _ => PodState::Idle,
        });
        if is_running {
            self.runs.go_on();
        }
    }

    fn goes_on(&mut self, name: &str, data: &Value) {
        let runs = &mut self.runs;
        if OF_RUN.contains(&name) {
            runs.go_on();
        }
        let field = |name| values::text(data, name);
        let inner = |name| data.get(name).unwrap_or(&Value::Null);
        let drafts = &mut runs.drafts;
        match name {
            "text_delta" => runs.speech.piece(Kind::Text, field("text"), drafts),
            "text_done" => runs.speech.whole(Kind::Text, field("text"), drafts),
            "thinking_start" => runs.speech.begin(Kind::Thought, drafts),
            "thinking_delta" => runs.speech.piece(Kind::Thought, field("text"), drafts),
            "thinking_done" => runs.speech.whole(Kind::Thought, field("text"), drafts),
            "tool_call_start" => runs.calls.begin(field("id"), field("name"), drafts),
            "tool_call_args_delta" => runs.calls.grow(field("id"), field("json"), drafts),
            "tool_call_done" => runs.calls.called(field("id"), field("name"), argument_text(data), drafts),
            "tool_result" => runs.calls.result(field("id"), &Outcome::of(data, "output"), drafts),
            "invoke_start" => runs.invoke(trigger_of(field("kind"))),
            "user_message" => runs.echo(segments_of(values::list(data, "segments"))),
            "usage" => runs.used(data),
            "llm_retry" => runs.retry(data),
            "run_end" => runs.ended(field("result")),
            "status" => runs.status(field("status")),
            "error" => runs.failed(field("code"), field("message")),
            "shutdown" => {
                runs.face.has_shut_down = true;
                runs.end_unsaid();
            }
            "system_item" => system_item(runs, inner("item")),
            "alert" => {
                let level = if field("level") == "error" { AlertLevel::Error } else { AlertLevel::Warn };
                drafts.note(level, field("source"), field("message"));
            }
            "compact_start" => drafts.note(AlertLevel::Note, "compact", "the older Pod compacts its context"),
            "compact_done" => drafts.note(AlertLevel::Note, "compact", "the older Pod has compacted its context"),
            "compact_failed" => {
                let text =
                    format!("the older Pod could not compact its context {}{}", field("message"), field("error"));
                drafts.note(AlertLevel::Error, "compact", text.trim_end());
            }
            "peer_registered" => peer_registered(&self.name, inner("result"), drafts),
            // Said by others, or answers to other clients' requests, which contain addresses and nothing about the
            // conversation.
            "turn_start" | "turn_end" | "llm_call_start" | "llm_call_end" => (),
            "pods_listed" | "pod_restored" | "completions" | "rewind_targets" => (),
            _ => drafts.unknown(name, data),
        }
    }

    /// An input is being sent; its echo gets its id.
    pub(crate) fn expect_input(&mut self, sent: Option<Sent>) {
        self.runs.sent = sent;
    }

    /// The Pod accepted an input without echoing it yet: its record is written now.
    pub(crate) fn input_taken(&mut self, at: Timestamp) -> Vec<Draft> {
        self.runs.drafts.at = at;
        self.runs.input_taken();
        self.runs.drafts.take()
    }

    /// Whether [`Translator::settle`] is due if nothing arrives for a moment.
    pub(crate) fn is_quiet(&self) -> bool {
        self.runs.is_quiet
    }

    /// Nothing followed the idle: the run is over.
    pub(crate) fn settle(&mut self, at: Timestamp) -> Vec<Draft> {
        self.runs.drafts.at = at;
        if std::mem::take(&mut self.runs.is_quiet) {
            self.runs.end_unsaid();
            self.runs.state(PodState::Idle);
        }
        self.runs.drafts.take()
    }

    /// The connection is lost. The reason becomes the state's reason.
    pub(crate) fn lost(&mut self, reason: &str, at: Timestamp) -> Vec<Draft> {
        let runs = &mut self.runs;
        runs.drafts.at = at;
        runs.speech.end_all(true, &mut runs.drafts);
        let state = if runs.face.has_shut_down { PodState::Stopped } else { PodState::Unreachable };
        runs.state_because(state, Some(reason.to_owned()));
        runs.drafts.take()
    }
}

/// Why a run begins.
fn trigger_of(kind: &str) -> Trigger {
    match kind {
        "user_send" => Trigger::Input,
        "notify" => Trigger::Peer,
        "pod_event" => Trigger::Child,
        _ => Trigger::Resume,
    }
}

fn peer_registered(own: &PodName, result: &Value, drafts: &mut Drafts) {
    let (source, peer) = (values::text(result, "source"), values::text(result, "peer"));
    if let (true, Ok(peer)) = (source == own.as_str(), PodName::parse(peer)) {
        let (peer, by) = (names::peer_label(&peer), "operator".to_owned());
        drafts.push(ControlEvent::PeerLinked { peer, by, request_id: None, note: None });
    }
}
