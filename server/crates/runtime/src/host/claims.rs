//! Keys of commands that other runtimes carry out: within a server, a key stands for one command.

use std::collections::HashSet;

use protocol::{ApiError, CommandId};

use super::Inner;
use crate::{CommandKey, clock};

/// The state of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// It belongs to this command from now on.
    Now,
    /// This command was sent on before; its outcome is not known.
    Before,
    /// This command was carried out, with this answer as JSON.
    Answered(String),
}

/// Keys of commands that other runtimes carry out: within a server, a key stands for one command.
#[derive(Debug, Clone, Copy)]
pub struct Claims<'a> {
    pub(super) inner: &'a Inner,
}

impl Claims<'_> {
    /// Claims the key of a command before the command is sent on. Returns `key_reused` if it belongs to another
    /// command.
    pub async fn claim(self, key: &CommandKey) -> Result<Claimed, ApiError> {
        let standing = self.inner.store.commands().claim(key.row(String::new(), clock::now())).await?;
        let Some(standing) = standing else { return Ok(Claimed::Now) };
        let is_open = standing.is_open();
        let answer = key.repeated(standing)?;
        Ok(if is_open { Claimed::Before } else { Claimed::Answered(answer) })
    }

    /// Records the answer to the command of a claimed key.
    pub async fn settle(self, key: &CommandKey, answer: String) -> Result<(), ApiError> {
        Ok(self.inner.store.commands().settle(key.row(answer, clock::now())).await?)
    }

    /// Frees a claimed key whose command was refused.
    pub async fn free(self, key: &CommandKey) -> Result<(), ApiError> {
        Ok(self.inner.store.commands().free(key.id.clone(), key.fingerprint).await?)
    }

    /// Keys of commands that were sent on and whose outcome is not known.
    pub async fn open(self) -> Result<HashSet<CommandId>, ApiError> {
        let rows = self.inner.store.commands().open().await?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// The answer that the command of this key was given, or `None` if it was not carried out.
    pub async fn first_answer(self, key: &CommandKey) -> Result<Option<String>, ApiError> {
        let Some(row) = self.inner.store.commands().find(&key.id).await? else { return Ok(None) };
        let is_open = row.is_open();
        key.repeated(row).map(|answer| (!is_open).then_some(answer))
    }
}
