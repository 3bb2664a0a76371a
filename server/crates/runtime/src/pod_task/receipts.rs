//! How far messages of peers have come here: told to those who sent them, in the transaction that makes it true.

use pod_store::{MailPut, MessageChange};
use protocol::{ApiError, WorkerId};

use super::{PodTask, commit::Staged};
use crate::{clock, error, mail::Letter, peers};

/// One message that has come further.
pub(super) struct Receipt {
    pub(super) sender: WorkerId,
    pub(super) letter: MailPut,
    pub(super) change: MessageChange,
}

impl PodTask {
    /// What the senders are to be told. Receipts of what this Pod sent itself are none of these.
    pub(super) async fn receipts(&mut self, staged: &Staged) -> Result<Vec<Receipt>, ApiError> {
        let mut receipts = Vec::new();
        for (message_id, state, turn) in &staged.receipts {
            let row = self.inner.store.message(message_id).await.map_err(error::store_failed)?;
            let Some(row) = row.filter(|row| row.receiver == self.key) else { continue };
            let sender = self.inner.store.pod_find_by_key(row.sender).await.map_err(error::store_failed)?;
            let Some(sender) = sender else { continue };
            let (now, state, turn) = (clock::now(), *state, *turn);
            let peer = peers::label(&self.label());
            let letter = Letter::Receipt { message_id: message_id.clone(), peer, state, turn };
            let key = format!("receipt:{message_id}:{state:?}");
            receipts.push(Receipt {
                sender: sender.worker_id,
                letter: MailPut { to: row.sender, key, body: letter.encode(), at: now },
                change: MessageChange::State { id: message_id.clone(), state, turn, woke: false, at: now },
            });
        }
        Ok(receipts)
    }
}
