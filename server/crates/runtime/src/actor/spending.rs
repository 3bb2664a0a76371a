//! What an event says was used, and for whom: counted in the transaction of its record, so once and never later.

use jiff::Timestamp;
use pod::{PeerLetter, Pod};
use pod_store::{Spent, Tokens};
use protocol::{ControlEvent, Event, RuntimeId, Trigger, WorkerId};

/// `pod` is the state before the event. Tokens are what `usage` records say, as in the Pod's own sum; the end of a run
/// says them again.
pub(super) fn spent(pod: &Pod, at: Timestamp, event: &Event) -> Option<Spent> {
    match event {
        Event::Control(ControlEvent::Usage { usage }) => {
            Some(Spent { at, tokens: Tokens::from(usage), begun_by: begun_by(pod), ends_run: false })
        }
        Event::Control(ControlEvent::RunFinished { .. }) => {
            let begun_by = begun_by(pod)?;
            Some(Spent { at, tokens: Tokens::default(), begun_by: Some(begun_by), ends_run: true })
        }
        _ => None,
    }
}

/// The Pod whose message began the present run: of the messages that were there first, the oldest.
fn begun_by(pod: &Pod) -> Option<WorkerId> {
    pod.run.as_ref().filter(|run| run.trigger == Trigger::Peer)?;
    let PeerLetter { from, .. } = pod.read_messages.first().or_else(|| pod.unread_messages.first())?;
    (from.runtime_id == RuntimeId::local()).then(|| from.worker_id.clone())
}
