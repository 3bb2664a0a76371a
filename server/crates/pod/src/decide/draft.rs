//! A decision in the making.

use protocol::{CommandId, ControlEvent, Event, Outcome, PodState, ReceiptState, ToolBy, Trigger, TurnEvent, Usage};

use super::{Decision, Effect};
use crate::{
    BackgroundCall, CommandEnd, OpenApproval, OpenCall, PeerLetter, Pod, Step, ToolOutcome,
    state::{BlockKind, OpenBlock},
};

/// The percentage of the model's context above which it is compacted before the next request.
const CONTEXT_PERCENT_MAX: u64 = 80;

/// The name of a call of which only arguments arrived, in journals that do not name it.
const UNNAMED: &str = "unknown";
/// The argument that holds the text of incomplete arguments.
const INTERRUPTED: &str = "interrupted";

/// A decision in the making. Each event is folded in at once, so that the following code sees the state after it.
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

    /// An event that belongs to no run, even if one is in progress.
    pub(super) fn outside(&mut self, event: impl Into<Event>) {
        self.event(event);
        if let Some(step) = self.decision.steps.last_mut() {
            step.run_id = None;
        }
    }

    /// Begins a run and records its state even if that has not changed, because the record marks the end of the run's
    /// beginning.
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

    /// Asks the model; first makes room if its context is nearly full or known to be too long.
    pub(crate) fn ask_model(&mut self) {
        let Usage { context_used, context_limit, .. } = self.pod.usage;
        let is_nearly_full = context_limit > 0 && context_used * 100 >= context_limit * CONTEXT_PERCENT_MAX;
        // An agent manages its context itself.
        match (is_nearly_full || self.pod.fits.is_some()) && self.pod.session.is_none() {
            true => self.effect(Effect::Summarise),
            false => self.call_model(),
        }
    }

    /// Asks the model with everything in the context, which marks the unread messages as read.
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
            _ => self.event(TurnEvent::ReasoningFinished { block, text, interrupted, proof: None }),
        }
    }

    /// Closes what the model was saying or calling when it was interrupted.
    pub(crate) fn close_answer(&mut self) {
        self.close_speech(true);
        self.close_arguments("cancelled");
    }

    /// Turns incomplete arguments into calls with results, so that they are kept and the model is told. All calls come
    /// before the first result, because they belong to one answer.
    pub(crate) fn close_arguments(&mut self, code: &str) {
        let begun = self.pod.open_blocks.iter().filter(|open| matches!(open.kind, BlockKind::ToolArgs(_))).cloned();
        let mut call_ids = Vec::new();
        for OpenBlock { id: block, name, text, .. } in begun.collect::<Vec<_>>() {
            let call_id = format!("call-{block}");
            let name = name.unwrap_or_else(|| UNNAMED.to_owned());
            call_ids.push(call_id.clone());
            // A model can only be sent objects; the incomplete text is kept as it was.
            let arguments = serde_json::json!({ INTERRUPTED: text });
            self.event(TurnEvent::ToolCalled {
                call_id,
                block,
                name,
                arguments,
                by: ToolBy::Model,
                agent_call_id: None,
            });
        }
        for call_id in call_ids {
            let sentence = "not run: the call was interrupted while its arguments were being written";
            self.finish_call(&call_id, ToolOutcome::failed(code, sentence));
        }
    }

    pub(crate) fn finish_call(&mut self, call_id: &str, outcome: ToolOutcome) {
        let of_model = self.pod.calls.iter().find(|call| call.call_id == call_id).map(|call| (call, ToolBy::Model));
        let of_operator =
            || self.pod.operator_calls.iter().find(|call| call.call_id == call_id).map(|call| (call, beside(call)));
        let Some((call, by)) = of_model.or_else(of_operator) else { return };
        let call = call.clone();
        if let Some(id) = call.wanted() {
            self.effect(Effect::Reply { id: id.to_owned(), outcome: outcome.clone() });
        }
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
            blobs: outcome.blobs,
        };
        match by {
            ToolBy::Model => self.event(event),
            ToolBy::Operator | ToolBy::Agent => self.outside(event),
        }
        if let Some(tasks) = outcome.tasks {
            let entries = serde_json::to_value(tasks).expect("a list of tasks encodes");
            self.outside(ControlEvent::PlanUpdated { entries });
        }
        self.void_asked(call_id, by);
    }

    /// Records how a background command ended, unless that is recorded.
    pub(crate) fn end_command(&mut self, end: CommandEnd) {
        let CommandEnd { call_id, detail, exit_code, output } = end;
        let Some(known) = self.pod.background.iter().find(|known| known.call_id == call_id) else { return };
        let BackgroundCall { command, by, .. } = known.clone();
        self.outside(TurnEvent::CommandEnded { call_id, command, by, detail, exit_code, output });
    }

    /// Withdraws the approvals of a call that has ended: those for network access, and the one for an agent's call
    /// itself.
    fn void_asked(&mut self, call_id: &str, by: ToolBy) {
        let is_its =
            |open: &&OpenApproval| open.asker() == Some(call_id) || (by == ToolBy::Agent && open.call_id == call_id);
        for open in self.pod.approvals.iter().filter(is_its).cloned().collect::<Vec<_>>() {
            if let Some((_, ask)) = open.agents_ask() {
                self.effect(Effect::AnswerAgent { ask: ask.to_owned(), option: None });
            }
            let event = withdrawn(open, "the command ended");
            match by {
                ToolBy::Model => self.event(event),
                ToolBy::Operator | ToolBy::Agent => self.outside(event),
            }
        }
    }

    /// Resumes the run if it is no longer waiting for anything.
    pub(super) fn wait_no_more(&mut self) {
        if self.pod.state == PodState::Waiting && !self.pod.is_asking() {
            self.status(PodState::Running, None);
        }
    }

    /// Ends a call from outside; the output so far becomes its result.
    pub(super) fn interrupt_call(&mut self, call: &OpenCall, code: &str, summary: &str) {
        let is_its = |open: &&OpenBlock| open.id == call.block && open.kind == BlockKind::ToolOutput;
        let written = self.pod.open_blocks.iter().find(is_its).map(|open| open.text.clone());
        let summary = match written {
            Some(_) => format!("{summary}; what it wrote until then is kept"),
            None => summary.to_owned(),
        };
        let failed = ToolOutcome::failed(code, summary);
        self.finish_call(&call.call_id, ToolOutcome { content: written, duration_ms: call.ran_ms(), ..failed });
    }

    /// Gives every open call a result, because a model must never be sent a call without one.
    pub(crate) fn close_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.calls.clone() {
            self.interrupt_call(&call, code, summary);
        }
    }

    /// Gives the running calls a result, and leaves those that wait for an approval.
    pub(crate) fn close_started_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.calls.clone() {
            let is_asked = self.pod.approvals.iter().any(|open| open.call_id == call.call_id);
            if !is_asked {
                self.interrupt_call(&call, code, summary);
            }
        }
    }

    /// Gives the agent's calls that wait for an approval a result.
    pub(super) fn close_asked_agent_calls(&mut self, code: &str, summary: &str) {
        let is_asked = |call: &&OpenCall| self.pod.approvals.iter().any(|open| open.call_id == call.call_id);
        let asked = self.pod.operator_calls.iter().filter(|call| call.is_agents).filter(is_asked);
        for call in asked.cloned().collect::<Vec<_>>() {
            self.finish_call(&call.call_id, ToolOutcome::failed(code, summary));
        }
    }

    /// Gives every open call of a person or an agent a result.
    pub(crate) fn close_operator_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.operator_calls.clone() {
            self.interrupt_call(&call, code, summary);
        }
    }

    /// Withdraws the approvals that the run has asked for.
    pub(crate) fn void_approvals(&mut self, reason: &str) {
        for open in self.pod.approvals.clone() {
            if !self.pod.is_of_operator(&open) {
                self.event(withdrawn(open, reason));
            }
        }
    }

    pub(crate) fn finish_run(&mut self, outcome: Outcome, failure: Option<(String, String)>) {
        let usage = self.pod.run.as_ref().map(|run| run.usage).unwrap_or_default();
        let (code, detail) = failure.unzip();
        self.event(ControlEvent::RunFinished { outcome, code, detail, usage });
    }
}

/// Who made a call that belongs to no run.
fn beside(call: &OpenCall) -> ToolBy {
    if call.is_agents { ToolBy::Agent } else { ToolBy::Operator }
}

fn withdrawn(open: OpenApproval, reason: &str) -> ControlEvent {
    ControlEvent::ApprovalAnswered {
        id: open.id,
        tool: open.tool,
        arguments: open.arguments,
        decision: None,
        option: None,
        by: None,
        reason: Some(reason.to_owned()),
    }
}
