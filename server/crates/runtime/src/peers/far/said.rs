//! What the other side says of an introduction that both know of, taken in: the own Pod's side of it.

use pod_store::{FarChange, FarPeerRow, FarState};
use protocol::{ApiError, ControlEvent, LinkCard, PeerLabel};

use super::{
    card_change,
    greet::{hold, is_of_the_pod, write},
    handshake::linked,
    label, name_of,
    receive::Taken,
    remove,
};
use crate::{clock, error, peers::Peers, view};

pub(super) enum Said {
    Accepted { card: LinkCard, by: String },
    Asked { card: LinkCard },
    Refused(ApiError),
    Declined { by: String, note: Option<String> },
    Withdraw { by: String, note: Option<String> },
    Unlinked { by: String, note: Option<String> },
}

pub(super) async fn said(inner: &Peers, taken: Taken<'_>, handshake: &str, said: Said) -> Result<(), ApiError> {
    let find = async || inner.store.far_peer_of(taken.store, handshake).await.map_err(error::store_failed);
    let own = match find().await? {
        Some(row) => inner.store.pod_find_by_key(row.pod).await.map_err(error::store_failed)?,
        None => None,
    };
    // It was withdrawn or has ended here, and the other side is being told.
    let Some(own) = own else { return taken.commit(inner, Vec::new()).await };
    let held = match view::open(&own) {
        Ok(_) => match hold(inner, &own).await {
            Ok(held) => Some(held),
            Err(error) if is_of_the_pod(&error) => None,
            Err(error) => return Err(error),
        },
        Err(_) => None,
    };
    let Some(row) = find().await?.filter(|row| row.pod == own.key) else {
        return taken.commit(inner, Vec::new()).await;
    };
    let name = match &said {
        Said::Accepted { card, .. } | Said::Asked { card } if card.worker_id == row.worker => card.name.clone(),
        _ => name_of(inner, &row.store, &row.worker).await?,
    };
    let peer = label(inner, &row.store, &row.worker, name);
    if let Said::Refused(error) = &said {
        inner.far.note_refusal(handshake, error.clone());
    }
    let (far, event) = heard(row, peer, said);
    write(inner, taken, &own, held, far, event).await
}

/// What it makes of what stands here, and the record of it. What does not fit changes nothing.
fn heard(row: FarPeerRow, peer: PeerLabel, said: Said) -> (Vec<FarChange>, Option<ControlEvent>) {
    let request_id = Some(row.handshake.clone());
    let declined = |by: String, note| ControlEvent::PeerDeclined { peer: peer.clone(), by, request_id, note };
    let unlinked = |by: String, note| ControlEvent::PeerUnlinked { peer: peer.clone(), by, request_id: None, note };
    let waits_there = matches!(row.state, FarState::Proposed | FarState::Waiting);
    let gone = remove(&row);
    match said {
        Said::Accepted { card, by } if waits_there && card.worker_id == row.worker => {
            let change = card_change(&row.store, &card);
            let event = ControlEvent::PeerLinked {
                peer: peer.clone(),
                by,
                request_id: Some(row.handshake.clone()),
                note: row.note.clone(),
            };
            (vec![FarChange::Put(linked(row, clock::now())), change], Some(event))
        }
        Said::Asked { card } if waits_there && card.worker_id == row.worker => {
            let change = card_change(&row.store, &card);
            (vec![FarChange::Put(FarPeerRow { state: FarState::Waiting, ..row }), change], None)
        }
        // This side has asked its own people, for the other side's sake.
        Said::Refused(error) if waits_there || row.state == FarState::Asked => {
            (vec![gone], Some(declined("yoi".to_owned(), Some(error.detail))))
        }
        Said::Declined { by, note } if waits_there => (vec![gone], Some(declined(by, note))),
        Said::Withdraw { by, note } if row.state != FarState::Linked => (vec![gone], Some(declined(by, note))),
        Said::Refused(error) if row.state == FarState::Linked => {
            (vec![gone], Some(unlinked("yoi".to_owned(), Some(error.detail))))
        }
        Said::Declined { by, note } | Said::Withdraw { by, note } | Said::Unlinked { by, note }
            if row.state == FarState::Linked =>
        {
            (vec![gone], Some(unlinked(by, note)))
        }
        _ => (Vec::new(), None),
    }
}
