//! Sends a message from one Pod to a peer: written to both journals and the store in one transaction, or not at all.

use pod_store::{Committed, MessageChange, MessageRow, NewMessage, PeerChange};
use protocol::{ApiError, ErrorCode, MessageAnswer, ReceiptState, WorkerId};

use super::{
    deliver::{Delivery, Pair},
    guard::{self, Verdict},
};
use crate::{Origin, asked::Asked, clock, command::audit, hold::Together, peers::Peers, view};

/// An outgoing message.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) sender: &'a WorkerId,
    pub(crate) receiver: &'a WorkerId,
    pub(crate) text: &'a str,
    pub(crate) cause: Cause<'a>,
}

/// What caused it.
#[derive(Debug, Clone)]
pub(crate) enum Cause<'a> {
    /// A call of the Pod's tool, by its model in the current run or by a person.
    Call { call_id: &'a str, origin: &'a Origin },
    /// A person's command.
    Person(Asked<'a>),
}

impl Cause<'_> {
    /// Unique for the sender, so that a repeat does not send the message again. A person's key cannot be mistaken for a
    /// call.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Call { call_id, .. } => (*call_id).to_owned(),
            Self::Person(asked) => format!("operator:{}", asked.key.id),
        }
    }

    /// The message's automatic steps. A person's message counts none, whatever the Pod is doing.
    pub(crate) fn hops(&self, sender: &pod::Pod) -> u32 {
        match self {
            Self::Call { call_id, .. } => sender.hops_of_call(call_id),
            Self::Person(_) => 0,
        }
    }

    pub(crate) fn together(&self, target: String, answer: &MessageAnswer) -> Together {
        match self {
            Self::Person(asked) => asked.together("message", target, answer),
            Self::Call { origin, .. } => {
                let audit = audit(clock::now(), origin, "message", target);
                Together { audit: vec![audit], ..Together::default() }
            }
        }
    }
}

/// Sends the message, or returns the first answer again, with the reason if the message is held. Success means that the
/// message is on the receiver's disk.
pub(crate) async fn send(peers: &Peers, outgoing: Outgoing<'_>) -> Result<(MessageAnswer, Option<String>), ApiError> {
    let Outgoing { sender, receiver, text, cause } = outgoing;
    if let Cause::Person(asked) = &cause
        && let Some(answer) = asked.first_answer(peers).await?
    {
        return Ok((answer, None));
    }
    check(text)?;
    let (own, other) = (peers.existing_row(sender).await?, peers.existing_row(receiver).await?);
    if own.key == other.key {
        return Err(ApiError::new(ErrorCode::PeerSelf, "a Pod cannot write to itself"));
    }
    if let Some(known) = peers.store.messages().of_call(own.key, &cause.id()).await? {
        return Ok((answer_of(&known), None));
    }
    let holding = peers.pods.hold(&[sender, receiver]).await?;
    let link = peers.store.peers().link(own.key, other.key).await?;
    let link = link.ok_or_else(|| {
        let sentence = format!("pod \"{}\" is not a peer of \"{}\"; make them peers first", other.name, own.name);
        ApiError::new(ErrorCode::NotVisible, sentence)
    })?;
    let pair = Pair::of(holding, &own, &other)?;
    pair.check_sender()?;
    pair.check_receiver()?;
    let now = clock::now();
    let hops = cause.hops(pair.sender());
    let Verdict { held, pace_level } = guard::verdict(peers, &link, other.key, hops, now).await?;
    let state = if held.is_some() { ReceiptState::Held } else { ReceiptState::Stored };
    let message = NewMessage {
        id: format!("message-{}", uuid::Uuid::now_v7()),
        sender: own.key,
        receiver: other.key,
        call_id: cause.id(),
        text: text.to_owned(),
        hops,
        state,
        woke: pair.wakes(state),
        at: now,
    };
    let answer = MessageAnswer { message_id: message.id.clone(), state };
    let orders = pair.orders(&Delivery { message_id: &message.id, text, hops, state, reason: held.clone() });
    let together = Together {
        peers: vec![PeerChange::Pace { a: own.key, b: other.key, level: pace_level, at: now }],
        messages: vec![MessageChange::Put(message)],
        ..cause.together(format!("{} {}", view::pod_ref(&own), view::pod_ref(&other)), &answer)
    };
    match (peers.pods.commit_together(orders, together).await?, &cause) {
        // The same command was carried out at the same time by somebody else.
        (Committed::Repeated(row), Cause::Person(asked)) => Ok((asked.repeated(row)?, None)),
        _ => Ok((answer, held)),
    }
}

fn answer_of(row: &MessageRow) -> MessageAnswer {
    let state = if row.state == ReceiptState::Held { ReceiptState::Held } else { ReceiptState::Stored };
    MessageAnswer { message_id: row.id.clone(), state }
}

pub(crate) fn check(text: &str) -> Result<(), ApiError> {
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
