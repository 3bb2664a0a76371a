//! Keys of commands that other runtimes carry out: a key is one command in the whole server.

use std::collections::HashSet;

use protocol::{ApiError, CommandId};

use super::Inner;
use crate::{CommandKey, clock};

/// What a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// This command's, from now on.
    Now,
    /// This command's, which was sent on before; what came of it is not known.
    Before,
    /// This command's, which was carried out, with this answer as JSON.
    Answered(String),
}

/// Keys of commands that other runtimes carry out: a key is one command in the whole server.
#[derive(Debug, Clone, Copy)]
pub struct Claims<'a> {
    pub(super) inner: &'a Inner,
}

impl Claims<'_> {
    /// Takes the key of a command before it is sent on; `key_reused` when it is another command's.
    pub async fn claim(self, key: &CommandKey) -> Result<Claimed, ApiError> {
        let standing = self.inner.store.commands().claim(key.row(String::new(), clock::now())).await?;
        let Some(standing) = standing else { return Ok(Claimed::Now) };
        let is_open = standing.is_open();
        let answer = key.repeated(standing)?;
        Ok(if is_open { Claimed::Before } else { Claimed::Answered(answer) })
    }

    /// Notes what the command of a claimed key was answered.
    pub async fn settle(self, key: &CommandKey, answer: String) -> Result<(), ApiError> {
        Ok(self.inner.store.commands().settle(key.row(answer, clock::now())).await?)
    }

    /// The command of a claimed key was refused: the key is free.
    pub async fn free(self, key: &CommandKey) -> Result<(), ApiError> {
        Ok(self.inner.store.commands().free(key.id.clone(), key.fingerprint).await?)
    }

    /// Keys of commands that were sent on, and of which it is not known what came of them.
    pub async fn open(self) -> Result<HashSet<CommandId>, ApiError> {
        let rows = self.inner.store.commands().open().await?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// What a command of this key was answered when it was carried out; none when it was not.
    pub async fn first_answer(self, key: &CommandKey) -> Result<Option<String>, ApiError> {
        let Some(row) = self.inner.store.commands().find(&key.id).await? else { return Ok(None) };
        let is_open = row.is_open();
        key.repeated(row).map(|answer| (!is_open).then_some(answer))
    }
}
