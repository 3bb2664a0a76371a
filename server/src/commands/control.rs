use anyhow::Result;
use protocol::operations;
use protocol::{CommandId, ControlVerb};

use super::Caller;
use crate::output;

/// Pause, resume, cancel, stop, compact.
pub(super) async fn control(caller: &Caller, verb: ControlVerb, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let receipt = caller.client.command(&CommandId::random(), &verb.of(pod.clone())).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("{} accepted at seq {}", verb.as_str(), receipt.seq)),
    }
}
