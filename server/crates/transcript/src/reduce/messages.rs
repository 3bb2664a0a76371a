//! Messages between Pods: their blocks, and their delivery.

use std::collections::HashMap;

use protocol::{ControlEvent, Record};

use crate::{
    BlockKind, Receipt,
    rows::{Key, Rows},
};

/// By message id.
#[derive(Debug, Clone, Default)]
pub(super) struct Messages(HashMap<String, Cards>);

/// The blocks that show one message.
#[derive(Debug, Clone, Copy, Default)]
struct Cards {
    /// The card with receipts, without the text.
    card: Option<Key>,
    peer: Option<Key>,
}

impl Messages {
    /// The message itself is in this block.
    pub(super) fn said(&mut self, rows: &mut Rows, message_id: &str, peer: Key) {
        let cards = self.0.entry(message_id.to_owned()).or_default();
        cards.peer = Some(peer);
        if let Some(card) = cards.card {
            deliver(rows, card);
        }
    }

    pub(super) fn receipt(&mut self, rows: &mut Rows, record: &Record, event: &ControlEvent) {
        let ControlEvent::MessageReceipt { message_id, peer, state, turn, reason } = event else { return };
        let receipt = Receipt { state: *state, turn: *turn, reason: reason.clone(), at: record.at };
        let cards = self.0.get(message_id).copied().unwrap_or_default();
        if let Some(block) = cards.peer.or(cards.card).and_then(|key| rows.edit(key)) {
            block.last_seq = record.seq;
            put_receipt(&mut block.kind, receipt);
            return;
        }
        let (message_id, peer) = (message_id.clone(), peer.clone());
        let kind = BlockKind::Message { message_id: message_id.clone(), peer, receipt, delivered: false };
        let key = rows.add_of(record, kind);
        self.0.entry(message_id).or_default().card = Some(key);
    }

    pub(super) fn join(&mut self, rows: &mut Rows, older: Self) {
        for (message_id, before) in older.0 {
            let after = self.0.get(&message_id).copied().unwrap_or_default();
            let mut joined = Cards { card: before.card.or(after.card), peer: after.peer.or(before.peer) };
            if let Some(home) = before.peer.or(before.card)
                && let Some(card) = after.card
            {
                join_receipt(rows, home, card);
                joined.card = before.card;
            }
            if let (Some(card), Some(_)) = (before.card, after.peer) {
                deliver(rows, card);
            }
            self.0.insert(message_id, joined);
        }
    }

    pub(super) fn shift(&mut self, base: usize) {
        self.0
            .values_mut()
            .flat_map(|cards| cards.card.iter_mut().chain(&mut cards.peer))
            .for_each(|key| key.shift(base));
    }
}

/// Marks the card of a message that now has a block of its own.
fn deliver(rows: &mut Rows, card: Key) {
    if let Some(BlockKind::Message { delivered, .. }) = rows.edit(card).map(|block| &mut block.kind) {
        *delivered = true;
    }
}

/// The newer part had receipts for a message that it did not contain.
fn join_receipt(rows: &mut Rows, home: Key, card: Key) {
    if let Some((gone, kept)) = rows.take_into(card, home)
        && let BlockKind::Message { receipt, .. } = gone.kind
    {
        put_receipt(&mut kept.kind, receipt);
    }
}

/// Shows a receipt on a message's card. The turn that read it is kept.
fn put_receipt(kind: &mut BlockKind, mut new: Receipt) {
    match kind {
        BlockKind::Peer { receipt, .. } => {
            new.turn = new.turn.or(receipt.as_ref().and_then(|receipt| receipt.turn));
            *receipt = Some(new);
        }
        BlockKind::Message { receipt, .. } => {
            new.turn = new.turn.or(receipt.turn);
            *receipt = new;
        }
        _ => (),
    }
}
