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
    /// What it said of the context's size, when that is what failed.
    pub sizes: ContextSizes,
}

/// Sizes in tokens, as far as a provider told them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextSizes {
    /// The model's context.
    pub limit: Option<u64>,
    /// What was asked, the room for the answer included where the provider counts it.
    pub used: Option<u64>,
}

impl ProviderError {
    pub fn new(code: ProviderErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None, sizes: ContextSizes::default() }
    }

    /// Worth another attempt, as long as nothing of an answer was shown.
    pub fn is_retryable(&self) -> bool {
        use ProviderErrorCode::{Cut, Overloaded, RateLimited, Timeout, Unreachable};
        matches!(self.code, RateLimited | Overloaded | Timeout | Unreachable | Cut)
    }
}

/// What kind of failure it was.
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
    /// The question is longer than the model's context.
    ContextOverflow,
    ModelNotFound,
    BadRequest,
    /// The answer went beyond what is read of one.
    TooLarge,
    /// Any other failure of the provider.
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

    /// What an HTTP status of a provider means. 409 is a lock that was not got in time, so it is worth another try.
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
