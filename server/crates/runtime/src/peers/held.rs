//! Held messages: a person on either side releases or drops them.

use pod_store::{Committed, MessageChange, MessageRow, PodKey, PodRow};
use protocol::{ApiError, ErrorCode, HeldDecision, MessageAnswer, ReceiptState, WorkerId};

use super::deliver::{Delivery, Pair};
use crate::{asked::Asked, clock, error, hold::Together, peers::Peers};

/// Releases or drops a message between Pods of this store.
pub(super) async fn decide_held(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    message_id: &str,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    let own = peers.existing_row(worker_id).await?;
    let row = find(peers, &own, message_id).await?;
    let (sender, receiver) = (pod(peers, row.sender).await?, pod(peers, row.receiver).await?);
    let holding = peers.pods.hold(&[&sender.worker_id, &receiver.worker_id]).await?;
    let pair = Pair::of(holding, &sender, &receiver)?;
    // Somebody else may have decided while these two were being held.
    let row = find(peers, &own, message_id).await?;
    if row.state != ReceiptState::Held {
        return Err(error::not_held());
    }
    let state = match decision {
        HeldDecision::Release => {
            pair.check_receiver()?;
            ReceiptState::Stored
        }
        HeldDecision::Drop => ReceiptState::Refused,
    };
    let MessageRow { id, text, hops, .. } = row;
    let change = MessageChange::State { id: id.clone(), state, turn: None, woke: pair.wakes(state), at: clock::now() };
    let answer = MessageAnswer { message_id: id.clone(), state };
    let together = Together { messages: vec![change], ..asked.together("message_decide", id.clone(), &answer) };
    let orders = pair.orders(&Delivery { message_id: &id, text: &text, hops, state, reason: None });
    match peers.pods.commit_together(orders, together).await? {
        Committed::Done { .. } => Ok(answer),
        Committed::Repeated(row) => asked.repeated(row),
    }
}

/// A message from or to this Pod.
async fn find(peers: &Peers, own: &PodRow, message_id: &str) -> Result<MessageRow, ApiError> {
    let row = peers.store.messages().find(message_id).await?;
    row.filter(|row| row.sender == own.key || row.receiver == own.key).ok_or_else(|| {
        ApiError::new(ErrorCode::NotFound, format!("this Pod has no message with the id \"{message_id}\""))
    })
}

async fn pod(peers: &Peers, key: PodKey) -> Result<PodRow, ApiError> {
    let row = peers.store.pods().find_by_key(key).await?;
    row.ok_or_else(|| ApiError::new(ErrorCode::PodNotFound, "one of the two Pods was deleted"))
}
