use anyhow::{Result, bail};
use protocol::{CommandId, ControlVerb, operations::Answer};

use super::Caller;
use crate::output;

/// Pauses, resumes, retries, cancels, stops or compacts a Pod.
pub(super) async fn control(caller: &Caller, verb: ControlVerb, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let Answer::Receipt(receipt) = caller.client.command(&CommandId::random(), &verb.of(pod)).await? else {
        bail!("the server did not answer with a receipt");
    };
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("{} accepted at seq {}", verb.as_str(), receipt.seq)),
    }
}
