//! Peers: how Pods become peers, and messages between them.
//!
//! A pair of peers in one store is one row there, written in the transaction that writes both journals, so it cannot be
//! one-sided. What two stores tell each other about a pair is in `far`. Becoming peers is metadata: it touches no
//! conversation and starts no run.

mod deliver;
pub(crate) mod far;
mod guard;
mod handshake;
mod held;
mod link;
mod list;
mod message;
mod requests;
mod unlink;

use std::ops::Deref;
use std::sync::Arc;

use pod_store::{PodKey, PodRow};
use protocol::{
    ApiError, HeldDecision, MessageAnswer, OpenRequest, PeerAnswer, PeerLabel, PeerView, PodRef, RequestDecision,
    RuntimeId, WorkerId,
};

pub use self::{
    far::{FarName, FarNames, FarPod, link_card},
    link::Introduced,
};
pub(crate) use self::{
    link::introduce,
    list::exchange,
    message::{Cause, Outgoing, send},
};
use crate::{
    asked::Asked,
    ground::Ground,
    hold::Pods,
    view::{self, peer_label},
};

/// Carries out what concerns the peers of the Pods here.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) ground: Arc<Ground>,
    pub(crate) pods: Box<dyn Pods>,
    pub(crate) far: far::Far,
}

impl Deref for Peers {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

/// How records name the Pod of a row.
fn label_of_row(row: &PodRow) -> PeerLabel {
    peer_label(&view::label(row))
}

/// Accepts or declines a request that was made to this Pod, from any store.
pub(crate) async fn decide_request(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    request_id: &str,
    decision: RequestDecision,
) -> Result<PeerAnswer, ApiError> {
    if let Some(answer) = asked.first_answer(peers).await? {
        return Ok(answer);
    }
    match far::decide_request(peers, asked, worker_id, request_id, decision).await? {
        Some(answer) => Ok(answer),
        None => requests::decide_request(peers, asked, worker_id, request_id, decision).await,
    }
}

/// Releases or drops a held message; either side may do so.
pub(crate) async fn decide_held(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    message_id: &str,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    if let Some(answer) = asked.first_answer(peers).await? {
        return Ok(answer);
    }
    match far::decide_held(peers, asked, worker_id, message_id, decision).await? {
        Some(answer) => Ok(answer),
        None => held::decide_held(peers, asked, worker_id, message_id, decision).await,
    }
}

/// The peers of a Pod and its open requests: peers first, then requests, each oldest first; then the same for other
/// stores.
pub(crate) async fn of_pod(peers: &Peers, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
    let row = peers.existing_row(worker_id).await?;
    let mut known = list::of_pod(peers, &row).await?;
    known.extend(far::peer_views(peers, row.key).await?);
    Ok(known)
}

/// Every open peer request, oldest first.
pub(crate) async fn open_requests(peers: &Peers) -> Result<Vec<OpenRequest>, ApiError> {
    let mut open = list::open_requests(peers).await?;
    open.extend(far::open_requests(peers).await?);
    open.sort_by_key(|request| request.at);
    Ok(open)
}

/// Ends the expired requests; both sides are told.
pub(crate) async fn expire(peers: &Peers) {
    far::expire(peers).await;
    requests::expire(peers).await;
}

/// Ends a pair of peers or an open request. If there is neither, does nothing.
pub(crate) async fn unlink(
    peers: &Peers,
    asked: &Asked<'_>,
    own: &WorkerId,
    other: &PodRef,
    note: Option<&str>,
) -> Result<(), ApiError> {
    if let Some(()) = asked.first_answer(peers).await? {
        return Ok(());
    }
    let own = peers.existing_row(own).await?;
    match other.runtime_id == RuntimeId::local() {
        true => unlink::unlink(peers, Some(asked), &own, &other.worker_id, note).await,
        false => far::unlink(peers, Some(asked), &own, other, note).await,
    }
}

/// Ends all pairs and requests of a Pod before it is deleted; each other side is told.
pub(crate) async fn end_all(peers: &Peers, worker_id: &WorkerId) -> Result<(), ApiError> {
    let row = peers.existing_row(worker_id).await?;
    far::end_all(peers, &row).await?;
    for other in unlink::others(peers, row.key).await? {
        unlink::unlink(peers, None, &row, &other.worker_id, Some("deleted")).await?;
    }
    Ok(())
}

/// Whether a Pod has a peer or an open peer request.
pub(crate) async fn knows_anybody(peers: &Peers, pod: PodKey) -> Result<bool, ApiError> {
    Ok(!unlink::others(peers, pod).await?.is_empty() || far::knows_anybody(peers, pod).await?)
}
