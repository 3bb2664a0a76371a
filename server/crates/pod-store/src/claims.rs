//! Commands that are carried out elsewhere. Their key is claimed here before they are sent on, so that it stands for
//! one command in the whole server, and their answer is stored here once there is one.

use protocol::CommandId;

use crate::CommandRow;

/// The placeholder for an answer that is not known yet. No real answer is empty.
pub(crate) const NO_ANSWER: &str = "";

/// A small write to the claimed keys.
#[derive(Debug, Clone)]
pub(crate) enum ClaimChange {
    /// The answer has come. Restores a claim that was freed meanwhile, but does not change an existing answer.
    Settle(CommandRow),
    /// Nothing was done: frees the key, unless it has an answer.
    Free { id: CommandId, fingerprint: [u8; 32] },
}

impl CommandRow {
    /// The command was sent on and its outcome is not known.
    pub fn is_open(&self) -> bool {
        self.answer == NO_ANSWER
    }
}
