//! Identity and origin of commands, and what queries select.

use jiff::Timestamp;
use pod_store::CommandRow;
use protocol::{ApiError, AuditEntry, CommandId, ErrorCode, PodName, PodState, WorkerId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{DatabaseState, error};

/// A command's identity: the caller's id, and a hash over verb, address and body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandKey {
    pub id: CommandId,
    pub fingerprint: [u8; 32],
}

impl CommandKey {
    /// The row of this command with its answer, which is JSON.
    pub(crate) fn row(&self, answer: String, at: Timestamp) -> CommandRow {
        CommandRow { id: self.id.clone(), fingerprint: self.fingerprint, answer, at }
    }

    /// The stored answer of an existing command, if it is the same command.
    pub(crate) fn repeated(&self, row: CommandRow) -> Result<String, ApiError> {
        match row.fingerprint == self.fingerprint {
            true => Ok(row.answer),
            false => Err(error::key_reused(&self.id)),
        }
    }
}

/// An answer in the form in which it is stored.
pub(crate) fn answer_of(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("an answer always encodes")
}

pub(crate) fn read_answer<T: DeserializeOwned>(answer: &str) -> Result<T, ApiError> {
    serde_json::from_str(answer)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
}

/// Who gave a command, and from where; recorded in the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `operator`, or the Pod or token that acts.
    pub by: String,
    /// Where it came from: `console`, `api`, `tui`, `cli`.
    pub client: String,
}

/// The audit row for an action.
pub(crate) fn audit(at: Timestamp, origin: &Origin, action: &str, target: String) -> AuditEntry {
    AuditEntry {
        at,
        by: origin.by.clone(),
        client: origin.client.clone(),
        action: action.to_owned(),
        target: Some(target),
        result: "done".to_owned(),
        code: None,
        about: None,
    }
}

/// Selects Pods for a list. Empty fields select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodQuery {
    pub name: Option<PodName>,
    pub state: Option<PodState>,
    /// Part of a name, working directory, model or activity; case-insensitive.
    pub q: Option<String>,
    pub after: Option<String>,
    /// At most 1,000; 500 when absent.
    pub limit: Option<u32>,
}

/// A search over journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// As a person typed them; the last one may be a prefix.
    pub words: String,
    /// Only search this Pod's journal.
    pub pod: Option<WorkerId>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    pub limit: u32,
}

/// Whether the runtime is ready, and which Pods could not be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Recovery after the start has finished.
    pub ready: bool,
    /// Pods whose recovery has not finished.
    pub recovering: u32,
    /// Names of Pods that could not be restored, with the reason.
    pub failed: Vec<(String, String)>,
    pub database: DatabaseState,
}
