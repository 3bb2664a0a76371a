//! Why a command was not run: each reason with the code and message that a model gets.

use pod::{ScopeRefusal, ToolOutcome};

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    InvalidInput(String),
    #[error("{folder} {refusal}; give a cwd inside of it")]
    Scope { folder: String, refusal: ScopeRefusal },
    #[error("{folder} is not a folder; give an existing one as cwd")]
    NoFolder { folder: String },
    #[error("commands cannot be confined to the Pod's scope on this machine: {0}; none are run without that")]
    CannotConfine(String),
    #[error("the command could not be confined to the scope, so it was not run: {0}")]
    NotConfined(String),
    #[error("{0}")]
    TooMany(String),
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
            Self::TooMany(_) => "rate_limited",
            Self::NotStarted(_) => "io_failed",
        }
    }
}

impl From<Failure> for ToolOutcome {
    fn from(failure: Failure) -> Self {
        Self::failed(failure.code(), failure.to_string())
    }
}
