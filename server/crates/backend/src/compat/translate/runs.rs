//! Runs: what begins one, what it is given, and how it ends.

use protocol::{ControlEvent, Outcome, PodState, Trigger, TurnEvent, Usage};
use serde_json::Value;

use super::{Sent, Translator, items::segments_of};
use crate::compat::{names, values};

/// How a run ended that said nothing.
const UNSAID: &str = "it ended without saying how";

#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: String,
    /// What this run alone used.
    pub(super) usage: Usage,
}

impl Translator {
    pub(super) fn run_event(&mut self, name: &str, data: &Value) -> bool {
        match name {
            "invoke_start" => self.invoke(values::text(data, "kind")),
            "user_message" => {
                let segments = segments_of(values::list(data, "segments"));
                if self.shown.as_ref() == Some(&segments) {
                    self.shown = None;
                    return true;
                }
                let sent = self.sent.take_if(|sent| sent.segments == segments);
                self.user_message(segments, sent);
            }
            "turn_start" | "llm_call_start" => self.in_run(),
            "turn_end" | "llm_call_end" => (),
            "usage" => self.used(data),
            "llm_retry" => self.retry(data),
            "run_end" => self.run_end(values::text(data, "result")),
            "status" => self.status(values::text(data, "status")),
            "error" => self.failed(values::text(data, "code"), values::text(data, "message")),
            "shutdown" => {
                self.face.has_shut_down = true;
                self.run_ended_unsaid();
            }
            _ => return false,
        }
        true
    }

    /// A run is announced; it begins with what it is about.
    pub(super) fn invoke(&mut self, kind: &str) {
        self.run_ended_unsaid();
        self.invoked = Some(match kind {
            "user_send" => Trigger::Input,
            "notify" => Trigger::Peer,
            "pod_event" => Trigger::Child,
            _ => Trigger::Resume,
        });
    }

    /// What somebody sent. `sent`: it was us.
    pub(super) fn user_message(&mut self, segments: Vec<protocol::Segment>, sent: Option<Sent>) {
        self.made += 1;
        let (command_id, by) = match sent {
            Some(sent) => (sent.command_id, sent.by),
            None => (names::foreign_command(&self.label, self.made), "operator".to_owned()),
        };
        if self.run.is_none() || self.invoked.is_some() {
            self.invoked = None;
            self.begin(Trigger::Input, Some(command_id.clone()));
        }
        self.push(TurnEvent::UserMessage { segments, command_id, by });
    }

    /// Something of a run comes: if none is open, one has begun.
    pub(super) fn in_run(&mut self) {
        self.is_quiet = false;
        if let Some(trigger) = self.invoked.take() {
            let ours = self.sent.as_ref().filter(|_| trigger == Trigger::Input);
            let command_id = ours.map(|sent| sent.command_id.clone());
            self.begin(trigger, command_id);
        } else if self.run.is_none() {
            let ours = self.sent.as_ref().map(|sent| sent.command_id.clone());
            let trigger = if ours.is_some() { Trigger::Input } else { Trigger::Resume };
            self.begin(trigger, ours);
        }
    }

    fn begin(&mut self, trigger: Trigger, command_id: Option<protocol::CommandId>) {
        self.run_ended_unsaid();
        self.face.has_failed = false;
        self.run = Some(Run { id: self.id("run"), usage: Usage::default() });
        self.push(ControlEvent::RunStarted { trigger, command_id });
    }

    pub(super) fn end(&mut self, outcome: Outcome, code: Option<String>, detail: Option<String>) {
        self.is_quiet = false;
        self.invoked = None;
        self.shown = None;
        self.close_speech(outcome != Outcome::Completed);
        if outcome != Outcome::Paused {
            self.close_calls();
        }
        let Some(run) = &self.run else { return };
        let usage = run.usage;
        self.face.has_failed = outcome == Outcome::Error;
        self.push(ControlEvent::RunFinished { outcome, code, detail, usage });
        self.run = None;
    }

    pub(super) fn run_ended_unsaid(&mut self) {
        if self.run.is_some() {
            self.end(Outcome::Interrupted, None, Some(UNSAID.to_owned()));
        }
    }

    pub(super) fn run_end(&mut self, result: &str) {
        if self.invoked.is_some() && self.run.is_none() {
            self.in_run();
        }
        let (outcome, state) = match result {
            "paused" => (Outcome::Paused, PodState::Paused),
            "limit_reached" => (Outcome::Limit, PodState::Idle),
            "rolled_back" => (Outcome::RolledBack, PodState::Idle),
            "interrupted" => (Outcome::Interrupted, PodState::Idle),
            _ => (Outcome::Completed, PodState::Idle),
        };
        self.end(outcome, None, None);
        self.state(state);
    }

    pub(super) fn failed(&mut self, code: &str, message: &str) {
        // A refusal that nobody here waits for answers another client's request.
        if matches!(code, "already_running" | "not_running" | "not_paused" | "invalid_request") {
            return;
        }
        if is_cancelled(code, message) {
            self.end(Outcome::Cancelled, None, None);
            return self.state(PodState::Idle);
        }
        let (code, detail) = (self.scrub.said(code), self.scrub.said(message));
        match self.run.is_some() || self.invoked.is_some() {
            true => {
                self.in_run();
                self.end(Outcome::Error, Some(code), Some(detail));
                self.state(PodState::Idle);
            }
            false => self.push(ControlEvent::Alert { level: protocol::AlertLevel::Error, source: code, text: detail }),
        }
    }

    fn status(&mut self, status: &str) {
        match status {
            "running" => {
                self.is_quiet = false;
                self.state(PodState::Running);
            }
            "paused" => {
                if self.run.is_some() {
                    self.end(Outcome::Paused, None, None);
                }
                self.state(PodState::Paused);
            }
            // It may be late, and be about the run before: so the end of this one is waited for a moment.
            "idle" if self.run.is_some() => self.is_quiet = true,
            "idle" => self.state(PodState::Idle),
            _ => (),
        }
    }

    pub(super) fn state(&mut self, state: PodState) {
        self.state_because(state, None);
    }

    pub(super) fn state_because(&mut self, state: PodState, state_reason: Option<String>) {
        if self.is_replay || self.face.state == state {
            return;
        }
        self.face.state = state;
        self.push(ControlEvent::Status { state, state_reason });
    }

    /// After the entries of a log: what holds now.
    pub(super) fn live_again(&mut self, status: &str) {
        let state = match status {
            "running" => PodState::Running,
            "paused" => PodState::Paused,
            _ => PodState::Idle,
        };
        match state {
            PodState::Running if self.invoked.is_some() => self.in_run(),
            PodState::Running => (),
            PodState::Paused if self.run.is_some() => self.end(Outcome::Paused, None, None),
            _ => self.run_ended_unsaid(),
        }
        self.invoked = None;
        self.face.state = PodState::Unreachable;
        self.state(state);
    }

    pub(super) fn used(&mut self, data: &Value) {
        let (input, output) = (values::number(data, "input_tokens"), values::number(data, "output_tokens"));
        let cached = values::number(data, "cache_read_input_tokens");
        // Ours includes what was cached; where theirs cannot, it is added.
        let input = if cached > input { input.saturating_add(cached) } else { input };
        let total = &mut self.face.usage;
        total.context_used = input.saturating_add(output);
        let usage = Usage { input, cached, output, cost: None, ..*total };
        add(total, &usage);
        if let Some(run) = &mut self.run {
            add(&mut run.usage, &usage);
        }
        self.push(ControlEvent::Usage { usage });
    }

    fn retry(&mut self, data: &Value) {
        self.in_run();
        let code = match values::number(data, "status") {
            0 => "provider_error".to_owned(),
            status => status.to_string(),
        };
        let attempt = u32::try_from(values::number(data, "failed_attempt")).unwrap_or(u32::MAX);
        let (wait_ms, detail) = (values::number(data, "wait_ms"), self.scrub.said(values::text(data, "error")));
        self.push(ControlEvent::ProviderRetry { attempt, wait_ms, code, detail });
    }
}

/// How an older Pod tells that a run was cancelled.
pub(in crate::compat) fn is_cancelled(code: &str, message: &str) -> bool {
    code == "internal" && message.to_lowercase().starts_with("cancel")
}

fn add(total: &mut Usage, more: &Usage) {
    total.input = total.input.saturating_add(more.input);
    total.cached = total.cached.saturating_add(more.cached);
    total.output = total.output.saturating_add(more.output);
    (total.context_used, total.context_limit) = (more.context_used, more.context_limit);
}
