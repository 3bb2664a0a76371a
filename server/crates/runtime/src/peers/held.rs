//! Messages that are held: a person on either side releases or drops them.

use std::sync::Arc;

use pod::Input;
use pod_store::{CommandRow, Committed, MessageChange};
use protocol::{ApiError, ControlEvent, ErrorCode, HeldDecision, MessageAnswer, PodState, ReceiptState, WorkerId};

use super::{
    link::{label_of, read},
    message::peer_message,
};
use crate::{
    clock,
    create::audit,
    error,
    hold::{Together, Wanted},
    host::Inner,
    lead::Asked,
    pod_task,
};

pub(crate) async fn decide_held(
    inner: &Arc<Inner>,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    message_id: &str,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    if let Some(row) = inner.store.command_find(&asked.key.id).await.map_err(error::store_failed)? {
        return read(&pod_task::repeated(row, &asked.key)?);
    }
    let own = inner.existing_row(worker_id).await?;
    let unknown =
        || ApiError::new(ErrorCode::NotFound, format!("this Pod has no message with the id \"{message_id}\""));
    let find = || async { inner.store.message(message_id).await.map_err(error::store_failed) };
    let row = find().await?.filter(|row| row.sender == own.key || row.receiver == own.key).ok_or_else(unknown)?;
    let by_key = |key| async move { inner.store.pod_find_by_key(key).await.map_err(error::store_failed) };
    let sender = by_key(row.sender).await?.ok_or_else(unknown)?;
    let receiver = by_key(row.receiver).await?.ok_or_else(unknown)?;
    let mut holding = inner.hold(&[&sender.worker_id, &receiver.worker_id]).await?;
    let row = find().await?.ok_or_else(unknown)?;
    if row.state != ReceiptState::Held {
        let sentence = "the message is not held; it was delivered, released or dropped before";
        return Err(ApiError::new(ErrorCode::AlreadyAnswered, sentence));
    }
    let from = holding.remove(&sender.worker_id).ok_or_else(unknown)?;
    let to = holding.remove(&receiver.worker_id).ok_or_else(unknown)?;
    let state = match decision {
        HeldDecision::Release => ReceiptState::Stored,
        HeldDecision::Drop => ReceiptState::Refused,
    };
    if state == ReceiptState::Stored && !to.pod.state.is_live() {
        let sentence = format!("pod \"{}\" is stopped; restore it first", receiver.name);
        return Err(ApiError::new(ErrorCode::NotLive, sentence));
    }
    let now = clock::now();
    let wakes = to.spec.wake_on_peer;
    let woke = state == ReceiptState::Stored && wakes && to.pod.state == PodState::Idle;
    let receipt = |peer| ControlEvent::MessageReceipt { message_id: row.id.clone(), peer, state, turn: None };
    let inputs = match state {
        ReceiptState::Stored => {
            vec![Input::Mail { events: vec![peer_message(&row.id, &row.text, &sender, row.hops)], wakes }]
        }
        _ => vec![Input::Note(vec![receipt(label_of(&from))])],
    };
    let told = receipt(label_of(&to));
    let answer = MessageAnswer { message_id: row.id.clone(), state };
    let together = Together {
        command: Some(CommandRow {
            id: asked.key.id.clone(),
            fingerprint: asked.key.fingerprint,
            answer: serde_json::to_string(&answer).expect("an answer always encodes"),
            at: now,
        }),
        audit: Some(audit(now, asked.origin, "message_decide", row.id.clone())),
        messages: vec![MessageChange::State { id: row.id.clone(), state, turn: None, woke, at: now }],
        ..Together::default()
    };
    let orders =
        vec![(to, Wanted { inputs, ..Wanted::default() }), (from, Wanted { events: vec![told], ..Wanted::default() })];
    match inner.commit_together(orders, together).await? {
        Committed::Done { .. } => Ok(answer),
        Committed::Repeated(row) => read(&pod_task::repeated(row, &asked.key)?),
    }
}
