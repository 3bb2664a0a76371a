//! What can go wrong with a fetch, each with the code and the message that a model gets.

use std::error::Error as _;

use pod::ToolOutcome;
use reqwest::Url;

use super::fetch::host;

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// No arguments of this tool, or no address that is fetched.
    #[error("{0}")]
    BadUrl(String),
    /// Only reveals the host, not what it resolves to.
    #[error("{0} is not on the public internet, and nothing else is fetched")]
    NotPublic(String),
    #[error("no host is called {0}")]
    UnknownHost(String),
    #[error("{host} is the {max}th redirect and redirects again; it was given up")]
    TooManyRedirects { host: String, max: usize },
    #[error("{host} redirects to {to}, which is not allowed by the same rule; fetch it by a call of its own")]
    Elsewhere { host: String, to: Url },
    #[error("{host} redirects to {to}, which the Pod's rules deny")]
    Denied { host: String, to: Url },
    #[error("{host} did not answer: {why}")]
    NoAnswer { host: String, why: String },
    #[error("{host} had not finished after {seconds} s")]
    TimeLimit { host: String, seconds: u64 },
    #[error("{host} sent {kind}, {size}: not text, so it is not shown")]
    NotText { host: String, kind: String, size: String },
}

impl Failure {
    pub(super) fn of(url: &Url, error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(deeper) = source {
            why = deeper.to_string();
            source = deeper.source();
        }
        Self::NoAnswer { host: host(url).to_owned(), why }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::BadUrl(_) => "invalid_input",
            Self::NotPublic(_) | Self::Elsewhere { .. } | Self::Denied { .. } => "permission_denied",
            Self::UnknownHost(_) => "not_found",
            Self::TooManyRedirects { .. } => "http_error",
            Self::NoAnswer { .. } => "io_failed",
            Self::TimeLimit { .. } => "timeout",
            Self::NotText { .. } => "not_text",
        }
    }
}

impl From<Failure> for ToolOutcome {
    fn from(failure: Failure) -> Self {
        Self::failed(failure.code(), failure.to_string())
    }
}
