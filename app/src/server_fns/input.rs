//! Messages to a Pod.

use leptos::prelude::*;
use protocol::{CommandId, Interrupted, McpPrompt, McpResource, PodRef, QueuedInput, Receipt, Segment};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// Sends a message. The receipt means that the text is on disk: only then may a composer forget it.
#[server(prefix = "/fn", endpoint = "submit_input", input = Json, output = Json)]
pub async fn submit_input(
    pod: PodRef,
    command_id: CommandId,
    segments: Vec<Segment>,
    queue: bool,
) -> Result<Receipt, UiError> {
    let input = protocol::InputCommand { segments, queue, steer: false };
    door::carry_out(command_id, operations::Input { pod, body: input }).await
}

/// Sends a message into the current run: its model gets it at its next call. If no run is in progress, it starts one.
#[server(prefix = "/fn", endpoint = "steer_input", input = Json, output = Json)]
pub async fn steer_input(pod: PodRef, command_id: CommandId, segments: Vec<Segment>) -> Result<Receipt, UiError> {
    let input = protocol::InputCommand { segments, queue: true, steer: true };
    door::carry_out(command_id, operations::Input { pod, body: input }).await
}

/// Removes a queued message from the queue and returns it. One that has already begun is refused as
/// `already_answered`.
#[server(prefix = "/fn", endpoint = "take_back_input", input = Json, output = Json)]
pub async fn take_back_input(pod: PodRef, command_id: CommandId, queued: CommandId) -> Result<QueuedInput, UiError> {
    door::carry_out(command_id, operations::TakeBack { pod, command_id: queued }).await
}

/// Ends the run and takes every queued message back, in one step.
#[server(prefix = "/fn", endpoint = "interrupt_pod", input = Json, output = Json)]
pub async fn interrupt_pod(pod: PodRef, command_id: CommandId) -> Result<Interrupted, UiError> {
    door::carry_out(command_id, operations::Interrupt { pod, body: operation::NoFields {} }).await
}

/// Files that the Pod may read and whose path matches `begun`, best match first.
#[server(prefix = "/fn", endpoint = "fitting_files", input = Json, output = Json)]
pub async fn fitting_files(pod: PodRef, begun: String) -> Result<Vec<String>, UiError> {
    Ok(door::read(operations::Files { pod, q: operation::Loose(Some(begun)) }).await?.items)
}

/// Resources of the Pod's MCP servers whose name or address contains `begun`.
#[server(prefix = "/fn", endpoint = "fitting_resources", input = Json, output = Json)]
pub async fn fitting_resources(pod: PodRef, begun: String) -> Result<Vec<McpResource>, UiError> {
    let q = operation::Loose(Some(begun));
    Ok(door::read(operations::Resources { pod, q, page: operation::Page::default() }).await?.items)
}

/// Reads a resource and keeps its content, as a message will carry it.
#[server(prefix = "/fn", endpoint = "attach_resource", input = Json, output = Json)]
pub async fn attach_resource(pod: PodRef, server: String, uri: String, name: String) -> Result<Segment, UiError> {
    let (backend, origin) = door::caller()?;
    let (server, uri) = (operation::Loose(Some(server)), operation::Loose(Some(uri)));
    let content = door::read(operations::ResourceContent { pod, server, uri }).await?;
    let view = door::answer(backend.servers().keep(&origin, content).await)?;
    Ok(Segment::kept(&view, name))
}

/// The prompts of the Pod's MCP servers.
#[server(prefix = "/fn", endpoint = "list_prompts", input = Json, output = Json)]
pub async fn list_prompts(pod: PodRef) -> Result<Vec<McpPrompt>, UiError> {
    Ok(door::read(operations::Prompts { pod, page: operation::Page::default() }).await?.items)
}

/// The text that a prompt makes of its arguments, as they were typed. Nothing is sent to the Pod.
#[server(prefix = "/fn", endpoint = "make_prompt", input = Json, output = Json)]
pub async fn make_prompt(pod: PodRef, name: String, words: String) -> Result<String, UiError> {
    let (arguments, words) = (operation::Loose(None), operation::Loose(Some(words)));
    Ok(door::read(operations::PromptMade { pod, name, arguments, words }).await?.text)
}
