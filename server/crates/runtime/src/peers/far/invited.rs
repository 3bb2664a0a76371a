//! Introductions for which the other side asks its own people: the Pod here that is to be known waits for what they say.

use pod_store::{FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, PeerPolicy};

use super::{
    FAR_PEERS_MAX, card_change, expires_at,
    greet::{Proposal, refuse, standing, write},
    handshake::too_many,
    label,
    receive::Taken,
};
use crate::{clock, error, peers::Peers};

/// One of ours is wanted to know a far Pod whose people are asked. Only one that is open to anybody: else a server could
/// make links that nobody here was asked for.
pub(super) async fn invite(inner: &Peers, taken: Taken<'_>, invited: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = standing(inner, taken, &invited).await? else { return Ok(()) };
    let refuse = async |error| refuse(inner, taken, &invited.handshake, error).await;
    let rows = inner.store.far_peers(own.key).await.map_err(error::store_failed)?;
    let same = inner.store.far_peer_of(taken.store, &invited.handshake).await.map_err(error::store_failed)?;
    if same.is_some_and(|row| (row.pod, &row.worker) != (own.key, &invited.from.worker_id)) {
        return refuse(ApiError::invalid("this introduction is that of two other Pods")).await;
    }
    let known = rows.iter().find(|row| row.store == taken.store && row.worker == invited.from.worker_id);
    let (far, event) = match known {
        // This side has proposed it by itself: that is answered, or was.
        Some(row) if matches!(row.state, FarState::Proposed | FarState::Waiting) => (Vec::new(), None),
        // The other side has lost its half, and asks its people anew: what they say is about this half.
        Some(row) if row.state == FarState::Linked => {
            (vec![FarChange::Put(FarPeerRow { handshake: invited.handshake, ..row.clone() })], None)
        }
        // Each of the two asks its own people for the other one's sake, and would wait for what the other side's say. Both
        // are answered, so that neither stands alone whatever was withdrawn meanwhile.
        Some(row) if row.state == FarState::Asked => {
            let sentence = format!("both sides were asked at once; introduce \"{}\" again", invited.from.name);
            return refuse(ApiError::new(ErrorCode::PeerRefused, sentence)).await;
        }
        None if rows.len() >= FAR_PEERS_MAX => return refuse(too_many(&own)).await,
        _ if held.spec.peer_policy != PeerPolicy::Open => {
            let sentence = format!(
                "pod \"{}\" takes no introductions without being asked; introduce \"{}\" to it instead",
                own.name, invited.from.name
            );
            return refuse(ApiError::new(ErrorCode::PeerRefused, sentence)).await;
        }
        _ => waiting(inner, taken.store, &own, invited),
    };
    write(inner, taken, &own, Some(held), far, event).await
}

fn waiting(inner: &Peers, store: &str, own: &PodRow, invited: Proposal) -> (Vec<FarChange>, Option<ControlEvent>) {
    let Proposal { handshake, from, by, note, .. } = invited;
    let (now, card) = (clock::now(), card_change(store, &from));
    let peer = label(inner, store, &from.worker_id, from.name);
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
