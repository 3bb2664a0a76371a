//! Pods: the list, a single one, and the commands on it.

use leptos::prelude::*;
use protocol::{
    CommandId, CommitAnswer, CommitCommand, CompactionPreview, ControlVerb, CreatePod, FolderList, ForkCommand,
    PatchPod, PodDetail, PodRef, PodSummary, ProfileView, ProviderView, Receipt, RestoreCommand, RewindCommand,
    RuntimeId, RuntimeView, ToolAnswer, ToolCommand, WorktreeAnswer, WorktreeCommand,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// All Pods, most recently changed first.
#[server(prefix = "/fn", endpoint = "list_pods", input = Json, output = Json)]
pub async fn list_pods() -> Result<Vec<PodSummary>, UiError> {
    Ok(door::read(operations::Pods { limit: operation::Limit(1_000), ..Default::default() }).await?.items)
}

/// Resolves `name`, `name@runtime_id` or `runtime_id/worker_id`.
#[server(prefix = "/fn", endpoint = "resolve", input = Json, output = Json)]
pub async fn resolve(target: String) -> Result<PodRef, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.resolve(&target).await)
}

/// Includes what the stream does not carry: the queue, the policies.
#[server(name = PodDetailCall, prefix = "/fn", endpoint = "pod_detail", input = Json, output = Json)]
pub async fn pod_detail(pod: PodRef) -> Result<PodDetail, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.pod(&pod).await)
}

/// The choices for a new Pod on this server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    pub providers: Vec<ProviderView>,
    pub profiles: Vec<ProfileView>,
    pub runtimes: Vec<RuntimeView>,
}

#[server(prefix = "/fn", endpoint = "new_pod_choices", input = Json, output = Json)]
pub async fn new_pod_choices() -> Result<Choices, UiError> {
    let (backend, _) = door::caller()?;
    let settings = backend.settings();
    let (providers, profiles) = (settings.providers().await, settings.profiles());
    Ok(Choices { providers, profiles, runtimes: backend.runtimes().list() })
}

/// Folders with this path prefix on this runtime, and the default folder of a new Pod.
#[server(prefix = "/fn", endpoint = "find_folders", input = Json, output = Json)]
pub async fn find_folders(prefix: Option<String>, runtime: Option<RuntimeId>) -> Result<FolderList, UiError> {
    let (prefix, runtime) = (operation::Loose(prefix), operation::Filled(runtime));
    door::read(operations::Folders { prefix, runtime }).await
}

#[server(name = CreatePodCall, prefix = "/fn", endpoint = "create_pod", input = Json, output = Json)]
pub async fn create_pod(command_id: CommandId, create: CreatePod) -> Result<PodSummary, UiError> {
    door::carry_out(command_id, operations::Create { body: create }).await
}

/// Changes only the settings that the patch names.
#[server(prefix = "/fn", endpoint = "change_pod", input = Json, output = Json)]
pub async fn change_pod(pod: PodRef, command_id: CommandId, patch: PatchPod) -> Result<PodDetail, UiError> {
    door::carry_out(command_id, operations::Patch { pod, body: patch }).await
}

/// Deletes a Pod. `confirm` is its name, as the user has typed it.
#[server(prefix = "/fn", endpoint = "delete_pod", input = Json, output = Json)]
pub async fn delete_pod(pod: PodRef, command_id: CommandId, confirm: String) -> Result<(), UiError> {
    door::carry_out(command_id, operations::Delete { pod, confirm: Some(confirm) }).await
}

#[server(prefix = "/fn", endpoint = "control_pod", input = Json, output = Json)]
pub async fn control_pod(pod: PodRef, command_id: CommandId, verb: ControlVerb) -> Result<Receipt, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.control(&origin, command_id, pod, verb).await)
}

/// Restores a Pod. The receipt's report says what became of each Pod of a tree.
#[server(prefix = "/fn", endpoint = "restore_pod", input = Json, output = Json)]
pub async fn restore_pod(pod: PodRef, command_id: CommandId, command: RestoreCommand) -> Result<Receipt, UiError> {
    door::carry_out(command_id, operations::Restore { pod, body: command }).await
}

/// Rewinds a Pod. Refused as `head_moved` if the journal has grown since you decided.
#[server(prefix = "/fn", endpoint = "rewind_pod", input = Json, output = Json)]
pub async fn rewind_pod(pod: PodRef, command_id: CommandId, command: RewindCommand) -> Result<Receipt, UiError> {
    door::carry_out(command_id, operations::Rewind { pod, body: command }).await
}

/// Creates a Pod with another one's history and settings.
#[server(prefix = "/fn", endpoint = "fork_pod", input = Json, output = Json)]
pub async fn fork_pod(pod: PodRef, command_id: CommandId, command: ForkCommand) -> Result<PodSummary, UiError> {
    door::carry_out(command_id, operations::Fork { pod, body: command }).await
}

/// Commits what is changed in a Pod's folder.
#[server(prefix = "/fn", endpoint = "commit_changes", input = Json, output = Json)]
pub async fn commit_changes(
    pod: PodRef,
    command_id: CommandId,
    command: CommitCommand,
) -> Result<CommitAnswer, UiError> {
    door::carry_out(command_id, operations::CommitChanges { pod, body: command }).await
}

/// Merges a Pod's own work tree or removes it.
#[server(prefix = "/fn", endpoint = "change_worktree", input = Json, output = Json)]
pub async fn change_worktree(
    pod: PodRef,
    command_id: CommandId,
    command: WorktreeCommand,
) -> Result<WorktreeAnswer, UiError> {
    door::carry_out(command_id, operations::ChangeWorktree { pod, body: command }).await
}

/// What compacting would do now; `None` when there is nothing to drop.
#[server(name = CompactionPreviewCall, prefix = "/fn", endpoint = "compaction_preview", input = Json, output = Json)]
pub async fn compaction_preview(pod: PodRef) -> Result<Option<CompactionPreview>, UiError> {
    door::read(operations::PreviewCompaction { pod }).await
}

/// Runs a tool as this Pod would. The tool's own failure is part of the result and not an error.
#[server(name = RunToolCall, prefix = "/fn", endpoint = "run_tool", input = Json, output = Json)]
pub async fn run_tool(
    pod: PodRef,
    command_id: CommandId,
    tool: String,
    command: ToolCommand,
) -> Result<ToolAnswer, UiError> {
    door::carry_out(command_id, operations::RunTool { pod, name: tool, body: command }).await
}
