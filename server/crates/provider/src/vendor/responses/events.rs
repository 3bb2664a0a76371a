//! Reads everything in an answer besides its text.

use protocol::{THOUGHT_OF_WORDS, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{calls::CallPiece, notice::Notice};

/// The position of a thought among the calls of its answer: how many precede it. Absent if none do.
pub(in crate::vendor) const AFTER_CALLS: &str = "after_calls";

/// How an answer ended.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::vendor) struct End {
    /// As a `finish_reason`, or the error.
    pub(in crate::vendor) reason: Result<&'static str, Value>,
    pub(in crate::vendor) usage: Option<Usage>,
    /// The complete output once more.
    pub(in crate::vendor) output: Vec<Value>,
}

/// What one event says; the library reads the text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::vendor) enum Read {
    /// The server has begun to work on the request.
    Begun,
    Notice(Notice),
    End(End),
}

/// `None` for an event with nothing but text, as most are, and for irrelevant ones.
pub(in crate::vendor) fn read(frame: &str) -> Option<Read> {
    if frame.contains("\"response.output_text.delta\"") || frame.contains("\"response.reasoning_summary_text.delta\"") {
        return None;
    }
    let Event { kind, output_index, summary_index, delta, item, response } = serde_json::from_str(frame).ok()?;
    Some(Read::Notice(match kind.as_str() {
        "response.output_item.added" => Notice::Call(call(&item?, output_index)?),
        "response.function_call_arguments.delta" => {
            Notice::Call(CallPiece { index: output_index, id: None, name: None, text: delta? })
        }
        "response.output_item.done" => match item_of(&item?, output_index)?.pop()? {
            // Its text has been streamed already.
            Notice::Text(_) | Notice::Reasoning(_) => return None,
            whole => whole,
        },
        "response.refusal.delta" => Notice::Text(delta?),
        // Separates two paragraphs.
        "response.reasoning_summary_part.added" if summary_index > Some(0) => Notice::Reasoning("\n\n".to_owned()),
        "response.created" => return Some(Read::Begun),
        "response.completed" | "response.incomplete" | "response.failed" => return Some(Read::End(end(response?))),
        _ => return None,
    }))
}

/// Reads an unstreamed answer.
pub(in crate::vendor) fn whole(response: Value) -> Option<End> {
    Some(end(serde_json::from_value(response).ok()?))
}

/// The contents of these items.
pub(in crate::vendor) fn notices(items: &[Value]) -> Vec<Notice> {
    items.iter().filter_map(|item| item_of(item, None)).flatten().collect()
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    output_index: Option<u64>,
    summary_index: Option<u64>,
    delta: Option<String>,
    item: Option<Value>,
    response: Option<Response>,
}

/// The final state of an answer, as far as we read it. All fields may be missing or null.
#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
    usage: Option<Value>,
    output: Option<Vec<Value>>,
}

fn end(response: Response) -> End {
    let Response { status, error, incomplete_details, usage, output } = response;
    let why = incomplete_details.as_ref().and_then(|details| details.get("reason")).and_then(Value::as_str);
    let reason = match (status.as_deref(), why, error.filter(|error| !error.is_null())) {
        (_, _, Some(error)) => Err(error),
        (Some("failed" | "cancelled"), ..) => Err(json!({ "message": "the answer failed, and no reason was given" })),
        (_, Some("content_filter"), _) => Ok("content_filter"),
        (_, Some(_), _) | (Some("incomplete"), ..) => Ok("length"),
        _ => Ok("stop"),
    };
    End {
        reason,
        usage: usage.filter(Value::is_object).map(|usage| counted(&usage)),
        output: output.unwrap_or_default(),
    }
}

fn counted(usage: &Value) -> Usage {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    Usage {
        input,
        cached: count("/input_tokens_details/cached_tokens"),
        written: count("/input_tokens_details/cache_write_tokens"),
        output,
        context_used: input.saturating_add(output),
        ..Usage::default()
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn call(item: &Value, index: Option<u64>) -> Option<CallPiece> {
    (text(item, "type")? == "function_call").then(|| {
        let arguments = text(item, "arguments").unwrap_or_default();
        CallPiece { index, id: text(item, "call_id"), name: text(item, "name"), text: arguments }
    })
}

/// The contents of a complete item; data that has to go back comes last.
fn item_of(item: &Value, index: Option<u64>) -> Option<Vec<Notice>> {
    let list = |key: &str| item.get(key).and_then(Value::as_array).into_iter().flatten();
    match text(item, "type")?.as_str() {
        "message" => {
            let said = list("content").filter_map(|part| text(part, "text").or_else(|| text(part, "refusal")));
            Some(said.map(Notice::Text).chain(phase(item).map(Notice::Thought)).collect())
        }
        "function_call" => Some(vec![Notice::Whole(call(item, index)?)]),
        "reasoning" => {
            let paragraphs: Vec<_> =
                list("summary").chain(list("content")).filter_map(|part| text(part, "text")).collect();
            let said = (!paragraphs.is_empty()).then(|| Notice::Reasoning(paragraphs.join("\n\n")));
            Some(said.into_iter().chain(sealed(item).map(Notice::Thought)).collect())
        }
        _ => None,
    }
}

/// Whether a message is intermediate or the final answer, which some models want back with it.
fn phase(item: &Value) -> Option<Value> {
    Some(json!({ "type": THOUGHT_OF_WORDS, "phase": text(item, "phase")? }))
}

/// Encrypted reasoning; without `encrypted_content` it is useless, because the provider does not store it.
fn sealed(item: &Value) -> Option<Value> {
    let seal = text(item, "encrypted_content")?;
    let summary = item.get("summary").filter(|summary| summary.is_array()).cloned().unwrap_or_else(|| json!([]));
    let mut thought = json!({ "type": "reasoning", "summary": summary, "encrypted_content": seal });
    if let Some(id) = text(item, "id") {
        thought["id"] = Value::String(id);
    }
    Some(thought)
}
