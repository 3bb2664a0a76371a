//! Asking the model again, without a new message.

use protocol::{CommandId, PodState, Seq, Trigger};

use super::{Refusal, draft::Draft, summary::take_back};

/// Asks the model again from the point at which it was last asked. An answer that was cut off is removed from the
/// context; calls that have a result stay, and so does everything that came in meanwhile.
pub(super) fn retry(draft: &mut Draft, command_id: CommandId, is_unanswered: bool) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle | PodState::Paused => (),
        PodState::Running | PodState::Waiting => return Err(Refusal::InARun),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    if !draft.pod.calls.is_empty() {
        return Err(Refusal::CallsWait);
    }
    match draft.pod.cut_answer {
        Some(first) => take_back(draft, Seq(first.0 - 1)),
        None if is_unanswered => (),
        None => return Err(Refusal::NothingToRetry),
    }
    draft.begin(Trigger::Retry, Some(command_id), []);
    draft.ask_model();
    Ok(())
}
