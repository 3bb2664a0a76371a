use anyhow::Result;

use super::Caller;
use crate::cli::TuiOptions;

/// Opens the console in this terminal until it is quit. It can start without a server.
pub(super) async fn tui(caller: Caller, options: TuiOptions) -> Result<()> {
    let target = match (options.target, options.runtime, options.worker) {
        (Some(target), ..) => Some(target),
        (None, Some(runtime), Some(worker)) => Some(format!("{runtime}/{worker}")),
        _ => None,
    };
    Ok(tui::run(caller.client.named("tui"), target).await?)
}
