use leptos::prelude::*;
use protocol::{CommandId, PodRef, ToolAnswer, ToolCommand};

use crate::{UiError, codec::Json};

/// Runs a tool as this Pod would. A tool's own failure is in the answer, not an error.
#[server(name = RunToolCall, prefix = "/fn", endpoint = "run_tool", input = Json, output = Json)]
pub async fn run_tool(
    pod: PodRef,
    command_id: CommandId,
    tool: String,
    command: ToolCommand,
) -> Result<ToolAnswer, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(
                &origin,
                command_id,
                protocol::operations::RunTool { pod: pod.clone(), name: tool.clone(), body: command },
            )
            .await,
    )
}
