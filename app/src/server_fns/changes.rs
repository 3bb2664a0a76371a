//! What a Pod changed on the disk.

use leptos::prelude::*;
use protocol::{
    Changes, CommandId, DraftsKept, PodRef, PodSummary, Receipt, RevertCommand, Reverted, ReviewCommand, ReviewDrafts,
    RewindPreview, Seq, Since, UndoCommand,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// The page of a Pod's changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangesData {
    pub pod: PodSummary,
    pub changes: Changes,
    /// What is noted on them and not sent yet.
    pub drafts: ReviewDrafts,
}

/// What has changed in the folders of the Pod at this address.
#[server(prefix = "/fn", endpoint = "pod_changes", input = Json, output = Json)]
pub async fn pod_changes(address: String, since: Since) -> Result<ChangesData, UiError> {
    let (backend, _) = door::caller()?;
    let pod = door::answer(backend.resolve(&address).await)?;
    let summary = door::answer(backend.pod(&pod).await)?.summary;
    let since = operation::Filled(Some(since));
    let drafts = door::read(operations::DraftsOf { pod: pod.clone() }).await.unwrap_or_default();
    Ok(ChangesData { pod: summary, changes: door::read(operations::ChangesOf { pod, since }).await?, drafts })
}

/// The files that have changed since the Pod's start, without their hunks.
#[server(prefix = "/fn", endpoint = "changed_files", input = Json, output = Json)]
pub async fn changed_files(pod: PodRef) -> Result<Changes, UiError> {
    let mut changes = door::read(operations::ChangesOf { pod, since: operation::Filled(None) }).await?;
    changes.files.iter_mut().for_each(|file| file.hunks.clear());
    Ok(changes)
}

#[server(prefix = "/fn", endpoint = "revert_change", input = Json, output = Json)]
pub async fn revert_change(pod: PodRef, command_id: CommandId, command: RevertCommand) -> Result<Reverted, UiError> {
    door::carry_out(command_id, operations::Revert { pod, body: command }).await
}

#[server(name = UndoRevertCall, prefix = "/fn", endpoint = "undo_revert", input = Json, output = Json)]
pub async fn undo_revert(pod: PodRef, command_id: CommandId, command: UndoCommand) -> Result<Reverted, UiError> {
    door::carry_out(command_id, operations::UndoRevert { pod, body: command }).await
}

/// Sends comments as one message.
#[server(prefix = "/fn", endpoint = "review_changes", input = Json, output = Json)]
pub async fn review_changes(pod: PodRef, command_id: CommandId, command: ReviewCommand) -> Result<Receipt, UiError> {
    door::carry_out(command_id, operations::Review { pod, body: command }).await
}

/// What is noted on the changes and not sent yet.
#[server(name = ReviewDraftsCall, prefix = "/fn", endpoint = "review_drafts", input = Json, output = Json)]
pub async fn review_drafts(pod: PodRef) -> Result<ReviewDrafts, UiError> {
    door::read(operations::DraftsOf { pod }).await
}

/// Keeps what is noted now, in place of the version that it names.
#[server(name = KeepDraftsCall, prefix = "/fn", endpoint = "keep_drafts", input = Json, output = Json)]
pub async fn keep_drafts(pod: PodRef, command_id: CommandId, drafts: ReviewDrafts) -> Result<DraftsKept, UiError> {
    door::carry_out(command_id, operations::KeepDrafts { pod, body: drafts }).await
}

/// What a rewind to a record would change.
#[server(name = RewindPreviewCall, prefix = "/fn", endpoint = "rewind_preview", input = Json, output = Json)]
pub async fn rewind_preview(pod: PodRef, to_seq: Seq) -> Result<RewindPreview, UiError> {
    door::read(operations::PreviewRewind { pod, to_seq }).await
}
