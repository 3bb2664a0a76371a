//! What is written to a Pod.

use leptos::prelude::*;
use protocol::{CommandId, PodRef, QueuedInput, Receipt, Segment};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// The receipt means that the text is on the disk: only then may a composer forget it.
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

/// A message for the run that goes on: its model gets it when it is asked next. Where none goes on, it begins one.
#[server(prefix = "/fn", endpoint = "steer_input", input = Json, output = Json)]
pub async fn steer_input(pod: PodRef, command_id: CommandId, segments: Vec<Segment>) -> Result<Receipt, UiError> {
    let input = protocol::InputCommand { segments, queue: true, steer: true };
    door::carry_out(command_id, operations::Input { pod, body: input }).await
}

/// Takes a queued message out of the queue, and gives it back. One that has begun is `already_answered`.
#[server(prefix = "/fn", endpoint = "take_back_input", input = Json, output = Json)]
pub async fn take_back_input(pod: PodRef, command_id: CommandId, queued: CommandId) -> Result<QueuedInput, UiError> {
    door::carry_out(command_id, operations::TakeBack { pod, command_id: queued }).await
}

/// Files that the Pod may read and whose path fits what was `begun`, the best first.
#[server(prefix = "/fn", endpoint = "fitting_files", input = Json, output = Json)]
pub async fn fitting_files(pod: PodRef, begun: String) -> Result<Vec<String>, UiError> {
    Ok(door::read(operations::Files { pod, q: operation::Loose(Some(begun)) }).await?.items)
}
