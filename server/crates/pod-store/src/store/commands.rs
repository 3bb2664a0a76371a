//! Commands that have been carried out here, and those that are carried out elsewhere.

use protocol::CommandId;

use super::Shared;
use crate::{
    Batch, CommandRow, Committed, Patience, StoreError,
    chore::Chore,
    claims::{ClaimChange, NO_ANSWER},
    columns,
};

/// The commands of a store.
#[derive(Debug, Clone, Copy)]
pub struct Commands<'s>(pub(super) &'s Shared);

impl Commands<'_> {
    pub async fn find(self, id: &CommandId) -> Result<Option<CommandRow>, StoreError> {
        let text = "select id, fingerprint, answer, at from commands where id = $1";
        self.0.reader.select(text).bind(id.as_str()).one("look up a command", columns::command).await
    }

    /// Claims the key of a command that will be sent on; `row.answer` is ignored. Returns the existing row if there is
    /// one, whatever it belongs to.
    pub async fn claim(self, row: CommandRow) -> Result<Option<CommandRow>, StoreError> {
        let row = CommandRow { answer: NO_ANSWER.to_owned(), ..row };
        let batch = Batch { command: Some(row), ..Batch::default() };
        match self.0.commit(Patience::Short, batch).await? {
            Committed::Done { .. } => Ok(None),
            Committed::Repeated(row) => Ok(Some(row)),
        }
    }

    /// Commands that were sent on and whose outcome is not known. Scans all commands.
    pub async fn open(self) -> Result<Vec<CommandRow>, StoreError> {
        let text = "select id, fingerprint, answer, at from commands where answer = ''";
        self.0.reader.select(text).all("look for open commands", columns::command).await
    }

    /// Records the answer to a command that was sent on.
    pub async fn settle(self, row: CommandRow) -> Result<(), StoreError> {
        self.0.chore(Chore::Claim(ClaimChange::Settle(row))).await
    }

    /// Frees the key of a command that was sent on and refused.
    pub async fn free(self, id: CommandId, fingerprint: [u8; 32]) -> Result<(), StoreError> {
        self.0.chore(Chore::Claim(ClaimChange::Free { id, fingerprint })).await
    }
}
