//! The durable steps of a commit, at each of which a test can inject a failure or kill the process.

use async_trait::async_trait;
use protocol::Seq;

use crate::{Step, StoreError};

/// Failures and delays that a test injects.
#[async_trait]
pub trait Faults: Send + Sync + std::fmt::Debug {
    /// Called right before each step. An error fails the batch there, exactly as a database failure would.
    fn before(&self, step: Step) -> Result<(), StoreError>;

    /// Called when SQLite's write-ahead log was written once more in its place and synced, past SQLite.
    fn log_written_again(&self, _log: &std::path::Path) {}

    /// Awaited right before a page of a conversation is read, backwards from before this position.
    async fn before_turns(&self, _before: Seq) {}
}
