//! A Pod's conversation as a whole: bringing it back, going back in it, and what compacting it would do.

use bytes::Bytes;
use protocol::{
    ApiError, CommandId, CompactionPreview, ErrorCode, PodRef, QueuedInput, Receipt, RestoreCommand, RewindCommand, Seq,
};
use runtime::{Origin, RecordForm, heavy};
use serde::Deserialize;

use crate::{Backend, command_key};

impl Backend {
    /// One record, whole, as JSON.
    pub async fn record(&self, pod: &PodRef, seq: Seq) -> Result<Bytes, ApiError> {
        #[derive(Deserialize)]
        struct Place {
            seq: Seq,
        }
        let page = self.transcript(pod, Some(&seq.next().to_string()), 1, RecordForm::Whole).await?;
        let is_it = |record: &Bytes| serde_json::from_slice::<Place>(record).is_ok_and(|place| place.seq == seq);
        page.items.into_iter().next().filter(is_it).ok_or_else(|| {
            let sentence = format!(
                "the journal has no record {seq}; pieces of a block are gone once it has ended, and its last record has it whole"
            );
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// The words of one record, all of them: what was said, what a tool was given or gave back.
    pub async fn record_text(&self, pod: &PodRef, seq: Seq) -> Result<String, ApiError> {
        let body = self.record(pod, seq).await?;
        let size = body.len();
        let text = move || serde_json::from_slice(&body).map(|record| transcript::record_text(&record));
        heavy::work(size, text).await.map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("record {seq} of the journal cannot be read: {error}"))
        })
    }

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
