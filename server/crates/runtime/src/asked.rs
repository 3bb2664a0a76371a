//! A person's command over several Pods. It is carried out once, however often it is sent again with the same key.

use pod_store::CommandRow;
use protocol::ApiError;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    CommandKey, Origin, clock,
    command::{answer_of, audit, read_answer},
    ground::Ground,
    hold::Together,
};

/// The command and its origin.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) key: CommandKey,
    pub(crate) origin: &'a Origin,
}

impl Asked<'_> {
    /// The answer that the command was given if it was carried out before.
    pub(crate) async fn first_answer<T: DeserializeOwned>(&self, ground: &Ground) -> Result<Option<T>, ApiError> {
        let row = ground.store.commands().find(&self.key.id).await?;
        row.map(|row| self.repeated(row)).transpose()
    }

    /// The answer in an existing row, if it belongs to the same command.
    pub(crate) fn repeated<T: DeserializeOwned>(&self, row: CommandRow) -> Result<T, ApiError> {
        read_answer(&self.key.repeated(row)?)
    }

    /// The command with its answer and its audit row.
    pub(crate) fn together(&self, action: &str, target: String, answer: &impl Serialize) -> Together {
        let now = clock::now();
        let command = self.key.row(answer_of(answer), now);
        let audit = audit(now, self.origin, action, target);
        Together { command: Some(command), audit: vec![audit], ..Together::default() }
    }
}
