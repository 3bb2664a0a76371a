//! A person's command that is carried out over several Pods: once, whatever its key is sent again for.

use pod_store::CommandRow;
use protocol::{ApiError, ErrorCode};
use serde::{Serialize, de::DeserializeOwned};

use crate::{CommandKey, Origin, actor, clock, command::audit, error, ground::Ground, hold::Together};

/// The command, and who asks.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) key: CommandKey,
    pub(crate) origin: &'a Origin,
}

impl Asked<'_> {
    /// What the command was answered, when it has been carried out.
    pub(crate) async fn first_answer<T: DeserializeOwned>(&self, ground: &Ground) -> Result<Option<T>, ApiError> {
        let row = ground.store.command_find(&self.key.id).await.map_err(error::store_failed)?;
        row.map(|row| self.repeated(row)).transpose()
    }

    /// The answer in a row that stands, if it is the same command.
    pub(crate) fn repeated<T: DeserializeOwned>(&self, row: CommandRow) -> Result<T, ApiError> {
        serde_json::from_str(&actor::repeated(row, &self.key)?)
            .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
    }

    /// The command with what its caller is told, and its audit row.
    pub(crate) fn together(&self, action: &str, target: String, answer: &impl Serialize) -> Together {
        let now = clock::now();
        let command = CommandRow {
            id: self.key.id.clone(),
            fingerprint: self.key.fingerprint,
            answer: serde_json::to_string(answer).expect("an answer always encodes"),
            at: now,
        };
        let audit = audit(now, self.origin, action, target);
        Together { command: Some(command), audit: Some(audit), ..Together::default() }
    }
}
