//! Changes of the context that do not add to the conversation: compaction and rewind.

use protocol::{AlertLevel, ControlEvent, PlanEntry, PodState, ReceiptState, Seq, TurnEvent, Usage};

use super::{
    Effect, Refusal,
    draft::Draft,
    overflow::{end, give_up, tell_room},
};
use crate::{NoSummary, PeerLetter, Summary};

/// The code of a failure that has none of its own.
pub(super) const PROVIDER_ERROR: &str = "provider_error";

pub(super) fn compact(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle | PodState::Paused => (),
        PodState::Running | PodState::Waiting => return Err(Refusal::InARun),
        PodState::Stopped | PodState::Unreachable | PodState::Broken => return Err(Refusal::NotLive),
    }
    draft.status(PodState::Running, Some("compacting its context"));
    draft.effect(Effect::Summarise);
    Ok(())
}

/// Applies the summary, or reports its failure; then the Pod continues where it was.
pub(super) fn summarised(draft: &mut Draft, summary: Result<Summary, NoSummary>) {
    if draft.pod.state != PodState::Running {
        return;
    }
    let was_suspected = draft.pod.suspicion.is_some();
    let is_too_long = draft.pod.fits.is_some() && draft.pod.compacting_from.is_none();
    match summary {
        Ok(Summary { text, kept_from_seq, usage }) => {
            let summary = with_tasks(text, &draft.pod.tasks);
            draft.event(TurnEvent::Compacted { summary, kept_from_seq });
            draft.event(ControlEvent::Usage { usage });
            if is_too_long {
                tell_room(draft, was_suspected);
            }
        }
        // An unchanged request would fail again.
        Err(NoSummary::NothingToDrop(newest)) if is_too_long => return give_up(draft, newest),
        Err(NoSummary::Failed(detail)) if is_too_long => {
            let detail = format!("the model's context is full, and older turns could not be summarised: {detail}");
            return end(draft, PROVIDER_ERROR, detail);
        }
        Err(reason) => tell_failure(draft, reason),
    }
    match draft.pod.compacting_from {
        Some(before) => draft.status(before, None),
        None => draft.call_model(),
    }
}

/// A model must not lose its task list with the part of its context that the summary replaces.
fn with_tasks(summary: String, tasks: &[PlanEntry]) -> String {
    if tasks.is_empty() {
        return summary;
    }
    let lines: Vec<String> = tasks.iter().map(PlanEntry::line).collect();
    format!("{summary}\n\nThe current task list (Tasks replaces it):\n{}", lines.join("\n"))
}

fn tell_failure(draft: &mut Draft, reason: NoSummary) {
    let reason = match reason {
        NoSummary::NothingToDrop(_) => "there is nothing to summarise yet".to_owned(),
        NoSummary::Failed(detail) => detail,
    };
    draft.event(ControlEvent::Alert {
        level: AlertLevel::Warn,
        source: "compaction".to_owned(),
        text: format!("the context could not be compacted: {reason}"),
        model: None,
    });
}

/// Removes the records after `to_seq` from the context. They stay in the journal.
pub(super) fn rewind(draft: &mut Draft, to_seq: Seq, expected_head: Seq, context_used: u64) -> Result<(), Refusal> {
    match draft.pod.state {
        PodState::Idle | PodState::Paused => (),
        PodState::Running | PodState::Waiting => return Err(Refusal::InARun),
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
    take_back(draft, to_seq);
    draft.event(ControlEvent::Usage { usage: Usage { context_used, context_limit, ..Usage::default() } });
    draft.status(PodState::Idle, None);
    Ok(())
}

/// Removes what came after `to_seq` from the context.
pub(super) fn take_back(draft: &mut Draft, to_seq: Seq) {
    let unread = draft.pod.unread_messages.iter().filter(|letter| letter.seq > to_seq).cloned().collect::<Vec<_>>();
    draft.event(TurnEvent::Rewound { to_seq });
    for PeerLetter { message_id, from: peer, .. } in unread {
        // The sender should not keep waiting for it to be read.
        let (state, reason) =
            (ReceiptState::Expired, Some("the conversation was rewound before it was read".to_owned()));
        draft.event(ControlEvent::MessageReceipt { message_id, peer, state, turn: None, reason });
    }
}

/// Cancels a summary that is being made outside of a run. Returns false if there is none.
pub(super) fn stop_compacting(draft: &mut Draft) -> bool {
    let Some(before) = draft.pod.compacting_from else { return false };
    draft.effect(Effect::Abort);
    draft.status(before, None);
    true
}
