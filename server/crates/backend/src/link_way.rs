//! How an exchange reaches another server's store.

use async_trait::async_trait;
use client::{Client, ClientError};
use protocol::{ApiError, LinkAnswer, LinkExchange, operations::Link};

/// A way to a server that was added. What is exchanged, and when, is decided by the line that uses it.
#[async_trait]
pub trait LinkWay: Send + Sync {
    /// Sends one exchange and returns its answer, which may take as long as the exchange is willing to wait.
    ///
    /// # Errors
    /// Whether it arrived is unknown, unless it was refused.
    async fn exchange(&self, exchange: LinkExchange) -> Result<LinkAnswer, LinkFailure>;
}

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum LinkFailure {
    /// The other side does not answer.
    #[error("{0}")]
    Away(String),
    /// The other side's answer is not acceptable.
    #[error("{0}")]
    Refused(ApiError),
}

#[async_trait]
impl LinkWay for Client {
    async fn exchange(&self, exchange: LinkExchange) -> Result<LinkAnswer, LinkFailure> {
        self.read(&Link { body: exchange }).await.map_err(|error| match error {
            ClientError::Api(error) if error.code.status() < 500 => LinkFailure::Refused(error),
            error => LinkFailure::Away(error.to_string()),
        })
    }
}
