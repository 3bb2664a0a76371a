//! What a restart has to add to a journal that a crash left open.

use protocol::{Outcome, PodState, Timestamp};

use crate::{CommandEnd, Decision, Pod, decide::Draft};

/// Closes what a crash left open: the open block with the text so far, the calls with an unknown result, the run as
/// interrupted; the Pod is then paused. A Pod that waited for an approval waits again, but calls that ran beside it are
/// closed. A summary in the making is dropped. Nothing happens for a Pod that was at rest. `seen` returns the last
/// moment at which a call is known to have run from a source other than the journal; the later of that and its last
/// output counts. `ended` returns how a background command ended, or `None` if it still runs.
pub fn recover(
    pod: &Pod,
    seen: impl Fn(&str) -> Option<Timestamp>,
    ended: impl Fn(&str) -> Option<CommandEnd>,
) -> Decision {
    let mut pod = pod.clone();
    for call in pod.calls.iter_mut().chain(&mut pod.operator_calls) {
        call.wrote_at = call.wrote_at.max(seen(&call.call_id));
    }
    let mut draft = Draft::new(&pod);
    draft.close_operator_calls("unknown", UNKNOWN);
    for end in pod.background.iter().filter_map(|command| ended(&command.call_id)) {
        draft.end_command(end);
    }
    if let Some(before) = pod.compacting_from {
        draft.status(before, None);
    } else if pod.run.is_some() && pod.state == PodState::Waiting && pod.session.is_none() && waits_to_begin(&pod) {
        draft.close_started_calls("unknown", UNKNOWN);
    } else if pod.run.is_some() {
        draft.close_answer();
        if pod.has_agent() {
            draft.void_approvals("yoi was restarted, and the agent with it");
        }
        draft.close_calls("unknown", UNKNOWN);
        draft.finish_run(Outcome::Interrupted, None);
        draft.status(PodState::Paused, Some("interrupted when yoi stopped; resume it, or send a message"));
    }
    draft.done()
}

/// True if a call waits for approval to begin. Approvals for network access of running calls are void.
fn waits_to_begin(pod: &Pod) -> bool {
    pod.approvals.iter().any(|open| open.asker().is_none())
}

const UNKNOWN: &str = "yoi was restarted while this ran; whether it took effect is not known";
