//! A person's command that is carried out over several Pods: once, whatever its key is sent again for.

use pod_store::CommandRow;
use protocol::ApiError;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    CommandKey, Origin, clock,
    command::{answer_of, audit, read_answer},
    ground::Ground,
    hold::Together,
};

/// The command, and who asks.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) key: CommandKey,
    pub(crate) origin: &'a Origin,
}

impl Asked<'_> {
    /// What the command was answered, when it has been carried out.
    pub(crate) async fn first_answer<T: DeserializeOwned>(&self, ground: &Ground) -> Result<Option<T>, ApiError> {
        let row = ground.store.commands().find(&self.key.id).await?;
        row.map(|row| self.repeated(row)).transpose()
    }

    /// The answer in a row that stands, if it is the same command.
    pub(crate) fn repeated<T: DeserializeOwned>(&self, row: CommandRow) -> Result<T, ApiError> {
        read_answer(&self.key.repeated(row)?)
    }

    /// The command with what its caller is told, and its audit row.
    pub(crate) fn together(&self, action: &str, target: String, answer: &impl Serialize) -> Together {
        let now = clock::now();
        let command = self.key.row(answer_of(answer), now);
        let audit = audit(now, self.origin, action, target);
        Together { command: Some(command), audit: Some(audit), ..Together::default() }
    }
}
