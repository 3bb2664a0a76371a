//! What follows from an input: events to commit, and effects to carry out once they are.

use protocol::{
    AlertLevel, CommandId, ControlEvent, ErrorCode, Event, Outcome, PermissionDecision, PodState, ReceiptState,
    Segment, Seq, ToolBy, Trigger, TurnEvent, Usage,
};

use crate::{
    Input, ModelPiece, PeerLetter, Pod, PodSpec, Step, Summary, ToolOutcome, model::answer_piece, permission,
    state::BlockKind,
};

/// Percent of the model's context that may be used before it is compacted, ahead of the next question to the model.
const CONTEXT_PERCENT_MAX: u64 = 80;

/// What is to be committed and then done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    pub steps: Vec<Step>,
    /// Carried out only after the steps are on the disk (I2).
    pub effects: Vec<Effect>,
}

/// Something that the world has to do for a Pod.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model with the context as it stands.
    CallModel,
    /// Ask the model for a summary of the context, but for the newest part of it.
    Summarise,
    /// Drop the model's stream and every tool that it runs.
    Abort,
    /// Drop every tool that a person runs.
    AbortOperatorCalls,
    RunTool {
        call_id: String,
        name: String,
        arguments: serde_json::Value,
        by: ToolBy,
    },
}

/// Why a command changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("is running; send with `queue`, or wait until it is idle")]
    Busy,
    #[error("is not running")]
    NotRunning,
    #[error("is not paused")]
    NotPaused,
    #[error("is stopped; restore it first")]
    NotLive,
    #[error("has no such open question; it has been answered already, or is void")]
    AlreadyAnswered,
    #[error("has moved on since you looked; look again and decide anew")]
    HeadMoved,
    #[error("has no such record; `to_seq` is one of its records")]
    OutsideLog,
}

impl Refusal {
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Busy => ErrorCode::Busy,
            Self::NotRunning => ErrorCode::NotRunning,
            Self::NotPaused => ErrorCode::NotPaused,
            Self::NotLive => ErrorCode::NotLive,
            Self::AlreadyAnswered => ErrorCode::AlreadyAnswered,
            Self::HeadMoved => ErrorCode::HeadMoved,
            Self::OutsideLog => ErrorCode::InvalidInput,
        }
    }
}

/// What follows from `input` in this state. A piece of a run that is over is ignored.
pub fn decide(pod: &Pod, spec: &PodSpec, input: Input) -> Result<Decision, Refusal> {
    if let Some(step) = growth(pod, &input) {
        return Ok(Decision { steps: vec![step], effects: Vec::new() });
    }
    let mut draft = Draft::new(pod);
    match input {
        Input::Submit { command_id, segments, by } => submit(&mut draft, command_id, segments, by)?,
        Input::Pause => pause(&mut draft)?,
        Input::Resume { command_id } => resume(&mut draft, command_id)?,
        Input::Cancel => cancel(&mut draft)?,
        Input::Stop => stop(&mut draft),
        Input::Restore => restore(&mut draft),
        Input::Compact => compact(&mut draft)?,
        Input::Summarised(summary) => summarised(&mut draft, summary),
        Input::Rewind { to_seq, expected_head, context_used } => {
            rewind(&mut draft, to_seq, expected_head, context_used)?;
        }
        Input::Mail { events, wakes } => mail(&mut draft, events, wakes)?,
        Input::Note(events) => events.into_iter().for_each(|event| draft.outside(event)),
        Input::OperatorCall { name, arguments } => operator_call(&mut draft, spec, name, arguments)?,
        Input::Model(piece) if pod.is_answering() => answer_piece(&mut draft, spec, piece),
        Input::ToolOutput { call_id, text } => tool_output(&mut draft, &call_id, text),
        Input::ToolFinished { call_id, outcome } => tool_finished(&mut draft, &call_id, outcome),
        Input::Answer { id, decision, by, reason } => answer(&mut draft, id, decision, by, reason)?,
        Input::Model(_) => (),
    }
    Ok(draft.done())
}

/// One more chunk of the block that grows: the common case, and the one that must not cost a copy of the state.
fn growth(pod: &Pod, input: &Input) -> Option<Step> {
    let Input::Model(piece) = input else { return None };
    let open = pod.model_block().filter(|_| pod.is_answering())?;
    let block = || open.id.clone();
    let event = match (piece, open.kind) {
        (ModelPiece::Text(text), BlockKind::Text) => TurnEvent::TextChunk { block: block(), text: text.clone() },
        (ModelPiece::Reasoning(text), BlockKind::Reasoning) => {
            TurnEvent::ReasoningChunk { block: block(), text: text.clone() }
        }
        (ModelPiece::ToolArgs { index, text }, BlockKind::ToolArgs(open)) if *index == open => {
            TurnEvent::ToolArgsChunk { block: block(), text: text.clone() }
        }
        _ => return None,
    };
    Some(Step { run_id: pod.run_id(), event: event.into() })
}

/// A decision in the making. It folds each event at once, so that the next line sees the state after it.
pub(crate) struct Draft {
    pub(crate) pod: Pod,
    decision: Decision,
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
    fn outside(&mut self, event: impl Into<Event>) {
        self.event(event);
        if let Some(step) = self.decision.steps.last_mut() {
            step.run_id = None;
        }
    }

    /// The state of a run that begins: told even if it is no news, because it ends the run's beginning.
    fn begin(&mut self, trigger: Trigger, command_id: Option<CommandId>, events: impl IntoIterator<Item = Event>) {
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
    fn call_model(&mut self) {
        let turn = Some(self.pod.runs);
        for letter in self.pod.unread_messages.clone() {
            let PeerLetter { message_id, from: peer, .. } = letter;
            self.event(ControlEvent::MessageReceipt { message_id, peer, state: ReceiptState::Read, turn });
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

    fn void_approvals(&mut self, reason: &str) {
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

fn submit(draft: &mut Draft, command_id: CommandId, segments: Vec<Segment>, by: String) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle => (),
        PodState::Paused => {
            draft.void_approvals("a new message took its place");
            draft.close_calls("cancelled", "not finished: a new message took its place");
        }
        PodState::Running | PodState::Waiting => return Err(Refusal::Busy),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    let message = TurnEvent::UserMessage { segments, command_id: command_id.clone(), by };
    draft.begin(Trigger::Input, Some(command_id), [message.into()]);
    draft.ask_model();
    Ok(())
}

fn pause(draft: &mut Draft) -> Result<(), Refusal> {
    if stop_compacting(draft) {
        return Ok(());
    }
    match draft.pod.state {
        PodState::Running => {
            draft.close_speech(true);
            draft.close_calls("cancelled", "not finished: the run was paused");
        }
        // The question stays: an answer is taken while the Pod is paused.
        PodState::Waiting => draft.close_started_calls("cancelled", "not finished: the run was paused"),
        PodState::Paused => return Ok(()),
        PodState::Idle => return Err(Refusal::NotRunning),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.effect(Effect::Abort);
    draft.finish_run(Outcome::Paused, None);
    draft.status(PodState::Paused, None);
    Ok(())
}

fn resume(draft: &mut Draft, command_id: Option<CommandId>) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Paused => (),
        PodState::Idle | PodState::Running | PodState::Waiting => return Err(Refusal::NotPaused),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.begin(Trigger::Resume, command_id, []);
    run_allowed(draft);
    if !draft.pod.approvals.is_empty() {
        draft.status(PodState::Waiting, None);
    } else if draft.pod.calls.is_empty() {
        draft.ask_model();
    }
    Ok(())
}

/// Runs the calls that a person allowed while the Pod was paused.
fn run_allowed(draft: &mut Draft) {
    for call in draft.pod.calls.clone().into_iter().filter(|call| call.is_allowed) {
        draft.effect(Effect::RunTool {
            call_id: call.call_id,
            name: call.name,
            arguments: call.arguments,
            by: ToolBy::Model,
        });
    }
}

fn cancel(draft: &mut Draft) -> Result<(), Refusal> {
    if stop_compacting(draft) {
        return Ok(());
    }
    match draft.pod.state {
        PodState::Running | PodState::Waiting => {
            draft.effect(Effect::Abort);
            draft.close_speech(true);
        }
        PodState::Paused => (),
        PodState::Idle => return Err(Refusal::NotRunning),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.void_approvals("the run was cancelled");
    draft.close_calls("cancelled", "not finished: the run was cancelled");
    draft.finish_run(Outcome::Cancelled, None);
    draft.status(PodState::Idle, None);
    Ok(())
}

fn stop(draft: &mut Draft) {
    stop_compacting(draft);
    if !draft.pod.operator_calls.is_empty() {
        draft.effect(Effect::AbortOperatorCalls);
        draft.close_operator_calls("cancelled", "not finished: the Pod was stopped");
    }
    match draft.pod.state {
        PodState::Running | PodState::Waiting => {
            draft.effect(Effect::Abort);
            draft.close_speech(true);
            draft.void_approvals("the Pod was stopped");
            draft.close_calls("cancelled", "not finished: the Pod was stopped");
            draft.finish_run(Outcome::Interrupted, None);
        }
        PodState::Paused => {
            draft.void_approvals("the Pod was stopped");
            draft.close_calls("cancelled", "not finished: the Pod was stopped");
        }
        PodState::Idle => (),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return,
    }
    draft.status(PodState::Stopped, None);
}

/// Gives up a summary that is being made outside of a run. False when there is none.
fn stop_compacting(draft: &mut Draft) -> bool {
    let Some(before) = draft.pod.compacting_from else { return false };
    draft.effect(Effect::Abort);
    draft.status(before, None);
    true
}

fn compact(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle | PodState::Paused => (),
        PodState::Running | PodState::Waiting => return Err(Refusal::Busy),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.status(PodState::Running, Some("compacting its context"));
    draft.effect(Effect::Summarise);
    Ok(())
}

/// The summary takes its place, or the failure is told; then the Pod goes on where it was.
fn summarised(draft: &mut Draft, summary: Result<Summary, String>) {
    if draft.pod.state != PodState::Running {
        return;
    }
    match summary {
        Ok(Summary { text, kept_from_seq, usage }) => {
            draft.event(TurnEvent::Compacted { summary: text, kept_from_seq });
            draft.event(ControlEvent::Usage { usage });
        }
        Err(detail) => draft.event(ControlEvent::Alert {
            level: AlertLevel::Warn,
            source: "compaction".to_owned(),
            text: format!("the context could not be compacted: {detail}"),
        }),
    }
    match draft.pod.compacting_from {
        Some(before) => draft.status(before, None),
        None => draft.call_model(),
    }
}

/// Takes the records after `to_seq` out of the context. They stay in the journal.
fn rewind(draft: &mut Draft, to_seq: Seq, expected_head: Seq, context_used: u64) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle | PodState::Paused => (),
        PodState::Running | PodState::Waiting => return Err(Refusal::Busy),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    if expected_head != draft.pod.head {
        return Err(Refusal::HeadMoved);
    }
    if to_seq < Seq(1) || to_seq > draft.pod.head {
        return Err(Refusal::OutsideLog);
    }
    draft.void_approvals("the conversation was rewound");
    draft.close_calls("cancelled", "not finished: the conversation was rewound");
    let context_limit = draft.pod.usage.context_limit;
    draft.event(TurnEvent::Rewound { to_seq });
    draft.event(ControlEvent::Usage { usage: Usage { context_used, context_limit, ..Usage::default() } });
    draft.status(PodState::Idle, None);
    Ok(())
}

/// What others have to tell. It is in the journal at once; an idle Pod may begin a run for it, a working one's model
/// reads it when it is asked next.
fn mail(draft: &mut Draft, events: Vec<TurnEvent>, wakes: bool) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    let is_peer = |event: &TurnEvent| matches!(event, TurnEvent::PeerMessage { .. });
    let has_events = !events.is_empty();
    let trigger = if events.iter().any(is_peer) { Trigger::Peer } else { Trigger::Child };
    let events = events.into_iter().flat_map(with_receipt);
    if draft.pod.state == PodState::Idle && wakes && has_events {
        draft.begin(trigger, None, events);
        draft.ask_model();
    } else {
        events.for_each(|event| draft.outside(event));
    }
    Ok(())
}

/// A message of a peer is stored here with its record: that is what its receipt says.
fn with_receipt(event: TurnEvent) -> Vec<Event> {
    let receipt = match &event {
        TurnEvent::PeerMessage { message_id, from, .. } => Some(ControlEvent::MessageReceipt {
            message_id: message_id.clone(),
            peer: from.clone(),
            state: ReceiptState::Stored,
            turn: None,
        }),
        _ => None,
    };
    std::iter::once(event.into()).chain(receipt.map(Event::from)).collect()
}

/// A person's call is the answer to `ask`; a rule that denies holds for a person, too, until it is changed.
fn operator_call(draft: &mut Draft, spec: &PodSpec, name: String, arguments: serde_json::Value) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    let block = draft.next_block();
    let call_id = format!("call-{block}");
    draft.outside(TurnEvent::ToolCalled {
        call_id: call_id.clone(),
        block,
        name: name.clone(),
        arguments: arguments.clone(),
        by: ToolBy::Operator,
    });
    if !spec.offers(&name) {
        let sentence = format!("the profile of this Pod does not offer {name}");
        draft.finish_call(&call_id, ToolOutcome::failed("permission_denied", sentence));
    } else if permission(spec, &name, &arguments) == PermissionDecision::Deny {
        let sentence = format!("a rule of this Pod denies {name}");
        draft.finish_call(&call_id, ToolOutcome::failed("permission_denied", sentence));
    } else {
        draft.effect(Effect::RunTool { call_id, name, arguments, by: ToolBy::Operator });
    }
    Ok(())
}

fn restore(draft: &mut Draft) {
    if draft.pod.state == PodState::Stopped {
        match draft.pod.resumable {
            true => draft.status(PodState::Paused, None),
            false => draft.status(PodState::Idle, None),
        }
    }
}

fn tool_output(draft: &mut Draft, call_id: &str, text: String) {
    let of =
        |calls: &[crate::OpenCall]| calls.iter().find(|call| call.call_id == call_id).map(|call| call.block.clone());
    if let Some(block) = of(&draft.pod.calls) {
        draft.event(TurnEvent::ToolOutputChunk { block, text });
    } else if let Some(block) = of(&draft.pod.operator_calls) {
        draft.outside(TurnEvent::ToolOutputChunk { block, text });
    }
}

fn tool_finished(draft: &mut Draft, call_id: &str, outcome: ToolOutcome) {
    let is_models = draft.pod.calls.iter().any(|call| call.call_id == call_id);
    draft.finish_call(call_id, outcome);
    if is_models {
        go_on_after_calls(draft);
    }
}

/// Asks the model again once every call of its answer has a result.
pub(crate) fn go_on_after_calls(draft: &mut Draft) {
    if draft.pod.is_answering() && draft.pod.calls.is_empty() {
        draft.ask_model();
    }
}

/// Ends a run whose answer is whole. What came in meanwhile is read in a run of its own, at once; an answer of nothing
/// at all takes the message back, unless something came in behind it that would go with it.
pub(crate) fn complete(draft: &mut Draft) {
    let empty_input = draft.pod.run.as_ref().and_then(|run| {
        let is_empty = run.trigger == Trigger::Input && run.blocks_before == draft.pod.blocks;
        run.input_seq.filter(|_| is_empty && draft.pod.unread_mail.is_none())
    });
    if let Some(input_seq) = empty_input {
        draft.event(TurnEvent::Rewound { to_seq: Seq(input_seq.0 - 1) });
        let detail = "the model answered nothing; the message was taken back".to_owned();
        draft.finish_run(Outcome::RolledBack, Some(("empty".to_owned(), detail)));
        draft.status(PodState::Idle, None);
        return;
    }
    draft.finish_run(Outcome::Completed, None);
    let turn = Some(draft.pod.runs);
    for letter in draft.pod.read_messages.clone() {
        let PeerLetter { message_id, from: peer, .. } = letter;
        draft.event(ControlEvent::MessageReceipt { message_id, peer, state: ReceiptState::Answered, turn });
    }
    match draft.pod.unread_mail {
        Some(trigger) => {
            draft.begin(trigger, None, []);
            draft.ask_model();
        }
        None => draft.status(PodState::Idle, None),
    }
}

/// Runs what is allowed, asks for what must be asked, answers what is denied.
pub(crate) fn start_calls(draft: &mut Draft, spec: &PodSpec) {
    for call in draft.pod.calls.clone() {
        match permission(spec, &call.name, &call.arguments) {
            PermissionDecision::Allow => draft.effect(Effect::RunTool {
                call_id: call.call_id,
                name: call.name,
                arguments: call.arguments,
                by: ToolBy::Model,
            }),
            PermissionDecision::Ask => draft.event(ControlEvent::ApprovalAsked {
                id: call.call_id,
                tool: call.name,
                arguments: call.arguments,
            }),
            PermissionDecision::Deny => {
                let sentence = format!("a rule of this Pod denies {}", call.name);
                draft.finish_call(&call.call_id, ToolOutcome::failed("permission_denied", sentence));
            }
        }
    }
    match draft.pod.approvals.is_empty() {
        true => go_on_after_calls(draft),
        false => draft.status(PodState::Waiting, None),
    }
}

fn answer(
    draft: &mut Draft,
    id: String,
    decision: protocol::Decision,
    by: String,
    reason: Option<String>,
) -> Result<(), Refusal> {
    let open = draft.pod.approvals.iter().find(|open| open.id == id).cloned().ok_or(Refusal::AlreadyAnswered)?;
    let denied = format!("a person denied it{}", reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default());
    draft.event(ControlEvent::ApprovalAnswered {
        id: open.id,
        tool: open.tool.clone(),
        arguments: open.arguments.clone(),
        decision: Some(decision),
        by: Some(by),
        reason,
    });
    let is_paused = draft.pod.is_paused();
    match decision {
        protocol::Decision::Deny => {
            draft.finish_call(&open.call_id, ToolOutcome::failed("permission_denied", denied));
        }
        protocol::Decision::Allow if is_paused => (),
        protocol::Decision::Allow => draft.effect(Effect::RunTool {
            call_id: open.call_id,
            name: open.tool,
            arguments: open.arguments,
            by: ToolBy::Model,
        }),
    }
    if !is_paused && draft.pod.approvals.is_empty() {
        draft.status(PodState::Running, None);
        go_on_after_calls(draft);
    }
    Ok(())
}
