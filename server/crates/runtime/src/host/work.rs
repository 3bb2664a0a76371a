//! What a person gives a Pod to do, and what is seen of its commands.

use std::collections::BTreeSet;

use protocol::{
    ApiError, CommandId, InputCommand, QueuedInput, Receipt, RewindCommand, ToolAnswer, ToolCommand, WorkerId,
};
use tokio::net::UnixStream;

use super::Inner;
use crate::{CommandKey, Origin, actor::PodCommand};

/// What a person gives a Pod to do, and what is seen of its commands.
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

    /// Takes the records after a position out of the model's context.
    pub async fn rewind(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Rewind(command)).await
    }

    /// Writes a note into the transcript.
    pub async fn note(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        text: String,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Note(text)).await
    }

    /// Runs one tool as this Pod would; waits until it has ended.
    pub async fn run_tool(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        self.inner.cluster.run_tool(key, origin, worker_id, name, command).await
    }

    /// Files that the Pod may read and whose path fits what was `begun`, the nearest first; from the working directory
    /// when they are in it. What is found within a short time, and not more than a list shows.
    pub async fn files(self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        self.inner.cluster.files(worker_id, begun).await
    }

    /// A connection to a port of the loopback of one of the Pod's running commands: of the newest that serves it. None: no command
    /// does now.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn look_in(self, worker_id: &WorkerId, port: u16) -> Result<Option<UnixStream>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.connect(worker_id, port).await)
    }

    /// The ports that the Pod's running commands listen on, the lowest first.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn listening_ports(self, worker_id: &WorkerId) -> Result<BTreeSet<u16>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.listening(worker_id).await)
    }
}
