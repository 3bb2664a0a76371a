//! Messages from other Pods, and when they are read.

use protocol::{ControlEvent, Event, Outcome, PodState, ReceiptState, Seq, Trigger, TurnEvent};

use super::{Refusal, draft::Draft};
use crate::{PeerLetter, PodSpec};

/// Takes in mail. It is in the journal at once. An idle Pod may begin a run for it; during a run the model reads it
/// with the next request.
pub(super) fn mail(draft: &mut Draft, events: Vec<TurnEvent>, wakes: bool) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    let is_peer = |event: &TurnEvent| matches!(event, TurnEvent::PeerMessage { .. });
    let has_events = !events.is_empty();
    let trigger = if events.iter().any(is_peer) { Trigger::Peer } else { Trigger::Child };
    let events = events.into_iter().flat_map(with_receipt);
    if draft.pod.state == PodState::Idle && wakes && has_events {
        draft.begin(trigger, None, events);
        draft.ask_model();
    } else {
        events.for_each(|event| draft.outside(event));
    }
    Ok(())
}

/// Adds the receipt for a peer's message, which says that it is stored with this record.
pub(super) fn with_receipt(event: TurnEvent) -> Vec<Event> {
    let receipt = match &event {
        TurnEvent::PeerMessage { message_id, from, .. } => Some(ControlEvent::MessageReceipt {
            message_id: message_id.clone(),
            peer: from.clone(),
            state: ReceiptState::Stored,
            turn: None,
            reason: None,
        }),
        _ => None,
    };
    std::iter::once(event.into()).chain(receipt.map(Event::from)).collect()
}

/// Ends a run whose answer is complete. Mail that came in meanwhile is read at once in a run of its own. If the answer
/// was entirely empty, the message is taken back, unless mail came in after it that would be taken back too.
pub(crate) fn complete(draft: &mut Draft, spec: &PodSpec) {
    let empty_input = draft.pod.run.as_ref().and_then(|run| {
        let is_empty = run.trigger == Trigger::Input && run.blocks_before == draft.pod.blocks;
        // An agent has the message already, whatever happened to it here.
        run.input_seq.filter(|_| is_empty && draft.pod.unread_mail.is_none() && draft.pod.session.is_none())
    });
    if let Some(input_seq) = empty_input {
        draft.event(TurnEvent::Rewound { to_seq: Seq(input_seq.0 - 1) });
        let detail = "the model answered nothing; the message was taken back".to_owned();
        draft.finish_run(Outcome::RolledBack, Some(("empty".to_owned(), detail)));
        draft.status(PodState::Idle, None);
        return;
    }
    draft.finish_run(Outcome::Completed, None);
    let turn = Some(draft.pod.runs);
    for letter in draft.pod.read_messages.clone() {
        let PeerLetter { message_id, from: peer, .. } = letter;
        draft.event(ControlEvent::MessageReceipt {
            message_id,
            peer,
            state: ReceiptState::Answered,
            turn,
            reason: None,
        });
    }
    match draft.pod.unread_mail {
        // It waits for the next run, as it would in an idle Pod.
        Some(Trigger::Peer) if !spec.wake_on_peer => draft.status(PodState::Idle, None),
        Some(trigger) => {
            draft.begin(trigger, None, []);
            draft.ask_model();
        }
        None => draft.status(PodState::Idle, None),
    }
}
