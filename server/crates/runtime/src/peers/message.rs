//! A message from one Pod to a peer: in both journals and in the store, in one transaction, or not at all.

use std::sync::Arc;

use pod::Input;
use pod_store::{CommandRow, Committed, MessageChange, MessageRow, NewMessage, PeerChange, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, MessageAnswer, PodState, ReceiptState, TurnEvent, WorkerId};

use super::{guard, label_of_row, link::label_of};
use crate::{
    Origin, clock,
    create::audit,
    error,
    hold::{Together, Wanted},
    host::Inner,
    lead::Asked,
    pod_task, view,
};

/// A message on its way out.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) sender: &'a WorkerId,
    pub(crate) receiver: &'a WorkerId,
    pub(crate) text: &'a str,
    pub(crate) cause: Cause<'a>,
}

/// Who had it sent.
#[derive(Debug, Clone)]
pub(crate) enum Cause<'a> {
    /// The Pod's model, by this call, in the run that goes on.
    Call { call_id: &'a str, origin: &'a Origin },
    /// A person.
    Person(Asked<'a>),
}

impl Cause<'_> {
    /// Unique for the sender, so that what is done again is not sent again. A person's key is never taken for a call.
    fn id(&self) -> String {
        match self {
            Self::Call { call_id, .. } => (*call_id).to_owned(),
            Self::Person(asked) => format!("operator:{}", asked.key.id),
        }
    }
}

/// Sends, or gives the first answer again. Success means that it is on the disk at the receiver.
pub(crate) async fn send(
    inner: &Arc<Inner>,
    outgoing: Outgoing<'_>,
) -> Result<(MessageAnswer, Option<String>), ApiError> {
    let Outgoing { sender, receiver, text, cause } = outgoing;
    if let Cause::Person(asked) = &cause
        && let Some(row) = inner.store.command_find(&asked.key.id).await.map_err(error::store_failed)?
    {
        return Ok((super::link::read(&pod_task::repeated(row, &asked.key)?)?, None));
    }
    check(text)?;
    let (own, other) = (inner.existing_row(sender).await?, inner.existing_row(receiver).await?);
    if own.key == other.key {
        return Err(ApiError::new(ErrorCode::PeerSelf, "a Pod cannot write to itself"));
    }
    if let Some(known) = inner.store.message_of_call(own.key, &cause.id()).await.map_err(error::store_failed)? {
        return Ok((answer_of(&known), None));
    }
    let mut holding = inner.hold(&[sender, receiver]).await?;
    let pair = inner.store.peer_link(own.key, other.key).await.map_err(error::store_failed)?;
    let Some(pair) = pair else {
        let sentence = format!("pod \"{}\" is no peer of \"{}\"; introduce them first", other.name, own.name);
        return Err(ApiError::new(ErrorCode::NotVisible, sentence));
    };
    let missing = || error::no_such_pod(receiver);
    let to = holding.remove(receiver).ok_or_else(missing)?;
    let from = holding.remove(sender).ok_or_else(missing)?;
    if !from.pod.state.is_live() {
        let sentence = format!("pod \"{}\" is stopped; restore it first", own.name);
        return Err(ApiError::new(ErrorCode::NotLive, sentence));
    }
    if !to.pod.state.is_live() {
        let sentence = format!("{} is stopped, so nothing was sent; bring it back with RestorePod first", other.name);
        return Err(ApiError::new(ErrorCode::NotLive, sentence));
    }
    let now = clock::now();
    let hops = match &cause {
        Cause::Call { .. } => from.pod.hops,
        Cause::Person(_) => 0,
    };
    let verdict = guard::verdict(inner, &pair, other.key, hops, now).await?;
    let state = if verdict.held.is_some() { ReceiptState::Held } else { ReceiptState::Stored };
    let wakes = to.spec.wake_on_peer;
    let message = NewMessage {
        id: format!("message-{}", uuid::Uuid::now_v7()),
        sender: own.key,
        receiver: other.key,
        call_id: cause.id(),
        text: text.to_owned(),
        hops,
        state,
        woke: state == ReceiptState::Stored && wakes && to.pod.state == PodState::Idle,
        at: now,
    };
    let receipt = |peer| ControlEvent::MessageReceipt { message_id: message.id.clone(), peer, state, turn: None };
    let inputs = match state {
        ReceiptState::Stored => {
            vec![Input::Mail { events: vec![peer_message(&message.id, text, &own, hops)], wakes }]
        }
        _ => vec![Input::Note(vec![receipt(label_of(&from))])],
    };
    let told = receipt(label_of(&to));
    let answer = MessageAnswer { message_id: message.id.clone(), state };
    let (origin, command) = match &cause {
        Cause::Call { origin, .. } => (*origin, None),
        Cause::Person(asked) => (
            asked.origin,
            Some(CommandRow {
                id: asked.key.id.clone(),
                fingerprint: asked.key.fingerprint,
                answer: serde_json::to_string(&answer).expect("an answer always encodes"),
                at: now,
            }),
        ),
    };
    let together = Together {
        command,
        audit: Some(audit(now, origin, "message", format!("{} {}", view::pod_ref(&own), view::pod_ref(&other)))),
        peers: vec![PeerChange::Pace { a: own.key, b: other.key, level: verdict.pace_level, at: now }],
        messages: vec![MessageChange::Put(message)],
        ..Together::default()
    };
    let orders =
        vec![(to, Wanted { inputs, ..Wanted::default() }), (from, Wanted { events: vec![told], ..Wanted::default() })];
    match inner.commit_together(orders, together).await? {
        Committed::Done { .. } => Ok((answer, verdict.held)),
        // Somebody else asked for the same at the same time.
        Committed::Repeated(row) => match &cause {
            Cause::Person(asked) => Ok((super::link::read(&pod_task::repeated(row, &asked.key)?)?, None)),
            Cause::Call { .. } => Ok((answer, verdict.held)),
        },
    }
}

/// A message as it is in the receiver's journal.
pub(super) fn peer_message(message_id: &str, text: &str, from: &PodRow, hops: u32) -> TurnEvent {
    TurnEvent::PeerMessage { message_id: message_id.to_owned(), text: text.to_owned(), from: label_of_row(from), hops }
}

fn answer_of(row: &MessageRow) -> MessageAnswer {
    let state = if row.state == ReceiptState::Held { ReceiptState::Held } else { ReceiptState::Stored };
    MessageAnswer { message_id: row.id.clone(), state }
}

fn check(text: &str) -> Result<(), ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::invalid("the message is empty; write something"));
    }
    if text.len() > protocol::MESSAGE_BYTES_MAX {
        let sentence = format!(
            "the message has {} bytes; at most {} fit, and none was sent",
            text.len(),
            protocol::MESSAGE_BYTES_MAX
        );
        return Err(ApiError::new(ErrorCode::PayloadTooLarge, sentence));
    }
    Ok(())
}
