//! Taking in an item from another store: validated like any outside input, and applied once.

use pod_store::{Batch, FarChange};
use protocol::{ApiError, ErrorCode, LinkNews, MESSAGE_BYTES_MAX};

use super::{
    Proposal, card_change, greet, held, invited, message,
    said::{Said, said},
};
use crate::peers::{Peers, link};

/// The most characters of an id that another store chose.
const ID_CHARS_MAX: usize = 100;
/// The most characters of a person's name, and of a sentence.
const BY_CHARS_MAX: usize = 200;
const SENTENCE_CHARS_MAX: usize = 2_000;

/// The item being taken: its store and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken<'a> {
    pub(super) store: &'a str,
    pub(super) seq: i64,
}

impl Taken<'_> {
    /// Marks the item as taken; belongs in the transaction that applies it.
    pub(super) fn change(&self) -> FarChange {
        FarChange::Took { store: self.store.to_owned(), seq: self.seq }
    }

    /// Applies an item that touches no journal.
    pub(super) async fn commit(&self, peers: &Peers, changes: Vec<FarChange>) -> Result<(), ApiError> {
        let far = std::iter::once(self.change()).chain(changes).collect();
        Ok(peers.store.commit(Batch { far, ..Batch::default() }).await.map(drop)?)
    }
}

/// Refuses what no yoi would send, before anything is looked up.
pub(super) fn check(news: &LinkNews) -> Result<(), ApiError> {
    match news {
        LinkNews::Propose { handshake, by, note, from, .. } | LinkNews::Invite { handshake, by, note, from, .. } => {
            check_ids(&[handshake])?;
            check_card(from)?;
            check_said(by, note.as_deref())
        }
        LinkNews::Accepted { handshake, card, by } => {
            check_ids(&[handshake])?;
            check_card(card)?;
            check_said(by, None)
        }
        LinkNews::Asked { handshake, card } => check_ids(&[handshake]).and_then(|()| check_card(card)),
        LinkNews::Refused { handshake, sentence, .. } => {
            check_ids(&[handshake]).and_then(|()| check_text("a sentence", sentence, SENTENCE_CHARS_MAX))
        }
        LinkNews::Declined { handshake, by, note }
        | LinkNews::Withdraw { handshake, by, note }
        | LinkNews::Unlinked { handshake, by, note } => {
            check_ids(&[handshake]).and_then(|()| check_said(by, note.as_deref()))
        }
        LinkNews::Message { message_id, text, .. } => match text.len() > MESSAGE_BYTES_MAX {
            true => Err(ApiError::new(
                ErrorCode::PayloadTooLarge,
                format!("the message has {} bytes; at most {MESSAGE_BYTES_MAX} fit", text.len()),
            )),
            false => check_ids(&[message_id]),
        },
        LinkNews::Receipt { message_id, reason, .. } => {
            let reason = reason.as_deref().unwrap_or_default();
            check_ids(&[message_id]).and_then(|()| check_text("a reason", reason, SENTENCE_CHARS_MAX))
        }
        LinkNews::Decision { message_id, .. } => check_ids(&[message_id]),
        LinkNews::Card { card } => check_card(card),
    }
}

fn check_ids(ids: &[&str]) -> Result<(), ApiError> {
    let fits = |id: &&&str| {
        (1..=ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match ids.iter().all(|id| fits(&id)) {
        true => Ok(()),
        false => Err(ApiError::invalid(format!("an id is 1 to {ID_CHARS_MAX} characters of A-Z, a-z, 0-9 and -"))),
    }
}

fn check_card(card: &protocol::LinkCard) -> Result<(), ApiError> {
    let reason = card.state_reason.as_deref().unwrap_or_default();
    check_text("a reason", reason, SENTENCE_CHARS_MAX)?;
    check_text("a provider", &card.provider, BY_CHARS_MAX)?;
    check_text("a model", &card.model, BY_CHARS_MAX)
}

fn check_said(by: &str, note: Option<&str>) -> Result<(), ApiError> {
    check_text("a name", by, BY_CHARS_MAX)?;
    check_text("a note", note.unwrap_or_default(), link::NOTE_CHARS_MAX)
}

fn check_text(what: &str, text: &str, chars_max: usize) -> Result<(), ApiError> {
    match text.chars().count() > chars_max {
        true => Err(ApiError::new(ErrorCode::PayloadTooLarge, format!("{what} has at most {chars_max} characters"))),
        false => Ok(()),
    }
}

/// Applies one item that has been checked and is next in order.
pub(super) async fn take(peers: &Peers, taken: Taken<'_>, news: LinkNews) -> Result<(), ApiError> {
    match news {
        LinkNews::Propose { handshake, from, to, by, note } => {
            greet::propose(peers, taken, Proposal { handshake, from, to, by, note }).await
        }
        LinkNews::Invite { handshake, from, to, by, note } => {
            invited::invite(peers, taken, Proposal { handshake, from, to, by, note }).await
        }
        LinkNews::Accepted { handshake, card, by } => said(peers, taken, &handshake, Said::Accepted { card, by }).await,
        LinkNews::Asked { handshake, card } => said(peers, taken, &handshake, Said::Asked { card }).await,
        LinkNews::Refused { handshake, code, sentence } => {
            said(peers, taken, &handshake, Said::Refused(ApiError::new(code, sentence))).await
        }
        LinkNews::Declined { handshake, by, note } => said(peers, taken, &handshake, Said::Declined { by, note }).await,
        LinkNews::Withdraw { handshake, by, note } => said(peers, taken, &handshake, Said::Withdraw { by, note }).await,
        LinkNews::Unlinked { handshake, by, note } => said(peers, taken, &handshake, Said::Unlinked { by, note }).await,
        LinkNews::Message { message_id, from, to, text, hops } => {
            message::receive(peers, taken, message::Incoming { message_id, from, to, text, hops }).await
        }
        LinkNews::Receipt { message_id, from, to, state, turn, code, reason } => {
            let told = message::Told { message_id, from, to, state, turn, code, reason };
            message::told(peers, taken, told).await
        }
        LinkNews::Decision { message_id, from, to, decision } => {
            held::decided_there(peers, taken, &message_id, &from, &to, decision).await
        }
        LinkNews::Card { card } => {
            let known = peers.store.far().peers_all().await?;
            taken.commit(peers, vec![card_change(taken.store, &card)]).await?;
            for row in known.iter().filter(|row| row.store == taken.store && row.worker == card.worker_id) {
                if let Some(own) = peers.store.pods().find_by_key(row.pod).await? {
                    peers.list.tell_changed(&own.worker_id);
                }
            }
            Ok(())
        }
    }
}
