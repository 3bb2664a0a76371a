//! Peer requests for which the other side asks its own people; this side's Pod waits for their answer.

use pod_store::{FarChange, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode};

use super::{
    super::handshake::{News, Refusal, Step, decide},
    Proposal,
    begin::too_many,
    card_change,
    greet::{between, meant, refuse, write},
    label,
    receive::Taken,
};
use crate::peers::Peers;

/// The note when a pair ends because the other side does not know of it.
const ASKED_ANEW: &str = "the other side asks its own people anew";

/// A far Pod whose people are being asked wants one of this side's Pods as a peer.
pub(super) async fn invite(peers: &Peers, taken: Taken<'_>, invited: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = meant(peers, taken, &invited).await? else { return Ok(()) };
    let Some((standing, _)) = between(peers, taken, &own, &invited).await? else { return Ok(()) };
    let (far, events) = match decide(standing, News::Invited(held.spec.peer_policy)) {
        Step::Refuse(refusal) => {
            let error = match refusal {
                Refusal::Full => too_many(&own),
                Refusal::Crossed => crossed(&invited),
                _ => unasked(&own, &invited),
            };
            return refuse(peers, taken, &invited.handshake, error).await;
        }
        Step::WaitAgain => {
            let peer = label(peers, taken.store, &invited.from.worker_id, invited.from.name.clone());
            let (by, note) = (invited.by.clone(), Some(ASKED_ANEW.to_owned()));
            let over = ControlEvent::PeerUnlinked { peer, by, request_id: None, note };
            let (far, event) = waiting(peers, taken.store, &own, invited);
            (far, vec![over, event])
        }
        Step::Wait => {
            let (far, event) = waiting(peers, taken.store, &own, invited);
            (far, vec![event])
        }
        _ => (Vec::new(), Vec::new()),
    };
    write(peers, taken, &own, Some(held), far, events).await
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

fn waiting(peers: &Peers, store: &str, own: &PodRow, invited: Proposal) -> (Vec<FarChange>, ControlEvent) {
    let row = invited.row(own.key, store, FarState::Waiting);
    let event = invited.requested(label(peers, store, &row.worker, invited.from.name.clone()));
    (vec![FarChange::Put(row), card_change(store, &invited.from)], event)
}
