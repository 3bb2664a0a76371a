//! Peer requests for which the other side asks its own people; this side's Pod waits for their answer.

use pod_store::{FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, LinkNews, PeerLabel, PeerPolicy};

use super::{
    super::handshake::{News, Refusal, Standing, Step, decide},
    Proposal,
    begin::too_many,
    card_change,
    greet::{between, meant, refuse, write},
    label, put_out,
    receive::Taken,
};
use crate::peers::Peers;

/// The note when a pair ends because the other side does not know of it.
const ASKED_ANEW: &str = "the other side asks its own people anew";
/// The same, for the other side if it does know of it.
const REPLACED: &str = "a request that was made meanwhile took its place";

/// A far Pod whose people are being asked wants one of this side's Pods as a peer.
pub(super) async fn invite(peers: &Peers, taken: Taken<'_>, invited: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = meant(peers, taken, &invited).await? else { return Ok(()) };
    let Some(found) = between(peers, taken, &own, &invited).await? else { return Ok(()) };
    let handshake = invited.handshake.clone();
    let peer = label(peers, taken.store, &invited.from.worker_id, invited.from.name.clone());
    match asked_for((taken.store, &own), peer, found, held.spec.peer_policy, invited) {
        Ok((far, events)) => write(peers, taken, &own, Some(held), far, events).await,
        Err(error) => refuse(peers, taken, &handshake, error).await,
    }
}

/// The changes that follow when the other side asks its people on behalf of this Pod, and the events for its journal.
/// The error is what the other side is told.
pub(super) fn asked_for(
    (store, own): (&str, &PodRow),
    peer: PeerLabel,
    (standing, known): (Standing, Option<FarPeerRow>),
    policy: PeerPolicy,
    invited: Proposal,
) -> Result<(Vec<FarChange>, Vec<ControlEvent>), ApiError> {
    match decide(standing, News::Invited(policy)) {
        Step::Refuse(refusal) => Err(match refusal {
            Refusal::Full => too_many(own),
            Refusal::Crossed => crossed(&invited),
            _ => unasked(own, &invited),
        }),
        Step::WaitAgain => {
            let (by, note) = (invited.by.clone(), Some(ASKED_ANEW.to_owned()));
            let over = ControlEvent::PeerUnlinked { peer: peer.clone(), by, request_id: None, note };
            // The other side may have the pair after all, and have given up what it asks for here.
            let ended = known.map(|row| {
                let (handshake, by, note) = (row.handshake, invited.by.clone(), Some(REPLACED.to_owned()));
                put_out(store, &LinkNews::Unlinked { handshake, by, note })
            });
            let (far, event) = waiting(store, own, peer, invited);
            Ok((ended.into_iter().chain(far).collect(), vec![over, event]))
        }
        Step::Wait => {
            let (far, event) = waiting(store, own, peer, invited);
            Ok((far, vec![event]))
        }
        _ => Ok((Vec::new(), Vec::new())),
    }
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

fn waiting(store: &str, own: &PodRow, peer: PeerLabel, invited: Proposal) -> (Vec<FarChange>, ControlEvent) {
    let row = invited.row(own.key, store, FarState::Waiting);
    let event = invited.requested(peer);
    (vec![FarChange::Put(row), card_change(store, &invited.from)], event)
}
