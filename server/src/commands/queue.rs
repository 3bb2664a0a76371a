use anyhow::Result;
use jiff::Timestamp;
use protocol::operations;
use protocol::{CommandId, Listing, QueuedInput, Segment};

use super::{Caller, ago};
use crate::{cli::UnqueueOptions, config::BadConfig, output};

/// Prints the messages that wait for the current run to end.
pub(super) async fn queue(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let items = caller.client.read(&operations::Pod { pod: pod.clone() }).await?.queued;
    if caller.config.json {
        return output::json(&Listing { items, next: None });
    }
    if items.is_empty() {
        output::note(&format!("the queue of {target} is empty"));
        return Ok(());
    }
    output::headed(["COMMAND", "SENT", "HOW", "TEXT"], items.iter().map(row))
}

fn row(queued: &QueuedInput) -> [String; 4] {
    let how = if queued.steer { "steers" } else { "waits" };
    let sent = ago(queued.at, Timestamp::now());
    [queued.command_id.clone(), sent, how.to_owned(), Segment::join(&queued.segments)]
}

/// Takes back a queued message.
pub(super) async fn unqueue(caller: &Caller, options: UnqueueOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let queued = CommandId::parse(&options.id).map_err(|error| BadConfig(error.to_string()))?;
    let input = caller
        .client
        .carry_out(&CommandId::random(), &operations::TakeBack { pod: pod.clone(), command_id: queued.clone() })
        .await?;
    match caller.config.json {
        true => output::json(&input),
        false => output::line(&output::printable(&format!("taken back: {}", Segment::join(&input.segments)))),
    }
}
