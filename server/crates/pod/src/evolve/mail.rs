//! Messages from other Pods, and how far a model has read them.

use protocol::{ReceiptState, Trigger};

use crate::{Pod, state::PeerLetter};

/// A message from a peer.
pub(super) fn letter(pod: &mut Pod, letter: PeerLetter) {
    if pod.run.as_ref().is_some_and(|run| run.is_fresh && run.trigger == Trigger::Peer) {
        pod.hops = pod.hops.max(letter.hops + 1);
    }
    pod.unread_messages.push(letter);
    came_in(pod, Trigger::Peer);
}

/// Mail that comes in while the model answers is read with the next request.
pub(super) fn came_in(pod: &mut Pod, kind: Trigger) {
    let is_late = noted(pod);
    // News of a child always begins a run; a message may just be noted.
    if is_late && pod.unread_mail != Some(Trigger::Child) {
        pod.unread_mail = Some(kind);
    }
}

/// Something for the model has come in that begins no run by itself. Returns whether a request is under way that does
/// not contain it.
pub(super) fn noted(pod: &mut Pod) -> bool {
    let is_late = pod.run.as_ref().is_some_and(|run| !run.is_fresh);
    pod.has_late_mail |= is_late;
    let since = pod.run.as_mut().and_then(|run| run.bare_since.take());
    if let Some(since) = since.filter(|_| is_late) {
        pod.bare_runs.push((since, pod.runs));
    }
    is_late
}

/// The state of a peer's message received here. Receipts for messages that this Pod itself sent match none of these.
pub(super) fn receipt(pod: &mut Pod, message_id: &str, state: ReceiptState) {
    match state {
        ReceiptState::Read => {
            let is_automatic =
                pod.run.as_ref().is_some_and(|run| matches!(run.trigger, Trigger::Peer | Trigger::Child));
            for letter in pod.unread_messages.extract_if(.., |letter| letter.message_id == message_id) {
                // It was read during a run that no person began, so what follows is as far from a person as the message
                // is.
                if is_automatic {
                    pod.hops = pod.hops.max(letter.hops + 1);
                }
                pod.read_messages.push(letter);
            }
        }
        ReceiptState::Answered => pod.read_messages.retain(|letter| letter.message_id != message_id),
        ReceiptState::Sent
        | ReceiptState::Stored
        | ReceiptState::Held
        | ReceiptState::Refused
        | ReceiptState::Expired => (),
    }
}
