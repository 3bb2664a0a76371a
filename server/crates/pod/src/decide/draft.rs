//! A decision in the making.

use protocol::{CommandId, ControlEvent, Event, Outcome, PodState, ReceiptState, ToolBy, Trigger, TurnEvent, Usage};

use super::{Decision, Effect};
use crate::{PeerLetter, Pod, Step, ToolOutcome, state::BlockKind};

/// Percent of the model's context that may be used before it is compacted, ahead of the next question to the model.
const CONTEXT_PERCENT_MAX: u64 = 80;

/// A decision in the making. It folds each event at once, so that the next line sees the state after it.
pub(crate) struct Draft {
    pub(crate) pod: Pod,
    pub(super) decision: Decision,
}

impl Draft {
    pub(crate) fn new(pod: &Pod) -> Self {
        Self { pod: pod.clone(), decision: Decision::default() }
    }

    pub(crate) fn done(self) -> Decision {
        self.decision
    }

    pub(crate) fn event(&mut self, event: impl Into<Event>) {
        let event = event.into();
        self.pod.evolve(self.pod.head.next(), &event);
        self.decision.steps.push(Step { run_id: self.pod.run_id(), event });
    }

    /// An event that belongs to no run, even if one goes on.
    pub(super) fn outside(&mut self, event: impl Into<Event>) {
        self.event(event);
        if let Some(step) = self.decision.steps.last_mut() {
            step.run_id = None;
        }
    }

    /// The state of a run that begins: told even if it is no news, because it ends the run's beginning.
    pub(super) fn begin(
        &mut self,
        trigger: Trigger,
        command_id: Option<CommandId>,
        events: impl IntoIterator<Item = Event>,
    ) {
        self.event(ControlEvent::RunStarted { trigger, command_id });
        for event in events {
            self.event(event);
        }
        self.event(ControlEvent::Status { state: PodState::Running, state_reason: None });
    }

    /// Asks the model; before that, makes room when its context is nearly full.
    pub(crate) fn ask_model(&mut self) {
        let Usage { context_used, context_limit, .. } = self.pod.usage;
        let is_nearly_full = context_limit > 0 && context_used * 100 >= context_limit * CONTEXT_PERCENT_MAX;
        match is_nearly_full {
            true => self.effect(Effect::Summarise),
            false => self.call_model(),
        }
    }

    /// Asks the model with all that is in the context; with it go the messages that it has not read.
    pub(super) fn call_model(&mut self) {
        let turn = Some(self.pod.runs);
        for letter in self.pod.unread_messages.clone() {
            let PeerLetter { message_id, from: peer, .. } = letter;
            self.event(ControlEvent::MessageReceipt {
                message_id,
                peer,
                state: ReceiptState::Read,
                turn,
                reason: None,
            });
        }
        self.effect(Effect::CallModel);
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.decision.effects.push(effect);
    }

    pub(crate) fn status(&mut self, state: PodState, reason: Option<&str>) {
        if self.pod.state != state || self.pod.state_reason.as_deref() != reason {
            self.event(ControlEvent::Status { state, state_reason: reason.map(str::to_owned) });
        }
    }

    pub(crate) fn next_block(&self) -> String {
        format!("b{}", self.pod.blocks + 1)
    }

    /// Closes what the model was saying.
    pub(crate) fn close_speech(&mut self, interrupted: bool) {
        let speech = self
            .pod
            .open_blocks
            .iter()
            .find(|open| matches!(open.kind, BlockKind::Text | BlockKind::Reasoning))
            .cloned();
        let Some(open) = speech else { return };
        let (block, text) = (open.id, open.text);
        match open.kind {
            BlockKind::Text => self.event(TurnEvent::MessageFinished { block, text, interrupted }),
            _ => self.event(TurnEvent::ReasoningFinished { block, text, interrupted }),
        }
    }

    pub(crate) fn finish_call(&mut self, call_id: &str, outcome: ToolOutcome) {
        let of_model = self.pod.calls.iter().find(|call| call.call_id == call_id).map(|call| (call, ToolBy::Model));
        let of_operator =
            || self.pod.operator_calls.iter().find(|call| call.call_id == call_id).map(|call| (call, ToolBy::Operator));
        let Some((call, by)) = of_model.or_else(of_operator) else { return };
        let call = call.clone();
        let event = TurnEvent::ToolFinished {
            call_id: call.call_id,
            block: call.block,
            summary: outcome.summary,
            content: outcome.content,
            is_error: outcome.is_error,
            code: outcome.code,
            diff: outcome.diff,
            duration_ms: outcome.duration_ms,
            by,
            seen: outcome.seen,
        };
        match by {
            ToolBy::Model => self.event(event),
            ToolBy::Operator => self.outside(event),
        }
    }

    /// Gives every open call a result, so that no model is ever sent a call without one.
    pub(crate) fn close_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.calls.clone() {
            self.finish_call(&call.call_id, ToolOutcome::failed(code, summary));
        }
    }

    /// Gives a result to the calls that were running, and leaves those that wait for a person.
    pub(crate) fn close_started_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.calls.clone() {
            let is_asked = self.pod.approvals.iter().any(|open| open.call_id == call.call_id);
            if !is_asked {
                self.finish_call(&call.call_id, ToolOutcome::failed(code, summary));
            }
        }
    }

    /// Gives every open call of a person a result.
    pub(crate) fn close_operator_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.operator_calls.clone() {
            self.finish_call(&call.call_id, ToolOutcome::failed(code, summary));
        }
    }

    pub(super) fn void_approvals(&mut self, reason: &str) {
        for open in self.pod.approvals.clone() {
            self.event(ControlEvent::ApprovalAnswered {
                id: open.id,
                tool: open.tool,
                arguments: open.arguments,
                decision: None,
                by: None,
                reason: Some(reason.to_owned()),
            });
        }
    }

    pub(crate) fn finish_run(&mut self, outcome: Outcome, failure: Option<(String, String)>) {
        let usage = self.pod.run.as_ref().map(|run| run.usage).unwrap_or_default();
        let (code, detail) = failure.unzip();
        self.event(ControlEvent::RunFinished { outcome, code, detail, usage });
    }
}
