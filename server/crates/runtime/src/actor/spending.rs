//! What an event says was used, and for whom. Counted in the transaction of its record, so exactly once.

use jiff::Timestamp;
use pod::{PeerLetter, Pod};
use pod_store::{Spent, Tokens};
use protocol::{ControlEvent, Event, RuntimeId, Trigger, WorkerId};

/// `pod` is the state before the event. Tokens are taken from `usage` records, as in the Pod's own sum; the end of a
/// run repeats them. `asked` is the provider and the model that answer.
pub(super) fn spent(pod: &Pod, asked: (&str, &str), at: Timestamp, event: &Event) -> Option<Spent> {
    let spent = |tokens, begun_by, ends_run| {
        let (provider, model) = (asked.0.to_owned(), asked.1.to_owned());
        Some(Spent { at, tokens, provider, model, begun_by, ends_run })
    };
    match event {
        Event::Control(ControlEvent::Usage { usage }) => spent(Tokens::from(usage), begun_by(pod), false),
        Event::Control(ControlEvent::RunFinished { .. }) => spent(Tokens::default(), Some(begun_by(pod)?), true),
        _ => None,
    }
}

/// The Pod whose message began the current run: the oldest of the messages that were there first.
fn begun_by(pod: &Pod) -> Option<WorkerId> {
    pod.run.as_ref().filter(|run| run.trigger == Trigger::Peer)?;
    let PeerLetter { from, .. } = pod.read_messages.first().or_else(|| pod.unread_messages.first())?;
    (from.runtime_id == RuntimeId::local()).then(|| from.worker_id.clone())
}
