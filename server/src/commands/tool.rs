use anyhow::{Result, bail};
use protocol::operations;
use protocol::{CommandId, ToolCommand};

use super::Caller;
use crate::{cli::ToolOptions, config::BadConfig, output};

/// Runs a tool as the Pod would and prints its result.
pub(super) async fn tool(caller: &Caller, options: ToolOptions) -> Result<()> {
    let arguments = serde_json::from_str(&options.arguments)
        .map_err(|error| BadConfig(format!("the arguments of a tool are JSON, such as '{{}}': {error}")))?;
    let pod = caller.resolve(&options.target).await?;
    let command = ToolCommand { arguments };
    let answer = caller
        .client
        .carry_out(
            &CommandId::random(),
            &operations::RunTool { pod: pod.clone(), name: options.tool.to_owned(), body: command.clone() },
        )
        .await?;
    match (caller.config.json, &answer.content) {
        (true, _) => output::json(&answer)?,
        (false, Some(content)) => output::line(&output::printable(content.trim_end_matches('\n')))?,
        (false, None) if answer.is_error => {}
        (false, None) => output::line(&output::printable(&answer.summary))?,
    }
    match (answer.is_error, answer.code) {
        (false, _) => Ok(()),
        (true, Some(code)) => bail!("{} ({code})", output::printable(&answer.summary)),
        (true, None) => bail!("{}", output::printable(&answer.summary)),
    }
}
