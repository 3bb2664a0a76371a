//! The durable steps of a commit, each of which a test can make fail or kill the process at.

use async_trait::async_trait;
use protocol::Seq;

use crate::{Step, StoreError};

/// What a test may break, or hold up.
#[async_trait]
pub trait Faults: Send + Sync + std::fmt::Debug {
    /// Called right before each step. An error fails the batch there, exactly as the database failing would.
    fn before(&self, step: Step) -> Result<(), StoreError>;

    /// Waited for right before a page of a conversation is read, backwards from before this position.
    async fn before_turns(&self, _before: Seq) {}
}
