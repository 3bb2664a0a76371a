//! Commands that keep running after their call: what is known about each, and what it wrote.

use serde::{Deserialize, Serialize};

use crate::{Timestamp, ToolBy};

/// A command that a Pod runs in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackgroundCommand {
    /// The id of the call of Bash that started it.
    pub id: String,
    pub command: String,
    pub cwd: String,
    /// Who started it.
    pub by: ToolBy,
    pub state: CommandState,
    /// Present if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How it ended, in half a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How much it wrote so far, in bytes.
    pub bytes: u64,
}

/// Whether a background command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    Running,
    /// It ended by itself, was stopped, or could not be started.
    Exited,
}

impl CommandState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited => "exited",
        }
    }
}

/// A background command with a part of its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackgroundOutput {
    #[serde(flatten)]
    pub command: BackgroundCommand,
    pub output: String,
    /// The position of the first byte of `output`.
    pub from: u64,
    /// Where to continue: `after` of the next request.
    pub next: u64,
    /// Bytes that were asked for and are no longer kept.
    pub dropped: u64,
}
