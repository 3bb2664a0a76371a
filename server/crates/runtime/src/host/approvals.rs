//! What Pods ask, and the answers.

use protocol::{ApiError, Approval, ApprovalCommand, OpenApproval, WorkerId};

use super::Inner;
use crate::{CommandKey, Origin, actor::PodCommand, approvals};

/// What Pods ask, and the answers.
#[derive(Debug, Clone, Copy)]
pub struct Approvals<'a> {
    pub(super) inner: &'a Inner,
}

impl Approvals<'_> {
    /// The open questions of one Pod, or all that it ever asked; oldest first.
    pub async fn of_pod(self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        approvals::of_pod(&self.inner.cluster, worker_id, all).await
    }

    /// The open questions of every Pod, oldest first.
    pub async fn open(self) -> Result<Vec<OpenApproval>, ApiError> {
        approvals::open(&self.inner.cluster).await
    }

    /// Answers a question. The first answer wins.
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
