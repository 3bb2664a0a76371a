//! The one way to stop a run: at once, with the queued messages back in the composer.

use commands::allowed::refusal;
use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, ControlVerb, PodState, Segment};

use crate::{
    console::{Console, PodContext, Returned, fresh_command},
    server_fns::{control_pod, take_back_input},
};

/// Whether there is a run that *Stop* ends.
pub(crate) fn has_run(state: PodState) -> bool {
    matches!(state, PodState::Running | PodState::Waiting)
}

/// Whether Escape ends it. While a question waits, Escape only leaves the field: the answer is usually given next.
pub(crate) fn is_ended_by_escape(state: PodState) -> bool {
    state == PodState::Running
}

/// Ends the run. Its queued messages are taken back first, so that none of them begins another one.
pub(crate) fn stop_run(console: Console, pod: PodContext) {
    if let Some(reason) = refusal(ControlVerb::Cancel, pod.state.get_untracked()) {
        return console.note(format!("There is no run to stop: {reason}"));
    }
    let target = pod.pod.get_value();
    let queued = pod.detail.with_untracked(|detail| detail.queued.clone());
    spawn_local(async move {
        let mut back: Vec<Segment> = Vec::new();
        for waiting in queued {
            // Ids that come from the server always parse; a message that has begun stays where it is.
            let Ok(id) = CommandId::parse(&waiting.command_id) else { continue };
            if let Ok(input) = take_back_input(target.clone(), fresh_command(), id).await {
                back.extend((!back.is_empty()).then(|| Segment::text("\n\n")));
                back.extend(input.segments);
                pod.detail.try_update(|detail| detail.queued.retain(|other| other.command_id != waiting.command_id));
            }
        }
        if let Err(refusal) = control_pod(target, fresh_command(), ControlVerb::Cancel).await {
            console.fail(&refusal);
        }
        if !back.is_empty() {
            pod.returned.try_set(Some(Returned { segments: back, is_asked_for: true }));
        }
        pod.refresh();
    });
}
