//! Introductions for which the other side asks its own people: the Pod here that is to be known waits for what they say.

use pod_store::{FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode};

use super::{
    super::handshake::{News, Refusal, Step, decide},
    begin::too_many,
    card_change, expires_at,
    greet::{Proposal, between, meant, refuse, write},
    label,
    receive::Taken,
};
use crate::{clock, peers::Peers};

/// One of ours is wanted to know a far Pod whose people are asked.
pub(super) async fn invite(peers: &Peers, taken: Taken<'_>, invited: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = meant(peers, taken, &invited).await? else { return Ok(()) };
    let Some((standing, known)) = between(peers, taken, &own, &invited).await? else { return Ok(()) };
    let (far, event) = match (decide(standing, News::Invited(held.spec.peer_policy)), known) {
        (Step::Refuse(refusal), _) => {
            let error = match refusal {
                Refusal::Full => too_many(&own),
                Refusal::Crossed => crossed(&invited),
                _ => unasked(&own, &invited),
            };
            return refuse(peers, taken, &invited.handshake, error).await;
        }
        (Step::Follow, Some(row)) => (vec![FarChange::Put(FarPeerRow { handshake: invited.handshake, ..row })], None),
        (Step::Wait, _) => waiting(peers, taken.store, &own, invited),
        _ => (Vec::new(), None),
    };
    write(peers, taken, &own, Some(held), far, event).await
}

fn crossed(invited: &Proposal) -> ApiError {
    let sentence = format!("both sides were asked at once; send the peer request to \"{}\" again", invited.from.name);
    ApiError::new(ErrorCode::PeerRefused, sentence)
}

fn unasked(own: &PodRow, invited: &Proposal) -> ApiError {
    let sentence = format!(
        "pod \"{}\" accepts peers only on request; send it a peer request from \"{}\" instead",
        own.name, invited.from.name
    );
    ApiError::new(ErrorCode::PeerRefused, sentence)
}

fn waiting(peers: &Peers, store: &str, own: &PodRow, invited: Proposal) -> (Vec<FarChange>, Option<ControlEvent>) {
    let Proposal { handshake, from, by, note, .. } = invited;
    let (now, card) = (clock::now(), card_change(store, &from));
    let peer = label(peers, store, &from.worker_id, from.name);
    let row = FarPeerRow {
        pod: own.key,
        store: store.to_owned(),
        worker: from.worker_id,
        handshake: handshake.clone(),
        state: FarState::Waiting,
        note: note.clone(),
        by: by.clone(),
        since: now,
        expires_at: Some(expires_at()),
        pace_level: 0,
        pace_at: now,
        told: String::new(),
    };
    let event = ControlEvent::PeerRequested { peer, by, request_id: Some(handshake), note };
    (vec![FarChange::Put(row), card], Some(event))
}
