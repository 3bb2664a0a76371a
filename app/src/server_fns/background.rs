//! The commands that a Pod runs in the background.

use leptos::prelude::*;
use protocol::{BackgroundCommand, BackgroundOutput, CommandId, PodRef};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// All of them, oldest first.
#[server(prefix = "/fn", endpoint = "list_commands", input = Json, output = Json)]
pub async fn list_commands(pod: PodRef) -> Result<Vec<BackgroundCommand>, UiError> {
    Ok(door::read(operations::Commands { pod, page: operation::Page::default() }).await?.items)
}

/// What one wrote from a position on.
#[server(prefix = "/fn", endpoint = "command_output", input = Json, output = Json)]
pub async fn command_output(pod: PodRef, id: String, after: u64) -> Result<BackgroundOutput, UiError> {
    door::read(operations::CommandOutput { pod, id, after: operation::Filled(Some(after)) }).await
}

/// Ends one.
#[server(prefix = "/fn", endpoint = "stop_command", input = Json, output = Json)]
pub async fn stop_command(pod: PodRef, command: CommandId, id: String) -> Result<BackgroundCommand, UiError> {
    door::carry_out(command, operations::StopCommand { pod, id, body: operation::NoFields {} }).await
}
