//! People's commands for a run: begin, pause, resume, end.

use protocol::{Blobs, CommandId, Outcome, PodState, Segment, Trigger, TurnEvent};

use super::{Effect, Refusal, calls::run_allowed, draft::Draft, summary::stop_compacting};

/// A person's message.
pub(super) struct Message {
    pub(super) segments: Vec<Segment>,
    pub(super) by: String,
    pub(super) blobs: Blobs,
}

impl Message {
    fn by_command(self, command_id: CommandId) -> TurnEvent {
        let Self { segments, by, blobs } = self;
        TurnEvent::UserMessage { segments, command_id, by, blobs }
    }
}

pub(super) fn submit(draft: &mut Draft, command_id: CommandId, said: Message) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle => (),
        PodState::Paused => {
            draft.void_approvals("a new message took its place");
            draft.close_calls("cancelled", "not finished: a new message took its place");
        }
        PodState::Running | PodState::Waiting => return Err(Refusal::Busy),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    let message = said.by_command(command_id.clone());
    draft.begin(Trigger::Input, Some(command_id), [message.into()]);
    draft.ask_model();
    Ok(())
}

/// A message during a run, at a point where one may stand: between the last result and the next answer.
pub(super) fn steer(draft: &mut Draft, command_id: CommandId, said: Message) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    if !draft.pod.is_answering() || draft.pod.model_block().is_some() || !draft.pod.calls.is_empty() {
        return Err(Refusal::Busy);
    }
    draft.event(said.by_command(command_id));
    Ok(())
}

pub(super) fn pause(draft: &mut Draft) -> Result<(), Refusal> {
    if stop_compacting(draft) {
        return Ok(());
    }
    match draft.pod.state {
        PodState::Running => {
            draft.close_answer();
            draft.close_calls("cancelled", "not finished: the run was paused");
        }
        // An agent's questions end with its turn.
        PodState::Waiting if draft.pod.has_agent() => {
            draft.close_answer();
            draft.void_approvals("the run was paused");
            draft.close_calls("cancelled", "not finished: the run was paused");
        }
        // Open approvals stay: they can be answered while the Pod is paused.
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

pub(super) fn resume(draft: &mut Draft, trigger: Trigger, command_id: Option<CommandId>) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Paused => (),
        PodState::Idle | PodState::Running | PodState::Waiting => return Err(Refusal::NotPaused),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.begin(trigger, command_id, []);
    run_allowed(draft);
    if draft.pod.is_asking() {
        draft.status(PodState::Waiting, None);
    } else if draft.pod.calls.is_empty() {
        draft.ask_model();
    }
    Ok(())
}

pub(super) fn cancel(draft: &mut Draft) -> Result<(), Refusal> {
    if stop_compacting(draft) {
        return Ok(());
    }
    match draft.pod.state {
        PodState::Running | PodState::Waiting => {
            draft.effect(Effect::Abort);
            draft.close_answer();
        }
        PodState::Paused => (),
        PodState::Idle => return Err(Refusal::NotRunning),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.void_approvals("the run was cancelled");
    draft.close_asked_agent_calls("cancelled", "not run: the run was cancelled");
    draft.close_calls("cancelled", "not finished: the run was cancelled");
    draft.finish_run(Outcome::Cancelled, None);
    draft.status(PodState::Idle, None);
    Ok(())
}

pub(super) fn stop(draft: &mut Draft) {
    stop_compacting(draft);
    if !draft.pod.operator_calls.is_empty() {
        draft.effect(Effect::AbortOperatorCalls);
        draft.close_operator_calls("cancelled", "not finished: the Pod was stopped");
    }
    match draft.pod.state {
        PodState::Running | PodState::Waiting => {
            draft.effect(Effect::Abort);
            draft.close_answer();
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
    // Last, because it waits. How they ended is recorded once they have.
    draft.effect(Effect::EndCommands);
    draft.status(PodState::Stopped, None);
}

pub(super) fn restore(draft: &mut Draft) {
    if draft.pod.state == PodState::Stopped {
        match draft.pod.resumable {
            true => draft.status(PodState::Paused, None),
            false => draft.status(PodState::Idle, None),
        }
    }
}
