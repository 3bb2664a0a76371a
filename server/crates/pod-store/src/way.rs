//! The way from a host to the database that several hosts of a simulation share.

use async_trait::async_trait;

/// Carries requests to the database and answers back: late, or not at all.
#[async_trait]
pub trait Way: Send + Sync + std::fmt::Debug {
    /// Ends when a request has reached the database, or an answer its host.
    ///
    /// # Errors
    /// It was lost on the way; a sentence says why.
    async fn pass(&self) -> Result<(), String>;

    /// Wakes all hosts of the database, this one too, unless the notice is lost.
    async fn notify(&self, notice: &str);

    /// The next notice for this host.
    async fn heard(&self) -> String;
}
