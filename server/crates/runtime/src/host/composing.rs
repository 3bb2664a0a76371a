//! What a host does for those who write to a Pod: taking back what waits, and finding files to refer to.

use protocol::{ApiError, CommandId, ErrorCode, QueuedInput, WorkerId};

use super::Host;
use crate::{CommandKey, Origin, place, pod_task::PodCommand, view};

/// Bytes of what was typed of a file's name.
const BEGUN_BYTES_MAX: usize = 1_024;

impl Host {
    /// Takes a queued input back. `already_answered`: it has begun.
    pub async fn take_back(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::TakeBack(queued.clone())).await
    }

    /// Files that the Pod may read and whose path fits what was `begun`, the nearest first; from the working directory
    /// when they are in it. What is found within a short time, and not more than a list shows.
    pub async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        if begun.len() > BEGUN_BYTES_MAX {
            return Err(ApiError::invalid(format!("the name of a file has at most {BEGUN_BYTES_MAX} bytes")));
        }
        let row = self.inner.existing_row(worker_id).await?;
        if let Some(files) = self.inner.files_there(worker_id, begun).await? {
            return Ok(files);
        }
        let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let scope = place::scope(&self.inner, row.key, &opened.spec).await?;
        Ok(tools::files::complete(&opened.spec.cwd, scope, begun).await)
    }
}
