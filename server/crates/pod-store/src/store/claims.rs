//! Commands that are carried out elsewhere.

use protocol::CommandId;

use crate::{
    Batch, CommandRow, Committed, Store, StoreError,
    chore::Chore,
    claims::{ClaimChange, NO_ANSWER},
};

impl Store {
    /// Takes the key of a command that will be sent on; `row.answer` is not looked at. The row that stands already, if
    /// there is one, whatever it is for.
    pub async fn command_claim(&self, row: CommandRow) -> Result<Option<CommandRow>, StoreError> {
        let row = CommandRow { answer: NO_ANSWER.to_owned(), ..row };
        match self.commit(Batch { command: Some(row), ..Batch::default() }).await? {
            Committed::Done { .. } => Ok(None),
            Committed::Repeated(row) => Ok(Some(row)),
        }
    }

    /// Commands that were sent on, and of which it is not known what came of them. Looks at all commands.
    pub async fn commands_open(&self) -> Result<Vec<CommandRow>, StoreError> {
        self.read(self.engine().commands_open()).await
    }

    /// Notes what a command was answered that was sent on.
    pub async fn command_settle(&self, row: CommandRow) -> Result<(), StoreError> {
        self.chore(Chore::Claim(ClaimChange::Settle(row))).await
    }

    /// Gives the key of a command back that was sent on and refused.
    pub async fn command_free(&self, id: CommandId, fingerprint: [u8; 32]) -> Result<(), StoreError> {
        self.chore(Chore::Claim(ClaimChange::Free { id, fingerprint })).await
    }
}
