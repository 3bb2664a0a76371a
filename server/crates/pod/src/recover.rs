//! What a restart has to add to a journal that a crash left open.

use protocol::{Outcome, PodState};

use crate::{Decision, Pod, decide::Draft};

/// Closes what a crash left open: the block with the text it has, the calls as unknown, the run as interrupted; the
/// Pod is then paused. A Pod that waits for an answer waits again. Nothing for a Pod without an open run.
pub fn recover(pod: &Pod) -> Decision {
    let mut draft = Draft::new(pod);
    if pod.run.is_some() && pod.state != PodState::Waiting {
        draft.close_speech(true);
        draft.close_calls("unknown", "yoi was restarted while this ran; whether it took effect is not known");
        draft.finish_run(Outcome::Interrupted, None);
        draft.status(PodState::Paused, Some("interrupted when yoi stopped; resume it, or send a message"));
    }
    draft.done()
}
