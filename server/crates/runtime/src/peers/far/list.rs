//! Far Pods in lists: as peers, as visible to a model, as askers, as the other side of an exchange.

use pod_store::{FarPeerRow, FarState, PodKey, PodRow};
use protocol::{
    ApiError, ErrorCode, ExchangeMessage, LinkCard, Listing, OpenRequest, PeerLink, PeerView, PodName, PodRef,
    PodState, RuntimeId, Visibility, VisiblePod,
};

use super::{Cards, pod_ref};
use crate::{
    clock,
    peers::{Peers, list},
    view,
};

/// A Pod's peers in other stores and its open requests with them; peers first, each oldest first.
pub(crate) async fn peer_views(peers: &Peers, pod: PodKey) -> Result<Vec<PeerView>, ApiError> {
    let rows = peers.store.far().peers(pod).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let cards = Cards::read(peers).await?;
    let now = clock::now();
    let rows = rows.into_iter().filter(|row| row.expires_at.is_none_or(|at| at > now));
    let (linked, pending): (Vec<_>, Vec<_>) = rows.partition(|row| row.state == FarState::Linked);
    Ok(linked.into_iter().chain(pending).map(|row| peer_view(peers, &cards, row)).collect())
}

fn peer_view(peers: &Peers, cards: &Cards, row: FarPeerRow) -> PeerView {
    let link = match row.state {
        FarState::Linked if peers.far_is_known(&row.store) => PeerLink::Linked,
        FarState::Linked => PeerLink::OneSided,
        _ => PeerLink::Pending,
    };
    PeerView {
        pod: pod_ref(peers, &row),
        name: cards.name(&row),
        state: state_now(peers, cards, &row),
        link,
        request_id: (row.state != FarState::Linked).then_some(row.handshake),
        is_asked: row.state == FarState::Asked,
        note: row.note.filter(|_| row.state != FarState::Linked),
        since: row.since,
        by: row.by,
    }
}

/// Its last known state, as long as its runtime answers.
fn state_now(peers: &Peers, cards: &Cards, row: &FarPeerRow) -> PodState {
    match cards.get(row) {
        Some(card) if peers.far_is_reachable(&row.store) => card.state,
        _ => PodState::Unreachable,
    }
}

/// The far peers that a model sees.
pub(crate) async fn visible(peers: &Peers, pod: PodKey) -> Result<Vec<(FarPeerRow, VisiblePod)>, ApiError> {
    let rows = peers.store.far().peers(pod).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let cards = Cards::read(peers).await?;
    // A Pod whose runtime was removed from this server can take no messages, so a model has no use for it.
    let linked = rows.into_iter().filter(|row| row.state == FarState::Linked && peers.far_is_known(&row.store));
    Ok(linked.map(|row| (row.clone(), visible_one(peers, &cards, &row))).collect())
}

fn visible_one(peers: &Peers, cards: &Cards, row: &FarPeerRow) -> VisiblePod {
    let state = state_now(peers, cards, row);
    let card: Option<&LinkCard> = cards.get(row);
    VisiblePod {
        name: cards.name(row),
        pod: pod_ref(peers, row),
        visibility: vec![Visibility::Peer],
        state,
        restorable: false,
        reason: card.and_then(|card| card.state_reason.clone()).filter(|_| state != PodState::Unreachable),
        scope: Vec::new(),
        children: card.map_or(0, |card| card.children),
    }
}

/// Every request from another store that waits for an answer here.
pub(crate) async fn open_requests(peers: &Peers) -> Result<Vec<OpenRequest>, ApiError> {
    let rows = peers.store.far().peers_all().await?;
    let now = clock::now();
    let mut open = Vec::new();
    for row in rows.into_iter().filter(|row| row.state == FarState::Asked) {
        let Some(expires_at) = row.expires_at.filter(|at| *at > now) else { continue };
        let Some(own) = peers.store.pods().find_by_key(row.pod).await? else { continue };
        open.push(OpenRequest {
            request_id: row.handshake.clone(),
            from: pod_ref(peers, &row),
            from_name: super::name_of(peers, &row.store, &row.worker).await?,
            to: view::pod_ref(&own),
            to_name: own.name,
            note: row.note,
            at: row.since,
            expires_at,
        });
    }
    Ok(open)
}

/// The messages between a Pod and a far one, newest first.
pub(crate) async fn exchange(
    peers: &Peers,
    own: &PodRow,
    peer: &PodRef,
    before: Option<&str>,
    limit: u32,
) -> Result<Listing<ExchangeMessage>, ApiError> {
    let before = before.map(list::read_cursor).transpose()?;
    let Some(store) = store_of(peers, own, peer).await? else {
        let sentence = format!("no runtime is called \"{}\" here", peer.runtime_id);
        return Err(ApiError::new(ErrorCode::RuntimeNotFound, sentence));
    };
    let rows = peers.store.far().messages(own.key, &store, &peer.worker_id, before, limit).await?;
    let messages = rows.into_iter().map(|row| {
        let (here, there) = (view::pod_ref(own), peer.clone());
        let (from, to) = if row.is_outgoing { (here, there) } else { (there, here) };
        ExchangeMessage {
            from,
            to,
            message_id: row.id,
            text: row.text,
            hops: row.hops,
            state: row.state,
            turn: row.turn,
            at: row.at,
        }
    });
    Ok(list::page(messages, limit))
}

/// The store of a far Pod: that of the pair, or the store that has this name now.
async fn store_of(peers: &Peers, own: &PodRow, peer: &PodRef) -> Result<Option<String>, ApiError> {
    if let Some(row) = super::row_at(peers, own.key, peer).await? {
        return Ok(Some(row.store));
    }
    let names = peers.far.names.borrow();
    Ok(names.iter().find(|(_, name)| name.runtime_id == peer.runtime_id).map(|(store, _)| store.clone()))
}

/// How a model or a person addresses a far Pod when another Pod has the same name.
pub(crate) fn address(name: &PodName, runtime_id: &RuntimeId) -> String {
    format!("{name}@{runtime_id}")
}
