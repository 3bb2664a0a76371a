//! What a restart has to add to a journal that a crash left open.

use protocol::{Outcome, PodState};

use crate::{Decision, Pod, decide::Draft};

/// Closes what a crash left open: the block with the text it has, the calls as unknown, the run as interrupted; the
/// Pod is then paused. A Pod that waits for an answer waits again, but for the calls that ran beside the question. A
/// summary that was being made is given up. Nothing for a Pod that was at rest.
pub fn recover(pod: &Pod) -> Decision {
    let mut draft = Draft::new(pod);
    draft.close_operator_calls("unknown", UNKNOWN);
    if let Some(before) = pod.compacting_from {
        draft.status(before, None);
    } else if pod.run.is_some() && pod.state == PodState::Waiting {
        draft.close_started_calls("unknown", UNKNOWN);
    } else if pod.run.is_some() {
        draft.close_answer();
        draft.close_calls("unknown", UNKNOWN);
        draft.finish_run(Outcome::Interrupted, None);
        draft.status(PodState::Paused, Some("interrupted when yoi stopped; resume it, or send a message"));
    }
    draft.done()
}

const UNKNOWN: &str = "yoi was restarted while this ran; whether it took effect is not known";
