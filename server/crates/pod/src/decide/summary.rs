//! What changes the context and not the conversation: compaction and rewind.

use protocol::{AlertLevel, ControlEvent, PodState, ReceiptState, Seq, TurnEvent, Usage};

use super::{Effect, Refusal, draft::Draft};
use crate::{PeerLetter, Summary};

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

/// The summary takes its place, or the failure is told; then the Pod goes on where it was.
pub(super) fn summarised(draft: &mut Draft, summary: Result<Summary, String>) {
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
    let unread = draft.pod.unread_messages.iter().filter(|letter| letter.seq > to_seq).cloned().collect::<Vec<_>>();
    draft.event(TurnEvent::Rewound { to_seq });
    for PeerLetter { message_id, from: peer, .. } in unread {
        // Whoever sent it waits for a reading that will not come.
        let (state, reason) =
            (ReceiptState::Expired, Some("the conversation was rewound before it was read".to_owned()));
        draft.event(ControlEvent::MessageReceipt { message_id, peer, state, turn: None, reason });
    }
    draft.event(ControlEvent::Usage { usage: Usage { context_used, context_limit, ..Usage::default() } });
    draft.status(PodState::Idle, None);
    Ok(())
}

/// Gives up a summary that is being made outside of a run. False when there is none.
pub(super) fn stop_compacting(draft: &mut Draft) -> bool {
    let Some(before) = draft.pod.compacting_from else { return false };
    draft.effect(Effect::Abort);
    draft.status(before, None);
    true
}
