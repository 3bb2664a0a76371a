use anyhow::Result;
use protocol::operations;
use protocol::{CommandId, InputCommand, Segment};

use super::{Caller, words};
use crate::{cli::SendOptions, output};

/// Sends a message. When this returns, the message is on the server's disk.
pub(super) async fn send(caller: &Caller, options: SendOptions) -> Result<()> {
    let text = if options.text.is_empty() { String::new() } else { words(&options.text)? };
    let pod = caller.resolve(&options.target).await?;
    let mut segments = Vec::new();
    if !text.is_empty() {
        segments.push(Segment::text(text));
    }
    for path in &options.attach {
        segments.push(caller.client.attach(path).await?);
    }
    let input = InputCommand { segments, queue: !options.no_queue, steer: options.steer };
    let receipt = caller
        .client
        .carry_out(&CommandId::random(), &operations::Input { pod: pod.clone(), body: input.clone() })
        .await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("stored at seq {} as {}", receipt.seq, receipt.command_id)),
    }
}
