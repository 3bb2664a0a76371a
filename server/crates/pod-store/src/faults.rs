//! The durable steps of a commit, each of which a test can make fail or kill the process at.

use async_trait::async_trait;
use protocol::Seq;

use crate::StoreError;

/// One step on the way of a batch to the disk, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    Begin,
    Fence,
    Command,
    Pods,
    Relations,
    Peers,
    Records,
    Folds,
    Usage,
    Inbox,
    Mail,
    Messages,
    Far,
    Search,
    Audit,
    Commit,
    /// On the disk, and nobody has been told yet.
    Answer,
}

impl Step {
    /// All of them, in order.
    pub const ALL: [Self; 17] = [
        Self::Begin,
        Self::Fence,
        Self::Command,
        Self::Pods,
        Self::Relations,
        Self::Peers,
        Self::Records,
        Self::Folds,
        Self::Usage,
        Self::Inbox,
        Self::Mail,
        Self::Messages,
        Self::Far,
        Self::Search,
        Self::Audit,
        Self::Commit,
        Self::Answer,
    ];
}

/// What a test may break, or hold up.
#[async_trait]
pub trait Faults: Send + Sync + std::fmt::Debug {
    /// Called right before each step. An error fails the batch there, exactly as the database failing would.
    fn before(&self, step: Step) -> Result<(), StoreError>;

    /// Waited for right before a page of a conversation is read, backwards from before this position.
    async fn before_turns(&self, _before: Seq) {}
}
