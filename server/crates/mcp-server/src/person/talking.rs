//! `send`.

use protocol::{ApiError, InputCommand, Segment, operations::Input};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Hints, PersonTool};

pub(super) struct Send;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SendArguments {
    /// The Pod: its name, `name@runtime_id` or `runtime_id/worker_id`.
    pod: String,
    /// The text of the message, up to 64 KiB.
    text: String,
    /// If the Pod is running, queue the message until the run ends (true, the default), or be refused as `busy`.
    #[serde(default = "yes")]
    queue: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sent {
    pod: String,
    /// The id of this message; its run has the same id.
    command_id: String,
    accepted_at: String,
    /// The head of the Pod's journal when the message was accepted.
    seq: i64,
}

impl PersonTool for Send {
    const NAME: &'static str = "send";
    const TITLE: &'static str = "Send a message";
    const DESCRIPTION: &'static str = "Sends a Pod a message, on behalf of a person. Success means that it is on disk; `wait` waits for \
                                       the result.";
    const HINTS: Hints = Hints::Acts;
    type Arguments = SendArguments;
    type Answer = Sent;

    async fn act(call: &Call<'_>, arguments: SendArguments) -> Result<Sent, ApiError> {
        let SendArguments { pod, text, queue } = arguments;
        let pod = call.backend.resolve(&pod).await?;
        let body = InputCommand { segments: vec![Segment::Text { text }], queue, steer: false };
        let receipt = call.backend.carry_out(&call.origin, call.key.clone(), Input { pod: pod.clone(), body }).await?;
        Ok(Sent {
            pod: pod.to_string(),
            command_id: receipt.command_id.to_string(),
            accepted_at: receipt.accepted_at.to_string(),
            seq: receipt.seq.0,
        })
    }
}
