//! Waits a moment for the other store's answer, so that the caller hears it at once. Later answers arrive as records.

use std::time::Duration;

use pod_store::{FarMessageRow, FarState, PodKey};
use protocol::{ApiError, ErrorCode, PeerLink, ReceiptState};

use super::Reason;
use crate::peers::{Introduced, Peers, requests};

/// How long to wait for the answer to a peer request.
pub(super) const HANDSHAKE_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long to wait for the state of a message.
pub(super) const MESSAGE_WAIT_MAX: Duration = Duration::from_secs(2);
/// Another process on the same database cannot signal our watch, so this polls.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Polls until there is an answer or the time is up.
struct Waiter {
    ends: tokio::time::Instant,
    moved: tokio::sync::watch::Receiver<()>,
}

impl Waiter {
    fn new(peers: &Peers, limit: Duration) -> Self {
        Self { ends: tokio::time::Instant::now() + limit, moved: peers.store.far().moved() }
    }

    /// Call this right before each look.
    fn look(&mut self) {
        self.moved.mark_unchanged();
    }

    /// Waits for a change. Returns whether to look again.
    async fn again(&mut self, peers: &Peers) -> bool {
        if tokio::time::Instant::now() >= self.ends || peers.stopping.is_cancelled() {
            return false;
        }
        // The sender lives as long as the store that we hold.
        let _ = tokio::time::timeout(LOOK_EVERY, self.moved.changed()).await;
        true
    }
}

/// The outcome of a peer request.
pub(super) async fn introduced(peers: &Peers, store: &str, introduced: Introduced) -> Result<Introduced, ApiError> {
    let Some(handshake) = introduced.answer.request_id.clone() else { return Ok(introduced) };
    let limit = if peers.far_is_reachable(store) { HANDSHAKE_WAIT_MAX } else { Duration::ZERO };
    let mut waiter = Waiter::new(peers, limit);
    let state = loop {
        waiter.look();
        let row = peers.store.far().peer_of(store, &handshake).await?;
        let state = row.map(|row| row.state);
        if state != Some(FarState::Proposed) || !waiter.again(peers).await {
            break state;
        }
    };
    let Introduced { mut answer, stood } = introduced;
    match state {
        Some(FarState::Linked) => (answer.state, answer.request_id) = (PeerLink::Linked, None),
        Some(_) => answer.state = PeerLink::Pending,
        // It was refused, or it is over: they are peers under the other side's handshake, or it was withdrawn or ended.
        None => match peers.far.refusal(&handshake) {
            Some(error) => return Err(error),
            None => answer.state = ended(peers, &answer, &handshake).await?,
        },
    }
    Ok(Introduced { answer, stood })
}

/// What the two are to each other once this request is no longer open.
async fn ended(peers: &Peers, answer: &protocol::PeerAnswer, handshake: &str) -> Result<PeerLink, ApiError> {
    let own = peers.existing_row(&answer.source.worker_id).await?;
    let row = super::row_at(peers, own.key, &answer.peer).await?;
    if row.is_some_and(|row| row.state == FarState::Linked) {
        return Ok(PeerLink::Linked);
    }
    Ok(requests::how_it_ended(peers, own.key, handshake).await?.unwrap_or(answer.state))
}

/// The state of an outgoing message, and why. A refusal is an error.
pub(super) async fn message(
    peers: &Peers,
    pod: PodKey,
    id: &str,
    limit: Duration,
    is_over: impl Fn(&FarMessageRow) -> bool,
) -> Result<(ReceiptState, Option<String>), ApiError> {
    let mut waiter = Waiter::new(peers, limit);
    let row = loop {
        waiter.look();
        let row = peers.store.far().message(pod, id).await?;
        let row = row.ok_or_else(|| ApiError::new(ErrorCode::PodNotFound, "the Pod was deleted"))?;
        if is_over(&row) || !waiter.again(peers).await {
            break row;
        }
    };
    let reason = Reason::of(&row);
    match (row.state, reason) {
        (ReceiptState::Refused, Some(Reason { code, sentence })) => {
            Err(ApiError::new(code.unwrap_or(ErrorCode::PeerRefused), sentence))
        }
        (state, reason) => Ok((state, reason.map(|reason| reason.sentence))),
    }
}

/// True once the other side has reported on it.
pub(super) fn is_told(row: &FarMessageRow) -> bool {
    row.state != ReceiptState::Sent
}
