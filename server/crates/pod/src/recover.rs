//! What a restart has to add to a journal that a crash left open.

use protocol::{Outcome, PodState, Timestamp};

use crate::{Decision, Pod, decide::Draft};

/// Closes what a crash left open: the block with the text it has, the calls as unknown, the run as interrupted; the
/// Pod is then paused. A Pod that waits for an answer waits again, but for the calls that ran beside the question. A
/// summary that was being made is given up. Nothing for a Pod that was at rest. `seen` gives the last moment at which a call is
/// known to have run from elsewhere than the journal; one that wrote later ran until then.
pub fn recover(pod: &Pod, seen: impl Fn(&str) -> Option<Timestamp>) -> Decision {
    let mut pod = pod.clone();
    for call in pod.calls.iter_mut().chain(&mut pod.operator_calls) {
        call.wrote_at = call.wrote_at.max(seen(&call.call_id));
    }
    let mut draft = Draft::new(&pod);
    draft.close_operator_calls("unknown", UNKNOWN);
    if let Some(before) = pod.compacting_from {
        draft.status(before, None);
    } else if pod.run.is_some() && pod.state == PodState::Waiting && pod.session.is_none() && waits_to_begin(&pod) {
        draft.close_started_calls("unknown", UNKNOWN);
    } else if pod.run.is_some() {
        draft.close_answer();
        if pod.session.is_some() {
            draft.void_approvals("yoi was restarted, and the agent with it");
        }
        draft.close_calls("unknown", UNKNOWN);
        draft.finish_run(Outcome::Interrupted, None);
        draft.status(PodState::Paused, Some("interrupted when yoi stopped; resume it, or send a message"));
    }
    draft.done()
}

/// A call waits for a person that has not begun. What asks in the midst of running is over.
fn waits_to_begin(pod: &Pod) -> bool {
    pod.approvals.iter().any(|open| open.asker().is_none())
}

const UNKNOWN: &str = "yoi was restarted while this ran; whether it took effect is not known";
