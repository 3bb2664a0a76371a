//! A Pod's conversation as a whole: bringing it back, going back in it, and what compacting it would do.

use protocol::{ApiError, CommandId, CompactionPreview, PodRef, QueuedInput, Receipt, RestoreCommand, RewindCommand};
use runtime::Origin;

use crate::{Backend, command_key};

impl Backend {
    /// Takes a queued input out of the queue and gives it back. One that has begun is `already_answered`.
    pub async fn take_back(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        let key = command_key(id, "take_back", Some(pod), queued);
        let work = async { self.port(&pod.runtime_id)?.take_back(key.clone(), origin, &pod.worker_id, queued).await };
        self.carry_out(origin, "input", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// Files that a message to the Pod may refer to, by a few letters of their path; the best first.
    pub async fn files(&self, pod: &PodRef, begun: &str) -> Result<Vec<String>, ApiError> {
        self.port(&pod.runtime_id)?.files(&pod.worker_id, begun).await
    }

    /// Brings a stopped Pod back; with `tree` also the stopped Pods below it, and the receipt reports on each.
    pub async fn restore(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        let key = command_key(id, "restore", Some(pod), &command);
        let work = async { self.port(&pod.runtime_id)?.restore(key.clone(), origin, &pod.worker_id, command).await };
        self.carry_out(origin, "restore", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// Takes what came after a record out of the model's context. The journal keeps all of it.
    pub async fn rewind(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        let key = command_key(id, "rewind", Some(pod), &command);
        let work = async { self.port(&pod.runtime_id)?.rewind(key.clone(), origin, &pod.worker_id, command).await };
        self.carry_out(origin, "rewind", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// What compacting the Pod now would do; none when there is nothing to drop.
    pub async fn compaction_preview(&self, pod: &PodRef) -> Result<Option<CompactionPreview>, ApiError> {
        self.port(&pod.runtime_id)?.compaction_preview(&pod.worker_id).await
    }
}
