//! Keys of commands that other runtimes carry out: a key is one command in the whole server.

use std::collections::HashSet;

use pod_store::CommandRow;
use protocol::{ApiError, CommandId};

use super::Host;
use crate::{CommandKey, actor::repeated, clock, error};

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

impl Host {
    /// Takes the key of a command before it is sent on; `key_reused` when it is another command's.
    pub async fn claim(&self, key: &CommandKey) -> Result<Claimed, ApiError> {
        let standing = self.inner.store.command_claim(row(key, String::new())).await.map_err(error::store_failed)?;
        let Some(standing) = standing else { return Ok(Claimed::Now) };
        let is_open = standing.is_open();
        let answer = repeated(standing, key)?;
        Ok(if is_open { Claimed::Before } else { Claimed::Answered(answer) })
    }

    /// Notes what the command of a claimed key was answered.
    pub async fn settle_claim(&self, key: &CommandKey, answer: String) -> Result<(), ApiError> {
        self.inner.store.command_settle(row(key, answer)).await.map_err(error::store_failed)
    }

    /// The command of a claimed key was refused: the key is free.
    pub async fn free_claim(&self, key: &CommandKey) -> Result<(), ApiError> {
        self.inner.store.command_free(key.id.clone(), key.fingerprint).await.map_err(error::store_failed)
    }

    /// Keys of commands that were sent on, and of which it is not known what came of them.
    pub async fn open_claims(&self) -> Result<HashSet<CommandId>, ApiError> {
        let rows = self.inner.store.commands_open().await.map_err(error::store_failed)?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// What a command of this key was answered when it was carried out; none when it was not.
    pub async fn first_answer(&self, key: &CommandKey) -> Result<Option<String>, ApiError> {
        let row = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)?;
        let Some(row) = row else { return Ok(None) };
        let is_open = row.is_open();
        repeated(row, key).map(|answer| (!is_open).then_some(answer))
    }
}

fn row(key: &CommandKey, answer: String) -> CommandRow {
    CommandRow { id: key.id.clone(), fingerprint: key.fingerprint, answer, at: clock::now() }
}
