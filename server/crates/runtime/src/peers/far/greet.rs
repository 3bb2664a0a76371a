//! Introductions that the other side begins: the own Pod's side of it, in the transaction that takes the item.

use pod_store::{FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, LinkCard, LinkNews, PeerLabel, PeerPolicy, WorkerId};

use super::{
    FAR_PEERS_MAX, card_change, expires_at,
    handshake::{accept, too_many},
    label, put_out,
    receive::Taken,
    remove,
};
use crate::{
    actor::Held,
    clock, error,
    hold::{Together, Wanted},
    peers::{Peers, link},
};

/// A far Pod wants to know one of ours.
pub(super) struct Proposal {
    pub(super) handshake: String,
    pub(super) from: LinkCard,
    pub(super) to: WorkerId,
    pub(super) by: String,
    pub(super) note: Option<String>,
}

/// What becomes of a proposal here.
enum Verdict {
    /// Known, or settled by the one that this side proposed.
    Nothing,
    Link {
        /// What this side proposed, and means no longer.
        superseded: Option<String>,
        is_repair: bool,
    },
    Ask,
    Refuse(ApiError),
}

/// What was asked here for the other side's sake, and is overtaken by what that side proposes itself: it is told so, and
/// so is the journal here.
fn overtaken(row: &FarPeerRow, peer: &PeerLabel, by: &str) -> (FarChange, ControlEvent) {
    let (handshake, by, note) = (row.handshake.clone(), by.to_owned(), Some("withdrawn".to_owned()));
    let told = LinkNews::Withdraw { handshake: handshake.clone(), by: by.clone(), note: note.clone() };
    let event = ControlEvent::PeerDeclined { peer: peer.clone(), by, request_id: Some(handshake), note };
    (put_out(&row.store, &told), event)
}

/// The Pod that is meant, standing still. None when there is none to introduce: the other side is told.
pub(super) async fn standing(
    inner: &Peers,
    taken: Taken<'_>,
    proposal: &Proposal,
) -> Result<Option<(PodRow, Held)>, ApiError> {
    let standing = async {
        let own = link::readable(inner, &proposal.to).await?;
        let held = hold(inner, &own).await?;
        Ok((own, held))
    };
    match standing.await {
        Ok(standing) => Ok(Some(standing)),
        Err(error) if is_of_the_pod(&error) => refuse(inner, taken, &proposal.handshake, error).await.map(|()| None),
        Err(error) => Err(error),
    }
}

/// Nothing is held here, and the other side is told why.
pub(super) async fn refuse(inner: &Peers, taken: Taken<'_>, handshake: &str, error: ApiError) -> Result<(), ApiError> {
    let news = LinkNews::Refused { handshake: handshake.to_owned(), code: error.code, sentence: error.detail };
    taken.commit(inner, vec![put_out(taken.store, &news)]).await
}

pub(super) async fn propose(inner: &Peers, taken: Taken<'_>, proposal: Proposal) -> Result<(), ApiError> {
    let Some((own, held)) = standing(inner, taken, &proposal).await? else { return Ok(()) };
    let (verdict, invited) = verdict(inner, taken.store, &own, &held, &proposal).await?;
    let now = clock::now();
    let Proposal { handshake, from, by, note, .. } = proposal;
    let peer = label(inner, taken.store, &from.worker_id, from.name.clone());
    let card = card_change(taken.store, &from);
    let row = FarPeerRow {
        pod: own.key,
        store: taken.store.to_owned(),
        worker: from.worker_id,
        handshake: handshake.clone(),
        state: FarState::Asked,
        note: note.clone(),
        by: by.clone(),
        since: now,
        expires_at: Some(expires_at()),
        pace_level: 0,
        pace_at: now,
        told: String::new(),
    };
    let over = invited.as_ref().map(|row| overtaken(row, &peer, &by));
    let (mut far, event) = match verdict {
        Verdict::Nothing => (Vec::new(), None),
        Verdict::Link { superseded, is_repair } => {
            let over = superseded
                .clone()
                .map(|handshake| put_out(taken.store, &LinkNews::Withdraw { handshake, by: by.clone(), note: None }));
            let (mut far, event) = accept(&own, row, peer, &by, now);
            // The journal names the request that it knows.
            let event = match (event, superseded) {
                (ControlEvent::PeerLinked { peer, by, note, .. }, Some(known)) => {
                    ControlEvent::PeerLinked { peer, by, request_id: Some(known), note }
                }
                (event, _) => event,
            };
            far.insert(1, card);
            (over.into_iter().chain(far).collect(), (!is_repair).then_some(event))
        }
        Verdict::Ask => {
            let told = super::cards::card_of(&own);
            let row = FarPeerRow { told: serde_json::to_string(&told).expect("a card always encodes"), ..row };
            let news = LinkNews::Asked { handshake: handshake.clone(), card: told };
            let event = ControlEvent::PeerRequested { peer, by, request_id: Some(handshake), note };
            (vec![FarChange::Put(row), card, put_out(taken.store, &news)], Some(event))
        }
        Verdict::Refuse(error) => {
            let news = LinkNews::Refused { handshake, code: error.code, sentence: error.detail };
            let gone = invited.as_ref().map(remove);
            (gone.into_iter().chain([put_out(taken.store, &news)]).collect(), None)
        }
    };
    let (told, withdrawn) = over.unzip();
    far.extend(told);
    write(inner, taken, &own, Some(held), far, withdrawn.into_iter().chain(event)).await
}

async fn verdict(
    inner: &Peers,
    store: &str,
    own: &PodRow,
    held: &Held,
    proposal: &Proposal,
) -> Result<(Verdict, Option<FarPeerRow>), ApiError> {
    let handshake = &proposal.handshake;
    let rows = inner.store.far_peers(own.key).await.map_err(error::store_failed)?;
    let known = rows.iter().find(|row| row.store == store && row.worker == proposal.from.worker_id);
    let standing = inner.store.far_peer_of(store, handshake).await.map_err(error::store_failed)?;
    if standing.is_some_and(|row| (row.pod, &row.worker) != (own.key, &proposal.from.worker_id)) {
        return Ok((Verdict::Refuse(ApiError::invalid("this introduction is that of two other Pods")), None));
    }
    let invited = known.filter(|row| row.state == FarState::Asked && row.handshake != *handshake).cloned();
    let verdict = match known {
        Some(row) if row.handshake == *handshake => Verdict::Nothing,
        // Each of the two proposed it. The smaller id is what both go on with: it is answered there, or here.
        Some(row) if matches!(row.state, FarState::Proposed | FarState::Waiting) => match row.handshake < *handshake {
            true => Verdict::Nothing,
            false => Verdict::Link { superseded: Some(row.handshake.clone()), is_repair: false },
        },
        // The other side has lost its half, or proposed this before it heard of the link. It goes on under this id: under
        // the one before, nobody holds anything any more.
        Some(row) if row.state == FarState::Linked => {
            Verdict::Link { superseded: Some(row.handshake.clone()), is_repair: true }
        }
        None if rows.len() >= FAR_PEERS_MAX => Verdict::Refuse(too_many(own)),
        _ => match held.spec.peer_policy {
            PeerPolicy::Open => Verdict::Link { superseded: None, is_repair: false },
            PeerPolicy::Ask => Verdict::Ask,
            PeerPolicy::Closed => Verdict::Refuse(link::refused(own)),
        },
    };
    Ok((verdict, invited))
}

pub(super) async fn write(
    inner: &Peers,
    taken: Taken<'_>,
    own: &PodRow,
    held: Option<Held>,
    far: Vec<FarChange>,
    events: impl IntoIterator<Item = ControlEvent>,
) -> Result<(), ApiError> {
    let events: Vec<_> = events.into_iter().collect();
    let orders = held.into_iter().map(|held| (held, Wanted { events: events.clone(), ..Wanted::default() })).collect();
    let far = std::iter::once(taken.change()).chain(far).collect();
    inner.pods.commit_together(orders, Together { far, ..Together::default() }).await?;
    inner.list.tell_changed(&own.worker_id);
    Ok(())
}

pub(super) async fn hold(inner: &Peers, own: &PodRow) -> Result<Held, ApiError> {
    let mut holding = inner.pods.hold(&[&own.worker_id]).await?;
    holding.remove(&own.worker_id).ok_or_else(|| error::no_such_pod(&own.worker_id))
}

/// It is about the Pod that is meant, and stays so: the other side is told.
pub(super) fn is_of_the_pod(error: &ApiError) -> bool {
    matches!(error.code, ErrorCode::PodNotFound | ErrorCode::NotRestorable)
}
