//! What follows from an input: events to commit, and effects to carry out once they are.

use protocol::{
    CommandId, ControlEvent, ErrorCode, Event, Outcome, PermissionDecision, PodState, Segment, ToolBy, Trigger,
    TurnEvent,
};

use crate::{Input, ModelPiece, Pod, PodSpec, Step, ToolOutcome, model::answer_piece, permission, state::BlockKind};

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
    /// Drop the model's stream and every running tool.
    Abort,
    RunTool {
        call_id: String,
        name: String,
        arguments: serde_json::Value,
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
    #[error("has been answered already")]
    AlreadyAnswered,
}

impl Refusal {
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Busy => ErrorCode::Busy,
            Self::NotRunning => ErrorCode::NotRunning,
            Self::NotPaused => ErrorCode::NotPaused,
            Self::NotLive => ErrorCode::NotLive,
            Self::AlreadyAnswered => ErrorCode::AlreadyAnswered,
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
        Input::Model(piece) if pod.state == PodState::Running => answer_piece(&mut draft, spec, piece),
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
    let open = pod.open_blocks.last().filter(|_| pod.state == PodState::Running)?;
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
        let Some(call) = self.pod.calls.iter().find(|call| call.call_id == call_id).cloned() else { return };
        self.event(TurnEvent::ToolFinished {
            call_id: call.call_id,
            block: call.block,
            summary: outcome.summary,
            content: outcome.content,
            is_error: outcome.is_error,
            code: outcome.code,
            diff: outcome.diff,
            duration_ms: outcome.duration_ms,
            by: ToolBy::Model,
        });
    }

    /// Gives every open call a result, so that no model is ever sent a call without one.
    pub(crate) fn close_calls(&mut self, code: &str, summary: &str) {
        for call in self.pod.calls.clone() {
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
    draft.event(ControlEvent::RunStarted { trigger: Trigger::Input, command_id: Some(command_id.clone()) });
    draft.event(TurnEvent::UserMessage { segments, command_id, by });
    draft.status(PodState::Running, None);
    draft.effect(Effect::CallModel);
    Ok(())
}

fn pause(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Running => {
            draft.close_speech(true);
            draft.close_calls("cancelled", "not finished: the run was paused");
        }
        // The question stays: an answer is taken while the Pod is paused.
        PodState::Waiting => (),
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
    draft.event(ControlEvent::RunStarted { trigger: Trigger::Resume, command_id });
    match (draft.pod.approvals.is_empty(), draft.pod.calls.is_empty()) {
        (false, _) => draft.status(PodState::Waiting, None),
        // Answered while it was paused.
        (true, false) => {
            draft.status(PodState::Running, None);
            run_calls(draft);
        }
        (true, true) => {
            draft.status(PodState::Running, None);
            draft.effect(Effect::CallModel);
        }
    }
    Ok(())
}

fn cancel(draft: &mut Draft) -> Result<(), Refusal> {
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
    match draft.pod.state {
        PodState::Running | PodState::Waiting => {
            draft.effect(Effect::Abort);
            draft.close_speech(true);
            draft.void_approvals("the Pod was stopped");
            draft.close_calls("cancelled", "not finished: the Pod was stopped");
            draft.finish_run(Outcome::Interrupted, None);
        }
        PodState::Paused => draft.void_approvals("the Pod was stopped"),
        PodState::Idle => (),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return,
    }
    draft.status(PodState::Stopped, None);
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
    if let Some(call) = draft.pod.calls.iter().find(|call| call.call_id == call_id) {
        let block = call.block.clone();
        draft.event(TurnEvent::ToolOutputChunk { block, text });
    }
}

fn tool_finished(draft: &mut Draft, call_id: &str, outcome: ToolOutcome) {
    draft.finish_call(call_id, outcome);
    go_on_after_calls(draft);
}

/// Asks the model again once every call of its answer has a result.
pub(crate) fn go_on_after_calls(draft: &mut Draft) {
    if draft.pod.state == PodState::Running && draft.pod.calls.is_empty() {
        draft.effect(Effect::CallModel);
    }
}

/// Runs what is allowed, asks for what must be asked, answers what is denied.
pub(crate) fn start_calls(draft: &mut Draft, spec: &PodSpec) {
    for call in draft.pod.calls.clone() {
        match permission(spec, &call.name, &call.arguments) {
            PermissionDecision::Allow => {
                draft.effect(Effect::RunTool { call_id: call.call_id, name: call.name, arguments: call.arguments })
            }
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

fn run_calls(draft: &mut Draft) {
    for call in draft.pod.calls.clone() {
        draft.effect(Effect::RunTool { call_id: call.call_id, name: call.name, arguments: call.arguments });
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
    let is_paused = draft.pod.state == PodState::Paused;
    match decision {
        protocol::Decision::Deny => {
            draft.finish_call(&open.call_id, ToolOutcome::failed("permission_denied", denied));
        }
        protocol::Decision::Allow if is_paused => (),
        protocol::Decision::Allow => {
            draft.effect(Effect::RunTool { call_id: open.call_id, name: open.tool, arguments: open.arguments })
        }
    }
    if !is_paused && draft.pod.approvals.is_empty() {
        draft.status(PodState::Running, None);
        go_on_after_calls(draft);
    }
    Ok(())
}
