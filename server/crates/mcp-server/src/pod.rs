//! The Pod tools for a Pod's agent: as the Pod's model has them, with the same visibility, errors, permissions and
//! audit.

use backend::{Backend, Origin, TokenHolder};
use protocol::{ApiError, CommandId, ErrorCode};
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::{answer, arguments, caller};

/// The tools that the Pod has.
pub(crate) async fn listed(backend: &Backend, holder: &TokenHolder) -> Result<Vec<Tool>, ApiError> {
    let tools = backend.agents().tools(&holder.worker_id).await?;
    let output = arguments::object(json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "One line." },
            "content": { "type": "string" },
            "is_error": { "type": "boolean" },
            "code": { "type": "string" },
        },
        "required": ["summary", "is_error"],
    }));
    Ok(tools
        .into_iter()
        .map(|tool| {
            let annotations = annotations(&tool.name);
            Tool::new(tool.name, tool.description, arguments::object(tool.schema))
                .with_raw_output_schema(output.clone())
                .with_annotations(annotations)
        })
        .collect())
}

fn annotations(name: &str) -> ToolAnnotations {
    let reads = matches!(name, "ListPods" | "ReadPodOutput");
    let ends = matches!(name, "StopPod");
    ToolAnnotations::from_raw(None, Some(reads), Some(ends), Some(false), Some(false))
}

/// Calls a tool; `None` if there is none of this name. Waits for approval where the Pod's rules require it.
pub(crate) async fn call(
    backend: &Backend,
    holder: &TokenHolder,
    key: CommandId,
    name: &str,
    said: JsonObject,
) -> Result<Option<CallToolResult>, ApiError> {
    let worker_id = &holder.worker_id;
    let pod = backend.pod(&caller::own(worker_id)).await?.summary;
    let origin = Origin { by: format!("pod:{}", pod.name), client: "mcp".to_owned() };
    let calling = backend.agents().call(&origin, key, worker_id, name, Value::Object(said));
    let called = tokio::select! {
        called = calling => called,
        () = holder.ended.cancelled() => {
            return Err(ApiError::new(ErrorCode::Unauthorized, "the session of this Pod's agent is over"));
        }
    };
    match called {
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        called => Ok(Some(answer::of_pod_tool(&called?))),
    }
}
