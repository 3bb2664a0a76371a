//! Commands that are carried out elsewhere. Their key is taken here before they are sent on, so that it is one command in
//! the whole server, and has its answer here once there is one.

use protocol::CommandId;

use crate::CommandRow;

/// Stands where the answer will be. No answer is empty.
pub(crate) const NO_ANSWER: &str = "";

/// A small write to the claimed keys.
#[derive(Debug, Clone)]
pub(crate) enum ClaimChange {
    /// The answer has come. Puts back a claim that was let go of meanwhile; changes no answer that stands.
    Settle(CommandRow),
    /// Nothing was done: the key is free again, unless it has been answered.
    Free { id: CommandId, fingerprint: [u8; 32] },
}

impl CommandRow {
    /// The command was sent on, and what came of it is not known.
    pub fn is_open(&self) -> bool {
        self.answer == NO_ANSWER
    }
}
