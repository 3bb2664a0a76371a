//! Peer requests that the other side begins: this Pod's side, in the transaction that takes the item.

use std::cmp::Ordering;

use pod_store::{FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, LinkNews, PeerLabel, PeerPolicy};

use super::{
    super::handshake::{News, Refusal, Standing, Step, Which, decide},
    Proposal,
    begin::{accept, too_many},
    card_change,
    cards::{card_of, told},
    label, own, put_out,
    receive::Taken,
    remove, standing_among,
};
use crate::{
    actor::Held,
    hold::Wanted,
    peers::{Peers, link},
};

/// Withdraws a request that was made here on the other side's behalf and that is overtaken by the other side's own
/// proposal. Both the other side and the journal here are told.
fn overtaken(row: &FarPeerRow, peer: &PeerLabel, by: &str) -> (FarChange, ControlEvent) {
    let (handshake, by, note) = (row.handshake.clone(), by.to_owned(), Some("withdrawn".to_owned()));
    let told = LinkNews::Withdraw { handshake: handshake.clone(), by: by.clone(), note: note.clone() };
    let event = ControlEvent::PeerDeclined { peer: peer.clone(), by, request_id: Some(handshake), note };
    (put_out(&row.store, &told), event)
}

/// Holds the Pod that the item is about. `None` if it cannot become a peer; then the other side is told.
pub(super) async fn meant(
    peers: &Peers,
    taken: Taken<'_>,
    proposal: &Proposal,
) -> Result<Option<(PodRow, Held)>, ApiError> {
    match own::meant(peers, &proposal.to).await? {
        Ok(meant) => Ok(Some(meant)),
        Err(error) => refuse(peers, taken, &proposal.handshake, error).await.map(|()| None),
    }
}

/// Nothing is recorded here, and the other side is told why.
pub(super) async fn refuse(peers: &Peers, taken: Taken<'_>, handshake: &str, error: ApiError) -> Result<(), ApiError> {
    let news = LinkNews::Refused { handshake: handshake.to_owned(), code: error.code, sentence: error.detail };
    taken.commit(peers, vec![put_out(taken.store, &news)]).await
}

/// How the Pod and the far one stand to each other, and the row between them, if any. `None` if the handshake belongs
/// to two other Pods; then the other side is told.
pub(super) async fn between(
    peers: &Peers,
    taken: Taken<'_>,
    own: &PodRow,
    proposal: &Proposal,
) -> Result<Option<(Standing, Option<FarPeerRow>)>, ApiError> {
    let (handshake, worker) = (&proposal.handshake, &proposal.from.worker_id);
    let named = peers.store.far().peer_of(taken.store, handshake).await?;
    if named.is_some_and(|row| (row.pod, &row.worker) != (own.key, worker)) {
        let error = ApiError::invalid("this peer request belongs to two other Pods");
        return refuse(peers, taken, handshake, error).await.map(|()| None);
    }
    let mut rows = peers.store.far().peers(own.key).await?;
    let count = rows.len();
    let known = rows.iter().position(|row| row.store == taken.store && row.worker == *worker);
    let known = known.map(|at| rows.swap_remove(at));
    Ok(Some((standing_among(count, known.as_ref()), known)))
}

fn which(known: Option<&FarPeerRow>, handshake: &str) -> Which {
    match known.map(|row| row.handshake.as_str().cmp(handshake)) {
        Some(Ordering::Equal) => Which::Same,
        Some(Ordering::Less) => Which::Later,
        Some(Ordering::Greater) | None => Which::Earlier,
    }
}

/// A far Pod wants to become a peer of one here. The outcome depends on what the two are now and on the Pod's policy.
pub(super) async fn propose(peers: &Peers, taken: Taken<'_>, proposal: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = meant(peers, taken, &proposal).await? else { return Ok(()) };
    let Some((standing, known)) = between(peers, taken, &own, &proposal).await? else { return Ok(()) };
    let peer = label(peers, taken.store, &proposal.from.worker_id, proposal.from.name.clone());
    let (far, events) = proposed((taken.store, &own), peer, (standing, known), held.spec.peer_policy, proposal);
    write(peers, taken, &own, Some(held), far, events).await
}

/// The changes that follow from a proposal for this Pod, and the events for its journal.
pub(super) fn proposed(
    (store, own): (&str, &PodRow),
    peer: PeerLabel,
    (standing, known): (Standing, Option<FarPeerRow>),
    policy: PeerPolicy,
    proposal: Proposal,
) -> (Vec<FarChange>, Vec<ControlEvent>) {
    let which = which(known.as_ref(), &proposal.handshake);
    let step = decide(standing, News::Proposed(policy, which));
    let (known, over) = match known {
        // It was asked here on behalf of the other side, which now proposes it itself.
        Some(row) if standing == Standing::Asked && which != Which::Same => {
            let over = overtaken(&row, &peer, &proposal.by);
            (Some(row), Some(over))
        }
        known => (known, None),
    };
    let (mut far, event) = match step {
        Step::Link | Step::LinkAgain => {
            let superseded = known.filter(|_| over.is_none()).map(|row| row.handshake);
            let (far, event) = linked(store, own, peer, proposal, superseded);
            (far, (step == Step::Link).then_some(event))
        }
        Step::Ask => asked(store, own, peer, proposal),
        Step::Refuse(refusal) => {
            let error = if refusal == Refusal::Full { too_many(own) } else { link::refused(own) };
            let handshake = proposal.handshake;
            let news = LinkNews::Refused { handshake, code: error.code, sentence: error.detail };
            let gone = known.as_ref().filter(|_| over.is_some()).map(remove);
            (gone.into_iter().chain([put_out(store, &news)]).collect(), None)
        }
        _ => (Vec::new(), None),
    };
    let (told, withdrawn) = over.unzip();
    far.extend(told);
    (far, withdrawn.into_iter().chain(event).collect())
}

/// The two are peers under this proposal; this side's own proposal, if any, is withdrawn.
fn linked(
    store: &str,
    own: &PodRow,
    peer: PeerLabel,
    proposal: Proposal,
    superseded: Option<String>,
) -> (Vec<FarChange>, ControlEvent) {
    let card = card_change(store, &proposal.from);
    let (row, by) = (proposal.row(own.key, store, FarState::Asked), &proposal.by);
    let over = superseded
        .clone()
        .map(|handshake| put_out(store, &LinkNews::Withdraw { handshake, by: by.clone(), note: None }));
    let (mut far, event) = accept(own, row, peer, by);
    // The journal names the request that it already knows.
    let event = match (event, superseded) {
        (ControlEvent::PeerLinked { peer, by, note, .. }, Some(known)) => {
            ControlEvent::PeerLinked { peer, by, request_id: Some(known), note }
        }
        (event, _) => event,
    };
    far.insert(1, card);
    (over.into_iter().chain(far).collect(), event)
}

/// Somebody here is asked, and the other side is told so.
fn asked(store: &str, own: &PodRow, peer: PeerLabel, proposal: Proposal) -> (Vec<FarChange>, Option<ControlEvent>) {
    let card = card_of(own);
    let row = FarPeerRow { told: told(&card), ..proposal.row(own.key, store, FarState::Asked) };
    let event = proposal.requested(peer);
    let news = LinkNews::Asked { handshake: proposal.handshake, card };
    (vec![FarChange::Put(row), card_change(store, &proposal.from), put_out(store, &news)], Some(event))
}

/// Writes this Pod's side of a taken item.
pub(super) async fn write(
    peers: &Peers,
    taken: Taken<'_>,
    own: &PodRow,
    held: Option<Held>,
    far: Vec<FarChange>,
    events: impl IntoIterator<Item = ControlEvent>,
) -> Result<(), ApiError> {
    let wanted = Wanted { events: events.into_iter().collect(), ..Wanted::default() };
    let far = std::iter::once(taken.change()).chain(far).collect();
    own::write(peers, held, wanted, far).await?;
    peers.list.tell_changed(&own.worker_id);
    Ok(())
}
