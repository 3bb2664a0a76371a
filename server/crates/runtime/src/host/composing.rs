//! What a host does for those who write to a Pod: taking back what waits, and finding files to refer to.

use protocol::{ApiError, CommandId, QueuedInput, WorkerId};

use super::Host;
use crate::{CommandKey, Origin, actor::PodCommand};

impl Host {
    /// Takes a queued input back. `already_answered`: it has begun.
    pub async fn take_back(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::TakeBack(queued.clone())).await
    }

    /// Files that the Pod may read and whose path fits what was `begun`, the nearest first; from the working directory
    /// when they are in it. What is found within a short time, and not more than a list shows.
    pub async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        self.inner.cluster.files(worker_id, begun).await
    }
}
