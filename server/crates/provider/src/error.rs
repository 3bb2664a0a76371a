//! Provider errors, as a sentence and as a code to act on.

use std::{fmt, time::Duration};

/// A provider's failure. Its sentence never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProviderError {
    pub code: ProviderErrorCode,
    /// One line of at most 500 characters.
    pub detail: String,
    /// How long the provider asked to wait before retrying.
    pub retry_after: Option<Duration>,
    /// Context sizes, if the context overflowed and the provider reported them.
    pub sizes: ContextSizes,
}

/// Sizes in tokens, as far as a provider reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextSizes {
    /// The model's context limit.
    pub limit: Option<u64>,
    /// The size of the request, including room for the answer if the provider counts that.
    pub used: Option<u64>,
}

impl ProviderError {
    pub fn new(code: ProviderErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None, sizes: ContextSizes::default() }
    }

    /// Whether a retry makes sense, provided that nothing of an answer has been shown.
    pub fn is_retryable(&self) -> bool {
        use ProviderErrorCode::{Cut, Overloaded, RateLimited, Timeout, Unreachable};
        matches!(self.code, RateLimited | Overloaded | Timeout | Unreachable | Cut)
    }
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderErrorCode {
    Unauthorized,
    RateLimited,
    /// The server is temporarily unable to answer: most 5xx statuses.
    Overloaded,
    Timeout,
    Unreachable,
    /// The stream ended before the answer was complete.
    Cut,
    /// The request is longer than the model's context.
    ContextOverflow,
    ModelNotFound,
    BadRequest,
    /// The answer exceeded a limit on what is read.
    TooLarge,
    /// Any other failure.
    Failed,
}

impl ProviderErrorCode {
    pub const ALL: [Self; 11] = [
        Self::Unauthorized,
        Self::RateLimited,
        Self::Overloaded,
        Self::Timeout,
        Self::Unreachable,
        Self::Cut,
        Self::ContextOverflow,
        Self::ModelNotFound,
        Self::BadRequest,
        Self::TooLarge,
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
            Self::ContextOverflow => "context_overflow",
            Self::ModelNotFound => "model_not_found",
            Self::BadRequest => "bad_request",
            Self::TooLarge => "too_large",
            Self::Failed => "failed",
        }
    }

    /// The meaning of a provider's HTTP status. 409 is a lock timeout and therefore worth a retry.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Unauthorized,
            404 => Self::ModelNotFound,
            408 | 504 => Self::Timeout,
            413 => Self::ContextOverflow,
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
