//! The results of calls: structured, and as text for clients that do not support that.

use protocol::{ApiError, Candidate, ErrorCode, ToolAnswer};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde::Serialize;
use serde_json::{Value, json};

/// A success.
pub(crate) fn done(answer: &impl Serialize) -> CallToolResult {
    CallToolResult::structured(serde_json::to_value(answer).expect("answers of tools always encode"))
}

/// A failure that the caller can act on: the code and the sentence.
pub(crate) fn failed(error: &ApiError) -> CallToolResult {
    let ApiError { code, detail, candidates, retry_after_ms, paths } = error;
    let mut said = json!({ "code": code.as_str(), "detail": detail });
    if !candidates.is_empty() {
        said["candidates"] = candidates.iter().map(named).collect();
    }
    if let Some(ms) = retry_after_ms {
        said["retry_after_ms"] = json!(ms);
    }
    if !paths.is_empty() {
        said["paths"] = json!(paths);
    }
    let mut result = CallToolResult::structured_error(said);
    result.content = vec![ContentBlock::text(format!("{code}: {detail}"))];
    result
}

fn named(candidate: &Candidate) -> Value {
    json!({ "pod": candidate.pod.to_string(), "name": candidate.name.as_str() })
}

/// The answer of a Pod tool, worded as for the Pod's own model.
pub(crate) fn of_pod_tool(answer: &ToolAnswer) -> CallToolResult {
    let text = match &answer.content {
        Some(content) => format!("{}\n{content}", answer.summary),
        None => answer.summary.clone(),
    };
    let mut result = match answer.is_error {
        true => CallToolResult::structured_error(json!(answer)),
        false => CallToolResult::structured(json!(answer)),
    };
    result.content = vec![ContentBlock::text(text)];
    result
}

/// A protocol error, for requests that are not tool calls.
pub(crate) fn protocol_error(error: ApiError) -> ErrorData {
    let data = Some(json!({ "code": error.code.as_str() }));
    match error.code {
        ErrorCode::PodNotFound | ErrorCode::NotFound | ErrorCode::RuntimeNotFound | ErrorCode::NotVisible => {
            ErrorData::resource_not_found(error.detail, data)
        }
        code if code.status() < 500 => ErrorData::invalid_params(error.detail, data),
        _ => ErrorData::internal_error(error.detail, data),
    }
}
