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
    inner: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    request_id: &str,
    decision: RequestDecision,
) -> Result<PeerAnswer, ApiError> {
    if let Some(answer) = asked.first_answer(inner).await? {
        return Ok(answer);
    }
    match far::decide_request(inner, asked, worker_id, request_id, decision).await? {
        Some(answer) => Ok(answer),
        None => requests::decide_request(inner, asked, worker_id, request_id, decision).await,
    }
}

/// Releases or drops a message that is held; on either side.
pub(crate) async fn decide_held(
    inner: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    message_id: &str,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    if let Some(answer) = asked.first_answer(inner).await? {
        return Ok(answer);
    }
    match far::decide_held(inner, asked, worker_id, message_id, decision).await? {
        Some(answer) => Ok(answer),
        None => held::decide_held(inner, asked, worker_id, message_id, decision).await,
    }
}

/// Whom a Pod knows, and what is asked: links first, then requests, each oldest first; and those of other stores.
pub(crate) async fn of_pod(inner: &Peers, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let mut peers = list::of_pod(inner, &row).await?;
    peers.extend(far::peer_views(inner, row.key).await?);
    Ok(peers)
}

/// Every request that waits for an answer, oldest first.
pub(crate) async fn open_requests(inner: &Peers) -> Result<Vec<OpenRequest>, ApiError> {
    let mut open = list::open_requests(inner).await?;
    open.extend(far::open_requests(inner).await?);
    open.sort_by_key(|request| request.at);
    Ok(open)
}

/// Ends the requests whose time is over; both sides are told.
pub(crate) async fn expire(inner: &Peers) {
    far::expire(inner).await;
    requests::expire(inner).await;
}

/// Ends what two Pods are to each other: a link, or a request that waits. What is not there needs no end.
pub(crate) async fn unlink(
    inner: &Peers,
    asked: &Asked<'_>,
    own: &WorkerId,
    other: &PodRef,
    note: Option<&str>,
) -> Result<(), ApiError> {
    if let Some(()) = asked.first_answer(inner).await? {
        return Ok(());
    }
    let own = inner.existing_row(own).await?;
    match other.runtime_id == RuntimeId::local() {
        true => unlink::unlink(inner, Some(asked), &own, &other.worker_id, note).await,
        false => far::unlink(inner, Some(asked), &own, other, note).await,
    }
}

/// Ends all that a Pod is to others, before it goes; each of them is told.
pub(crate) async fn end_all(inner: &Peers, worker_id: &WorkerId) -> Result<(), ApiError> {
    let row = inner.existing_row(worker_id).await?;
    far::end_all(inner, &row).await?;
    for other in unlink::others(inner, row.key).await? {
        unlink::unlink(inner, None, &row, &other.worker_id, Some("deleted")).await?;
    }
    Ok(())
}

/// A Pod is linked to another one, or a request lies between them.
pub(crate) async fn knows_anybody(inner: &Peers, pod: PodKey) -> Result<bool, ApiError> {
    Ok(!unlink::others(inner, pod).await?.is_empty() || far::knows_anybody(inner, pod).await?)
}
