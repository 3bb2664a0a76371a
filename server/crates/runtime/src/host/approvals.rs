//! Approvals and their answers.

use protocol::{ApiError, Approval, ApprovalCommand, OpenApproval, WorkerId};

use super::Inner;
use crate::{CommandKey, Origin, actor::PodCommand, approvals};

/// Approvals and their answers.
#[derive(Debug, Clone, Copy)]
pub struct Approvals<'a> {
    pub(super) inner: &'a Inner,
}

impl Approvals<'_> {
    /// The open approvals of one Pod, or all it ever asked for; oldest first.
    pub async fn of_pod(self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        approvals::of_pod(&self.inner.cluster, worker_id, all).await
    }

    /// The open approvals of all Pods, oldest first.
    pub async fn open(self) -> Result<Vec<OpenApproval>, ApiError> {
        approvals::open(&self.inner.cluster).await
    }

    /// Answers an approval. The first answer wins.
    pub async fn answer(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        id: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        let command = PodCommand::Answer { id: id.to_owned(), command };
        self.inner.cluster.command(key, origin, worker_id, command).await
    }
}
