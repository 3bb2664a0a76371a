//! The work that a person gives a Pod, and access to what its commands serve.

use std::collections::BTreeSet;

use std::sync::Weak;

use protocol::{
    ApiError, BackgroundCommand, BackgroundOutput, Changes, CommandId, CommitAnswer, CommitCommand, DraftsKept,
    ErrorCode, InputCommand, Interrupted, McpContent, McpPrompt, McpPromptText, McpResource, OwnCommand, OwnMessage,
    QueuedInput, Receipt, RevertCommand, Reverted, ReviewCommand, ReviewDrafts, RewindCommand, RewindPreview, Seq,
    Since, ToolAnswer, ToolBy, ToolCommand, UndoCommand, WorkerId, WorktreeAnswer, WorktreeCommand,
};
use serde_json::{Map, Value};
use tokio::net::UnixStream;
use tools::Tool;

use super::Inner;
use crate::{
    CommandKey, Origin,
    actor::{OutsideCall, PodCommand, drafts_of},
    cluster::ShelfAsked,
    pod_tools, view,
};

/// One of the Pod tools, as its caller sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PodToolView {
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

impl PodToolView {
    fn of(tool: &dyn Tool) -> Self {
        let (name, description) = (tool.name().to_owned(), tool.description().to_owned());
        Self { name, description, schema: tool.schema() }
    }
}

/// The work that a person gives a Pod, and access to what its commands serve.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    pub(super) inner: &'a Inner,
}

impl Work<'_> {
    pub async fn input(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Input(input)).await
    }

    /// Takes a queued input back. `already_answered`: it has begun.
    pub async fn take_back(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        queued: &CommandId,
    ) -> Result<QueuedInput, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::TakeBack(queued.clone())).await
    }

    /// Ends the run and takes back every queued input. `not_running`: there is no run.
    pub async fn interrupt(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
    ) -> Result<Interrupted, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Interrupt).await
    }

    /// Removes the records after a position from the model's context.
    pub async fn rewind(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Rewind(command)).await
    }

    /// Merges the Pod's own work tree or removes it.
    pub async fn change_worktree(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: WorktreeCommand,
    ) -> Result<WorktreeAnswer, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::ChangeWorktree(command)).await
    }

    /// Commits what is changed in the Pod's folder.
    pub async fn commit_changes(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: CommitCommand,
    ) -> Result<CommitAnswer, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::CommitChanges(command)).await
    }

    /// Takes a change of a file back.
    pub async fn revert(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RevertCommand,
    ) -> Result<Reverted, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Revert(command)).await
    }

    /// Undoes a revert.
    pub async fn undo_revert(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: UndoCommand,
    ) -> Result<Reverted, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::UndoRevert(command)).await
    }

    /// Sends comments on changes as one message.
    pub async fn review(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: ReviewCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Review(command)).await
    }

    /// Keeps what is noted on the Pod's changes and not sent yet.
    ///
    /// # Errors
    /// `changed` if it has another version by now.
    pub async fn keep_drafts(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        drafts: ReviewDrafts,
    ) -> Result<DraftsKept, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::KeepDrafts(drafts)).await
    }

    /// What is noted on the Pod's changes and not sent yet.
    pub async fn drafts(self, worker_id: &WorkerId) -> Result<ReviewDrafts, ApiError> {
        let row = self.inner.existing_row(worker_id).await?;
        drafts_of(self.inner, row.key).await
    }

    /// What has changed in the Pod's folders.
    pub async fn changes(self, worker_id: &WorkerId, since: Since) -> Result<Changes, ApiError> {
        self.inner.cluster.changes(worker_id, since).await
    }

    /// What a rewind to a record would change.
    pub async fn preview_rewind(self, worker_id: &WorkerId, to_seq: Seq) -> Result<RewindPreview, ApiError> {
        self.inner.cluster.preview_rewind(worker_id, to_seq).await
    }

    /// Runs one tool as this Pod would and waits until it has ended.
    pub async fn run_tool(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        let ToolCommand { arguments } = command;
        let asked = OutsideCall { name: name.to_owned(), arguments, by: ToolBy::Operator };
        self.inner.cluster.run_tool(key, origin, worker_id, asked).await
    }

    /// Calls one of the Pod tools for the Pod's own agent, under the same rules as a call of the model. Waits until it
    /// has ended, including for a person's approval.
    pub async fn agent_call(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        arguments: Value,
    ) -> Result<ToolAnswer, ApiError> {
        // Tools for files and commands are the agent's own business and are not offered here.
        if !pod_tools::tools(&Weak::new()).iter().any(|tool| tool.name() == name) {
            return Err(ApiError::new(ErrorCode::NotFound, format!("no Pod tool is called \"{name}\"")));
        }
        let asked = OutsideCall { name: name.to_owned(), arguments, by: ToolBy::Agent };
        self.inner.cluster.run_tool(key, origin, worker_id, asked).await
    }

    /// The Pod tools that this Pod has.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn pod_tools(self, worker_id: &WorkerId) -> Result<Vec<PodToolView>, ApiError> {
        let row = self.inner.existing_row(worker_id).await?;
        let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let tools = pod_tools::tools(&Weak::new()).into_iter().filter(|tool| opened.spec.offers(tool.name()));
        Ok(tools.map(|tool| PodToolView::of(&*tool)).collect())
    }

    /// Files that the Pod may read and whose path matches what was typed (`begun`), nearest first; relative to the
    /// working directory if they are in it. Limited to what is found within a short time, and to the length of a list.
    pub async fn files(self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        self.inner.cluster.files(worker_id, begun).await
    }

    /// The commands of a person's own for this Pod, nearest first.
    pub async fn own_commands(self, worker_id: &WorkerId) -> Result<Vec<OwnCommand>, ApiError> {
        self.inner.cluster.own_commands(worker_id).await
    }

    /// The message that one of them stands for.
    ///
    /// # Errors
    /// `not_found`: there is no such command.
    pub async fn own_message(self, worker_id: &WorkerId, name: &str, arguments: &str) -> Result<OwnMessage, ApiError> {
        self.inner.cluster.own_message(worker_id, name, arguments).await
    }

    /// The commands that the Pod runs in the background, oldest first, and those that ended last.
    pub async fn commands(self, worker_id: &WorkerId) -> Result<Vec<BackgroundCommand>, ApiError> {
        self.inner.cluster.commands(worker_id).await
    }

    /// What a background command wrote from a position on, at most 64 KiB.
    ///
    /// # Errors
    /// `not_found`: the Pod has no such command, or no longer.
    pub async fn command_output(
        self,
        worker_id: &WorkerId,
        id: &str,
        after: u64,
    ) -> Result<BackgroundOutput, ApiError> {
        self.inner.cluster.command_output(worker_id, id, after).await
    }

    /// Ends a background command and waits until it has ended, for at most 4 s.
    ///
    /// # Errors
    /// `not_found`, as [`Self::command_output`].
    pub async fn stop_command(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        id: String,
    ) -> Result<BackgroundCommand, ApiError> {
        let command = PodCommand::StopCommand(id);
        self.inner.cluster.command(key, origin, worker_id, command).await
    }

    /// The prompts of the MCP servers that the Pod uses. A server that is away is left out.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn prompts(self, worker_id: &WorkerId) -> Result<Vec<McpPrompt>, ApiError> {
        self.inner.cluster.shelf(worker_id, ShelfAsked::Prompts).await
    }

    /// The text of a prompt, with its arguments or with words as a person types them.
    ///
    /// # Errors
    /// `pod_not_found`; `not_found`; `invalid_input` for arguments that do not fit; `runtime_unavailable` if the server
    /// is away; `provider_error` if it refuses.
    pub async fn prompt(
        self,
        worker_id: &WorkerId,
        name: String,
        given: Result<Map<String, Value>, String>,
    ) -> Result<McpPromptText, ApiError> {
        let asked = match given {
            Ok(arguments) => ShelfAsked::Arguments { name, arguments },
            Err(words) => ShelfAsked::Words { name, words },
        };
        self.inner.cluster.shelf(worker_id, asked).await
    }

    /// The resources of the MCP servers that the Pod uses, as they are offered to somebody who has typed `begun`. A server that is away is left out.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn resources(self, worker_id: &WorkerId, begun: String) -> Result<Vec<McpResource>, ApiError> {
        self.inner.cluster.shelf(worker_id, ShelfAsked::Resources { begun }).await
    }

    /// The content of a resource.
    ///
    /// # Errors
    /// As for [`Self::prompt`].
    pub async fn resource(self, worker_id: &WorkerId, server: String, uri: String) -> Result<McpContent, ApiError> {
        self.inner.cluster.shelf(worker_id, ShelfAsked::Content { server, uri }).await
    }

    /// Connects to a loopback port of the newest running command of the Pod that serves it. `None` if no command does.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn look_in(self, worker_id: &WorkerId, port: u16) -> Result<Option<UnixStream>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.connect(worker_id, port).await)
    }

    /// The ports that the Pod's running commands listen on, in ascending order.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn listening_ports(self, worker_id: &WorkerId) -> Result<BTreeSet<u16>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.listening(worker_id).await)
    }
}
