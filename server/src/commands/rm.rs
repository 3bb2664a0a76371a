use anyhow::{Result, bail};
use protocol::CommandId;

use super::Caller;
use crate::{cli::RmOptions, output};

/// Removes a Pod. The server wants its name again, and `--yes` is the person's word for it.
pub(super) async fn rm(caller: &Caller, options: RmOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let name = caller.client.pod(&pod).await?.summary.name;
    if !options.yes {
        bail!("this removes {name} with all that it holds and cannot be undone; say --yes to do it");
    }
    caller.client.delete(&CommandId::random(), &pod, name.as_str()).await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "removed": pod })),
        false => output::line(&format!("{name} is removed")),
    }
}
