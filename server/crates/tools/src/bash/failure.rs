//! Why a command was not run: each reason with the code and message that a model gets.

use pod::{ScopeRefusal, ToolOutcome};

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    InvalidInput(String),
    #[error("{folder} {refusal}; give a cwd inside of it")]
    Scope { folder: String, refusal: ScopeRefusal },
    #[error("{folder} is no folder; give the cwd of one that is there")]
    NoFolder { folder: String },
    #[error("commands cannot be held to the Pod's scope on this machine: {0}; none are run without")]
    CannotConfine(String),
    #[error("the command could not be held to the scope, so it was not run: {0}")]
    NotConfined(String),
    #[error("the command was not started: {0}")]
    NotStarted(String),
}

impl Failure {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput(_) => "invalid_input",
            Self::Scope { .. } => "permission_denied",
            Self::NoFolder { .. } => "not_found",
            Self::CannotConfine(_) | Self::NotConfined(_) => "unconfined",
            Self::NotStarted(_) => "io_failed",
        }
    }
}

impl From<Failure> for ToolOutcome {
    fn from(failure: Failure) -> Self {
        Self::failed(failure.code(), failure.to_string())
    }
}
