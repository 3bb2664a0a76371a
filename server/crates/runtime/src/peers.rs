//! Pods that know each other: introductions, and messages between them.
//!
//! A pair of one store is one row in it, written in the transaction that writes both journals, so one-sided cannot happen. What
//! two stores tell each other of a pair is `far`. An introduction is metadata: it touches no conversation and starts no run.

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

/// What carries introductions and messages of the Pods here.
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

/// Accepts or declines a request that was made to this Pod, from wherever.
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

/// Releases or drops a message that is held; on either side.
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

/// Whom a Pod knows, and what is asked: links first, then requests, each oldest first; and those of other stores.
pub(crate) async fn of_pod(peers: &Peers, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
    let row = peers.existing_row(worker_id).await?;
    let mut known = list::of_pod(peers, &row).await?;
    known.extend(far::peer_views(peers, row.key).await?);
    Ok(known)
}

/// Every request that waits for an answer, oldest first.
pub(crate) async fn open_requests(peers: &Peers) -> Result<Vec<OpenRequest>, ApiError> {
    let mut open = list::open_requests(peers).await?;
    open.extend(far::open_requests(peers).await?);
    open.sort_by_key(|request| request.at);
    Ok(open)
}

/// Ends the requests whose time is over; both sides are told.
pub(crate) async fn expire(peers: &Peers) {
    far::expire(peers).await;
    requests::expire(peers).await;
}

/// Ends what two Pods are to each other: a link, or a request that waits. What is not there needs no end.
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

/// Ends all that a Pod is to others, before it goes; each of them is told.
pub(crate) async fn end_all(peers: &Peers, worker_id: &WorkerId) -> Result<(), ApiError> {
    let row = peers.existing_row(worker_id).await?;
    far::end_all(peers, &row).await?;
    for other in unlink::others(peers, row.key).await? {
        unlink::unlink(peers, None, &row, &other.worker_id, Some("deleted")).await?;
    }
    Ok(())
}

/// A Pod is linked to another one, or a request lies between them.
pub(crate) async fn knows_anybody(peers: &Peers, pod: PodKey) -> Result<bool, ApiError> {
    Ok(!unlink::others(peers, pod).await?.is_empty() || far::knows_anybody(peers, pod).await?)
}
