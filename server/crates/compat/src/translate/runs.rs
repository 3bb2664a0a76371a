//! The runs of a Pod: their beginning, their content, and their end.

use protocol::{AlertLevel, Blobs, CommandId, ControlEvent, Outcome, PodState, Segment, Trigger, TurnEvent, Usage};
use serde_json::Value;

use super::{Face, Sent, calls::Calls, drafts::Drafts, speech::Speech};
use crate::{names, values};

/// The detail of a run whose end was not reported.
const UNSAID: &str = "it ended without saying how";

#[derive(Debug)]
pub(super) struct Runs {
    pub(super) drafts: Drafts,
    pub(super) speech: Speech,
    pub(super) calls: Calls,
    pub(super) face: Face,
    /// The usage of the open run alone.
    used: Usage,
    /// A run was announced, and what triggers it is still to come.
    invoked: Option<Trigger>,
    /// An input of ours that has not been echoed yet.
    pub(super) sent: Option<Sent>,
    /// An input whose record was written before its echo.
    shown: Option<Vec<Segment>>,
    /// Idle was reported in the middle of a run: the run is over unless more of it arrives.
    pub(super) is_quiet: bool,
}

impl Runs {
    pub(super) fn new(drafts: Drafts, face: Face) -> Self {
        Self {
            drafts,
            speech: Speech::default(),
            calls: Calls::default(),
            face,
            used: Usage::default(),
            invoked: None,
            sent: None,
            shown: None,
            is_quiet: false,
        }
    }

    /// Clears the view, and keeps what holds across views.
    pub(super) fn clear(&mut self) {
        let usage = Usage { context_limit: self.face.usage.context_limit, ..Usage::default() };
        let face = Face { state: self.face.state, usage, ..Face::default() };
        *self = Self { sent: self.sent.take(), ..Self::new(self.drafts.anew(), face) };
    }

    pub(super) fn is_open(&self) -> bool {
        self.drafts.run_id.is_some()
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.is_open() || self.invoked.is_some()
    }

    /// A run is announced; it begins with what triggers it.
    pub(super) fn invoke(&mut self, trigger: Trigger) {
        self.end_unsaid();
        self.invoked = Some(trigger);
    }

    /// An input, as echoed to every client.
    pub(super) fn echo(&mut self, segments: Vec<Segment>) {
        if self.shown.as_ref() == Some(&segments) {
            self.shown = None;
            return;
        }
        match self.sent.take_if(|sent| sent.segments == segments) {
            Some(sent) => self.input(segments, sent.command_id, sent.by),
            None => self.input_of_others(segments),
        }
    }

    pub(super) fn input_of_others(&mut self, segments: Vec<Segment>) {
        let number = self.drafts.number();
        let command_id = names::foreign_command(&self.drafts.label, number);
        self.input(segments, command_id, "operator".to_owned());
    }

    /// Our input was accepted and has not been echoed yet.
    pub(super) fn input_taken(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.shown = Some(sent.segments.clone());
            self.input(sent.segments, sent.command_id, sent.by);
        }
    }

    fn input(&mut self, segments: Vec<Segment>, command_id: CommandId, by: String) {
        if self.invoked.take().is_some() || !self.is_open() {
            self.begin(Trigger::Input, Some(command_id.clone()));
        }
        self.drafts.push(TurnEvent::UserMessage { segments, command_id, by, blobs: Blobs::default() });
    }

    /// Part of a run arrives: if none is open, one has begun.
    pub(super) fn go_on(&mut self) {
        self.is_quiet = false;
        let invoked = self.invoked.take();
        if invoked.is_some() || !self.is_open() {
            let ours = self.sent.as_ref().map(|sent| sent.command_id.clone());
            let trigger = invoked.unwrap_or(if ours.is_some() { Trigger::Input } else { Trigger::Resume });
            self.begin(trigger, ours.filter(|_| trigger == Trigger::Input));
        }
    }

    /// Like [`Self::go_on`], for what may also occur outside a run.
    pub(super) fn go_on_if_invoked(&mut self) {
        if self.invoked.is_some() {
            self.go_on();
        }
    }

    fn begin(&mut self, trigger: Trigger, command_id: Option<CommandId>) {
        self.end_unsaid();
        self.face.has_failed = false;
        self.used = Usage::default();
        self.drafts.run_id = Some(self.drafts.id("run"));
        self.drafts.push(ControlEvent::RunStarted { trigger, command_id });
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        self.end_because(outcome, None, None);
    }

    fn end_because(&mut self, outcome: Outcome, code: Option<String>, detail: Option<String>) {
        (self.is_quiet, self.invoked, self.shown) = (false, None, None);
        self.speech.end_all(outcome != Outcome::Completed, &mut self.drafts);
        if outcome != Outcome::Paused {
            self.calls.end_all(&mut self.drafts);
        }
        if self.is_open() {
            self.face.has_failed = outcome == Outcome::Error;
            self.drafts.push(ControlEvent::RunFinished { outcome, code, detail, usage: self.used });
            self.drafts.run_id = None;
        }
    }

    pub(super) fn end_unsaid(&mut self) {
        if self.is_open() {
            self.end_because(Outcome::Interrupted, None, Some(UNSAID.to_owned()));
        }
    }

    pub(super) fn ended(&mut self, result: &str) {
        if !self.is_open() {
            self.go_on_if_invoked();
        }
        let (outcome, state) = match result {
            "paused" => (Outcome::Paused, PodState::Paused),
            "limit_reached" => (Outcome::Limit, PodState::Idle),
            "rolled_back" => (Outcome::RolledBack, PodState::Idle),
            "interrupted" => (Outcome::Interrupted, PodState::Idle),
            _ => (Outcome::Completed, PodState::Idle),
        };
        self.end(outcome);
        self.state(state);
    }

    /// An error of the run, or of something unknown here.
    pub(super) fn failed(&mut self, code: &str, message: &str) {
        // A refusal that nobody here waits for answers another client's request.
        if matches!(code, "already_running" | "not_running" | "not_paused" | "invalid_request") {
            return;
        }
        if is_cancelled(code, message) {
            self.end(Outcome::Cancelled);
        } else if self.is_at_work() {
            self.go_on();
            let scrub = &self.drafts.scrub;
            let (code, detail) = (scrub.said(code), scrub.said(message));
            self.end_because(Outcome::Error, Some(code), Some(detail));
        } else {
            return self.drafts.note(AlertLevel::Error, code, message);
        }
        self.state(PodState::Idle);
    }

    pub(super) fn status(&mut self, status: &str) {
        match status {
            "running" => {
                self.is_quiet = false;
                self.state(PodState::Running);
            }
            "paused" => {
                if self.is_open() {
                    self.end(Outcome::Paused);
                }
                self.state(PodState::Paused);
            }
            // It may be late and refer to the previous run, so wait a moment before ending this one.
            "idle" if self.is_open() => self.is_quiet = true,
            "idle" => self.state(PodState::Idle),
            _ => (),
        }
    }

    pub(super) fn state(&mut self, state: PodState) {
        self.state_because(state, None);
    }

    pub(super) fn state_because(&mut self, state: PodState, state_reason: Option<String>) {
        if !self.drafts.is_replay && self.face.state != state {
            self.face.state = state;
            self.drafts.push(ControlEvent::Status { state, state_reason });
        }
    }

    /// Restores the present state after the entries of a log.
    pub(super) fn live_again(&mut self, state: PodState) {
        match state {
            PodState::Running => self.go_on_if_invoked(),
            PodState::Paused if self.is_open() => self.end(Outcome::Paused),
            _ => self.end_unsaid(),
        }
        self.invoked = None;
        self.face.state = PodState::Unreachable;
        self.state(state);
    }

    pub(super) fn used(&mut self, data: &Value) {
        let (input, output) = (values::number(data, "input_tokens"), values::number(data, "output_tokens"));
        let cached = values::number(data, "cache_read_input_tokens");
        // Our `input` includes cached tokens; where theirs cannot, they are added.
        let input = if cached > input { input.saturating_add(cached) } else { input };
        let (context_used, context_limit) = (input.saturating_add(output), self.face.usage.context_limit);
        let written = values::number(data, "cache_creation_input_tokens");
        let usage = Usage { input, cached, written, output, context_used, context_limit, ..Usage::default() };
        add(&mut self.face.usage, &usage);
        add(&mut self.used, &usage);
        self.drafts.push(ControlEvent::Usage { usage });
    }

    pub(super) fn retry(&mut self, data: &Value) {
        let code = match values::number(data, "status") {
            0 => "provider_error".to_owned(),
            status => status.to_string(),
        };
        let attempt = u32::try_from(values::number(data, "failed_attempt")).unwrap_or(u32::MAX);
        let (wait_ms, detail) = (values::number(data, "wait_ms"), self.drafts.scrub.said(values::text(data, "error")));
        self.drafts.push(ControlEvent::ProviderRetry { attempt, wait_ms, code, detail });
    }
}

/// Whether an error is how an older Pod reports a cancelled run.
pub(crate) fn is_cancelled(code: &str, message: &str) -> bool {
    code == "internal" && message.to_lowercase().starts_with("cancel")
}

fn add(total: &mut Usage, more: &Usage) {
    total.input = total.input.saturating_add(more.input);
    total.cached = total.cached.saturating_add(more.cached);
    total.written = total.written.saturating_add(more.written);
    total.output = total.output.saturating_add(more.output);
    (total.context_used, total.context_limit) = (more.context_used, more.context_limit);
}
