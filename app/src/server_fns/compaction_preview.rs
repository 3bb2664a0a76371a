use leptos::prelude::*;
use protocol::{CompactionPreview, PodRef};

use crate::{UiError, codec::Json};

/// What compacting would do now; none when there is nothing to drop.
#[server(name = CompactionPreviewCall, prefix = "/fn", endpoint = "compaction_preview", input = Json, output = Json)]
pub async fn compaction_preview(pod: PodRef) -> Result<Option<CompactionPreview>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.read(protocol::operations::PreviewCompaction { pod: pod.clone() }).await)
}
