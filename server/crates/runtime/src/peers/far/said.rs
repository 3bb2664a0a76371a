//! The other side's answers about a request that both sides know of: this Pod's side of them.

use pod_store::{FarChange, FarPeerRow, FarState};
use protocol::{ApiError, ControlEvent, LinkCard, PeerLabel};

use super::{
    super::handshake::{News, Step, decide},
    begin::linked,
    card_change,
    greet::write,
    label, name_of,
    own::hold_readable,
    receive::Taken,
    remove, standing,
};
use crate::peers::Peers;

pub(super) enum Said {
    Accepted { card: LinkCard, by: String },
    Asked { card: LinkCard },
    Refused(ApiError),
    Declined { by: String, note: Option<String> },
    Withdraw { by: String, note: Option<String> },
    Unlinked { by: String, note: Option<String> },
}

pub(super) async fn said(peers: &Peers, taken: Taken<'_>, handshake: &str, said: Said) -> Result<(), ApiError> {
    let find = async || peers.store.far().peer_of(taken.store, handshake).await;
    let own = match find().await? {
        Some(row) => peers.store.pods().find_by_key(row.pod).await?,
        None => None,
    };
    // It was withdrawn or has ended here, and the other side is being told.
    let Some(own) = own else { return taken.commit(peers, Vec::new()).await };
    let held = hold_readable(peers, &own).await?;
    let Some(row) = find().await?.filter(|row| row.pod == own.key) else {
        return taken.commit(peers, Vec::new()).await;
    };
    let name = match &said {
        Said::Accepted { card, .. } | Said::Asked { card } if card.worker_id == row.worker => card.name.clone(),
        _ => name_of(peers, &row.store, &row.worker).await?,
    };
    let peer = label(peers, &row.store, &row.worker, name);
    if let Said::Refused(error) = &said {
        peers.far.note_refusal(handshake, error.clone());
    }
    let (far, event) = heard(row, peer, said);
    write(peers, taken, &own, held, far, event).await
}

/// The changes that follow from the current row, and the event for the journal.
pub(super) fn heard(row: FarPeerRow, peer: PeerLabel, said: Said) -> (Vec<FarChange>, Option<ControlEvent>) {
    if !said.is_about(&row) {
        return (Vec::new(), None);
    }
    let request_id = Some(row.handshake.clone());
    match decide(standing(Some(&row)), said.news()) {
        Step::Linked => {
            let Said::Accepted { card, by } = said else { return (Vec::new(), None) };
            let change = card_change(&row.store, &card);
            let event = ControlEvent::PeerLinked { peer, by, request_id, note: row.note.clone() };
            (vec![FarChange::Put(linked(row)), change], Some(event))
        }
        Step::Wait => {
            let Said::Asked { card } = said else { return (Vec::new(), None) };
            let change = card_change(&row.store, &card);
            (vec![FarChange::Put(FarPeerRow { state: FarState::Waiting, ..row }), change], None)
        }
        Step::End(ending) => {
            let (by, note) = said.words();
            (vec![remove(&row)], Some(ending.event(peer, by, request_id, note)))
        }
        _ => (Vec::new(), None),
    }
}

impl Said {
    /// A card in the answer has to be that of the Pod in the row.
    fn is_about(&self, row: &FarPeerRow) -> bool {
        match self {
            Self::Accepted { card, .. } | Self::Asked { card } => card.worker_id == row.worker,
            _ => true,
        }
    }

    fn news(&self) -> News {
        match self {
            Self::Accepted { .. } => News::Accepted,
            Self::Asked { .. } => News::Waits,
            Self::Refused(_) => News::Refused,
            Self::Declined { .. } => News::Declined,
            Self::Withdraw { .. } => News::Withdrawn,
            Self::Unlinked { .. } => News::Unlinked,
        }
    }

    /// Who ended it, and why.
    fn words(self) -> (String, Option<String>) {
        match self {
            Self::Declined { by, note } | Self::Withdraw { by, note } | Self::Unlinked { by, note } => (by, note),
            Self::Refused(error) => ("yoi".to_owned(), Some(error.detail)),
            Self::Accepted { by, .. } => (by, None),
            Self::Asked { .. } => ("yoi".to_owned(), None),
        }
    }
}
