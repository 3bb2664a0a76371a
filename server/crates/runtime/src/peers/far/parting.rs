//! Ending requests and pairs on this side: by a person, by expiry, or with the Pod. The other store is told in the same
//! transaction.

use pod_store::{FarChange, FarPeerRow, PodKey, PodRow};
use protocol::{ApiError, ControlEvent, LinkNews, PeerLabel, PodRef};

use super::{
    super::handshake::{Ending, News, Step, decide},
    known_label, pod_ref, put_out, remove, standing,
};
use crate::{
    asked::Asked,
    clock,
    hold::{Together, Wanted},
    peers::{Peers, requests},
    view,
};

/// Ends a pair of peers or an open request, whichever side began it.
pub(crate) async fn unlink(
    peers: &Peers,
    asked: Option<&Asked<'_>>,
    own: &PodRow,
    peer: &PodRef,
    note: Option<&str>,
) -> Result<(), ApiError> {
    let by = asked.map_or_else(|| "yoi".to_owned(), |asked| asked.origin.by.clone());
    let is_meant = |row: &FarPeerRow| pod_ref(peers, row) == *peer;
    let address = format!("{} {peer}", view::pod_ref(own));
    let together = asked.map(|asked| asked.together("unpeer", address, &())).unwrap_or_default();
    end(peers, own, is_meant, &by, note, together).await
}

/// Ends the matching row, if there still is one when the Pod is held.
async fn end(
    peers: &Peers,
    own: &PodRow,
    is_meant: impl Fn(&FarPeerRow) -> bool,
    by: &str,
    note: Option<&str>,
    together: Together,
) -> Result<(), ApiError> {
    // A Pod whose record cannot be read cannot be told, but the other side is released nevertheless.
    let held = match view::open(own) {
        Ok(_) => peers.pods.hold(&[&own.worker_id]).await?.remove(&own.worker_id),
        Err(_) => None,
    };
    let rows = peers.store.far().peers(own.key).await?;
    let (mut far, mut events) = (together.far, Vec::new());
    if let Some(row) = rows.into_iter().find(is_meant) {
        let peer = known_label(peers, &row.store, &row.worker).await?;
        let (change, event) = ended(&row, peer, by, note);
        far.extend(change);
        events.extend(event);
    }
    let orders = held.map(|held| (held, Wanted { events, ..Wanted::default() })).into_iter().collect();
    peers.pods.commit_together(orders, Together { far, ..together }).await?;
    peers.list.tell_changed(&own.worker_id);
    Ok(())
}

/// The changes that end it, here and there.
pub(super) fn ended(
    row: &FarPeerRow,
    peer: PeerLabel,
    by: &str,
    note: Option<&str>,
) -> (Vec<FarChange>, Option<ControlEvent>) {
    let Step::End(ending) = decide(standing(Some(row)), News::End) else { return (Vec::new(), None) };
    let (handshake, by, note) = (row.handshake.clone(), by.to_owned(), ending.note(note));
    let event = ending.event(peer, by.clone(), Some(handshake.clone()), note.clone());
    let news = match ending {
        Ending::Unlinked => LinkNews::Unlinked { handshake, by, note },
        Ending::Withdrawn => LinkNews::Withdraw { handshake, by, note },
        Ending::Declined => LinkNews::Declined { handshake, by, note },
    };
    (vec![remove(row), put_out(&row.store, &news)], Some(event))
}

/// Ends expired requests; both sides are told.
pub(crate) async fn expire(peers: &Peers) {
    let rows = match peers.store.far().peers_all().await {
        Ok(rows) => rows,
        Err(error) => return tracing::warn!(%error, "could not look for expired peer requests"),
    };
    let now = clock::now();
    for row in rows.iter().filter(|row| row.expires_at.is_some_and(|at| at <= now)) {
        if let Err(error) = end_this(peers, row).await {
            tracing::warn!(%error, request = row.handshake, "could not end an expired peer request");
        }
    }
}

/// Ends exactly this request. If the two have become something else to each other meanwhile, that stays.
async fn end_this(peers: &Peers, row: &FarPeerRow) -> Result<(), ApiError> {
    let Some(own) = peers.store.pods().find_by_key(row.pod).await? else { return Ok(()) };
    let is_it = |known: &FarPeerRow| known.handshake == row.handshake && known.state == row.state;
    end(peers, &own, is_it, "yoi", Some(requests::EXPIRED), Together::default()).await
}

/// Ends all pairs and requests of a Pod with Pods of other stores before it is deleted; each of those is told.
pub(crate) async fn end_all(peers: &Peers, own: &PodRow) -> Result<(), ApiError> {
    for row in peers.store.far().peers(own.key).await? {
        unlink(peers, None, own, &pod_ref(peers, &row), Some("deleted")).await?;
    }
    Ok(())
}

pub(crate) async fn knows_anybody(peers: &Peers, pod: PodKey) -> Result<bool, ApiError> {
    Ok(!peers.store.far().peers(pod).await?.is_empty())
}
