//! Messages and their receipts, questions and their answers, commands and the runs they began.

use std::collections::HashMap;

use crate::{
    BlockKind, Transcript,
    reduce::{
        Command, MessageCards,
        control::{follow_question, put_receipt},
    },
    rows::Key,
};

impl Transcript {
    pub(super) fn join_cards(&mut self, older: HashMap<String, MessageCards>) {
        for (message_id, before) in older {
            let after = self.index.messages.get(&message_id).copied().unwrap_or_default();
            let mut joined = MessageCards { card: before.card.or(after.card), peer: after.peer.or(before.peer) };
            if let Some(home) = before.peer.or(before.card)
                && let Some(card) = after.card
            {
                self.join_receipt(home, card);
                joined.card = before.card;
            }
            if let (Some(card), Some(_)) = (before.card, after.peer) {
                self.deliver(card);
            }
            self.index.messages.insert(message_id, joined);
        }
    }

    /// The newer part had receipts for a message that it did not know.
    fn join_receipt(&mut self, home: Key, card: Key) {
        if let Some(gone) = self.rows.remove(card, home)
            && let BlockKind::Message { receipt, .. } = gone.kind
            && let Some(kept) = self.rows.edit(home)
        {
            put_receipt(&mut kept.kind, receipt);
            kept.last_seq = gone.last_seq;
        }
    }

    pub(super) fn join_questions(&mut self, older: HashMap<String, Key>, mut open: Vec<Key>, did_void: bool) {
        for (id, before) in older {
            if let Some(after) = self.index.approvals.insert(id, before) {
                self.join_question(before, after);
            } else if self.index.voids {
                self.void_question(before);
            }
        }
        open.append(&mut self.index.open_approvals);
        open.retain(|&key| self.rows.get(key).is_some_and(|block| block.is_live()));
        self.index.open_approvals = open;
        self.index.voids |= did_void;
    }

    fn join_question(&mut self, before: Key, after: Key) {
        if let Some(gone) = self.rows.remove(after, before)
            && let Some(kept) = self.rows.edit(before)
        {
            follow_question(&mut kept.kind, gone.kind);
            kept.last_seq = gone.last_seq;
            kept.cut.extend(gone.cut);
        }
    }

    pub(super) fn join_commands(&mut self, older: HashMap<String, Command>) {
        for (command_id, before) in older {
            let command = self.index.commands.entry(command_id.clone()).or_default();
            command.person = command.person.or(before.person);
            self.command_reaches(&command_id, before.state);
        }
    }
}
