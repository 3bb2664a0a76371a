//! A provider's failure, in words and as a code that others decide on.

use std::{fmt, time::Duration};

/// A failure of a provider. Its sentence never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProviderError {
    pub code: ProviderErrorCode,
    /// One line of at most 500 characters.
    pub detail: String,
    /// How long the provider asked to be left alone.
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    pub fn new(code: ProviderErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None }
    }

    /// Worth another attempt, as long as nothing of an answer was shown.
    pub fn is_retryable(&self) -> bool {
        use ProviderErrorCode::{Cut, Overloaded, RateLimited, Timeout, Unreachable};
        matches!(self.code, RateLimited | Overloaded | Timeout | Unreachable | Cut)
    }
}

/// What kind of failure it was; the text of it goes into `run_finished.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderErrorCode {
    Unauthorized,
    RateLimited,
    /// It could not serve this now: most of 5xx.
    Overloaded,
    Timeout,
    Unreachable,
    /// The stream ended before the answer did.
    Cut,
    ContextTooLong,
    ModelNotFound,
    BadRequest,
    /// Any other failure of the provider.
    Failed,
}

impl ProviderErrorCode {
    pub const ALL: [Self; 10] = [
        Self::Unauthorized,
        Self::RateLimited,
        Self::Overloaded,
        Self::Timeout,
        Self::Unreachable,
        Self::Cut,
        Self::ContextTooLong,
        Self::ModelNotFound,
        Self::BadRequest,
        Self::Failed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Cut => "cut",
            Self::ContextTooLong => "context_too_long",
            Self::ModelNotFound => "model_not_found",
            Self::BadRequest => "bad_request",
            Self::Failed => "failed",
        }
    }

    /// What an HTTP status of a provider means. 409 is a lock that was not got in time, so it is worth another try.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Unauthorized,
            404 => Self::ModelNotFound,
            408 | 504 => Self::Timeout,
            413 => Self::ContextTooLong,
            429 => Self::RateLimited,
            501 | 505 => Self::Failed,
            409 | 500..=599 => Self::Overloaded,
            400..=499 => Self::BadRequest,
            _ => Self::Failed,
        }
    }
}

impl fmt::Display for ProviderErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
