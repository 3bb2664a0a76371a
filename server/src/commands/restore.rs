use anyhow::{Result, bail};
use protocol::operations;
use protocol::{CommandId, Receipt, RestoreCommand, RestoreLine};

use super::{Caller, name_of};
use crate::{cli::RestoreOptions, output};

/// Restores a Pod, with `--tree` its descendants as well, and prints what became of each.
pub(super) async fn restore(caller: &Caller, options: RestoreOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let command = RestoreCommand { tree: options.tree };
    let receipt =
        caller.client.carry_out(&CommandId::random(), &operations::Restore { pod: pod.clone(), body: command }).await?;
    match caller.config.json {
        true => output::json(&receipt)?,
        false => print(&receipt)?,
    }
    match receipt.report.iter().filter(|line| !line.restored).count() {
        0 => Ok(()),
        missing => bail!("{missing} of its {} children could not be restored", receipt.report.len()),
    }
}

fn print(receipt: &Receipt) -> Result<()> {
    output::line(&format!("restore accepted at seq {}", receipt.seq))?;
    output::table(&receipt.report.iter().map(row).collect::<Vec<_>>())
}

fn row(line: &RestoreLine) -> Vec<String> {
    let result = if line.restored { "restored" } else { "not restored" };
    let reason = line.reason.as_deref().unwrap_or_default().replace('\n', " ");
    vec![name_of(&line.name, &line.pod), result.to_owned(), reason]
}
