//! Waiting a moment for what the other store says, so that who asked hears it at once. What is not said by then comes
//! by itself, as records.

use std::time::Duration;

use pod_store::{FarMessageRow, FarPeerRow, FarState, PodKey};
use protocol::{ApiError, ErrorCode, PeerLink, ReceiptState};

use super::Reason;
use crate::{Introduced, error, host::Inner};

/// How long an introduction is waited for.
pub(super) const HANDSHAKE_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long it is waited for what becomes of a message.
pub(super) const MESSAGE_WAIT_MAX: Duration = Duration::from_secs(2);
/// Another process on the same database moves no watch of ours.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Looks until there is something to say or the time is over; then gives what the last look found.
async fn until<T>(
    inner: &Inner,
    limit: Duration,
    is_over: impl Fn(&T) -> bool,
    mut look: impl AsyncFnMut() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let ends = tokio::time::Instant::now() + limit;
    let mut moved = inner.store.far_moved();
    loop {
        moved.mark_unchanged();
        let found = look().await?;
        if is_over(&found) || tokio::time::Instant::now() >= ends || inner.stopping.is_cancelled() {
            return Ok(found);
        }
        // The sender lives as long as the store that we hold.
        let _ = tokio::time::timeout(LOOK_EVERY, moved.changed()).await;
    }
}

/// What an introduction has come to.
pub(super) async fn introduced(inner: &Inner, store: &str, introduced: Introduced) -> Result<Introduced, ApiError> {
    let Some(handshake) = introduced.answer.request_id.clone() else { return Ok(introduced) };
    let limit = if inner.far_is_reachable(store) { HANDSHAKE_WAIT_MAX } else { Duration::ZERO };
    let is_over = |row: &Option<FarPeerRow>| row.as_ref().is_none_or(|row| row.state != FarState::Proposed);
    let look = async || inner.store.far_peer_of(store, &handshake).await.map_err(error::store_failed);
    let Introduced { mut answer, stood } = introduced;
    match until(inner, limit, is_over, look).await?.map(|row| row.state) {
        Some(FarState::Linked) => (answer.state, answer.request_id) = (PeerLink::Linked, None),
        Some(_) => answer.state = PeerLink::Pending,
        // Refused, or it has gone its way: linked under the other side's handshake, withdrawn, ended.
        None => match inner.far.refusal(&handshake) {
            Some(error) => return Err(error),
            None => answer.state = linked_otherwise(inner, &answer).await?,
        },
    }
    Ok(Introduced { answer, stood })
}

async fn linked_otherwise(inner: &Inner, answer: &protocol::PeerAnswer) -> Result<PeerLink, ApiError> {
    let own = inner.existing_row(&answer.source.worker_id).await?;
    let row = super::row_at(inner, own.key, &answer.peer).await?;
    Ok(match row {
        Some(row) if row.state == FarState::Linked => PeerLink::Linked,
        _ => PeerLink::Pending,
    })
}

/// What has become of a message that was put out: where it is, and why. What was refused is an error.
pub(super) async fn message(
    inner: &Inner,
    pod: PodKey,
    id: &str,
    limit: Duration,
    is_over: impl Fn(&FarMessageRow) -> bool,
) -> Result<(ReceiptState, Option<String>), ApiError> {
    let gone = || ApiError::new(ErrorCode::PodNotFound, "the Pod was deleted");
    let look = async || inner.store.far_message(pod, id).await.map_err(error::store_failed)?.ok_or_else(gone);
    let row = until(inner, limit, is_over, look).await?;
    let reason = Reason::of(&row);
    match (row.state, reason) {
        (ReceiptState::Refused, Some(Reason { code, sentence })) => {
            Err(ApiError::new(code.unwrap_or(ErrorCode::PeerRefused), sentence))
        }
        (state, reason) => Ok((state, reason.map(|reason| reason.sentence))),
    }
}

/// The other side has said something of it.
pub(super) fn is_told(row: &FarMessageRow) -> bool {
    row.state != ReceiptState::Stored || row.reason.is_none()
}
