//! An answer as OpenAI's Responses API streams it: items that begin, grow and end.

use serde_json::{Value, json};

use super::super::answer::Tokens;

/// An answer so far. Each method returns the events that follow.
#[derive(Debug)]
pub(super) struct Items {
    model: Value,
    /// Whether the client asked for reasoning that it can send back.
    seals: bool,
    /// Items so far, including the open one.
    output: Vec<Value>,
    is_open: bool,
}

impl Items {
    /// Also returns the first event of an answer.
    pub(super) fn new(question: &Value) -> (Self, Value) {
        let seals =
            question["include"].as_array().is_some_and(|list| list.contains(&json!("reasoning.encrypted_content")));
        let items = Self { model: question["model"].clone(), seals, output: Vec::new(), is_open: false };
        let begun = json!({ "type": "response.created", "response": items.response("in_progress") });
        (items, begun)
    }

    pub(super) fn text(&mut self, text: &str) -> Vec<Value> {
        let item =
            || json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [] });
        let mut events = self.open("message", item);
        let at = self.output.len() - 1;
        grow(&mut self.output[at]["content"], "output_text", text);
        events.push(json!({
            "type": "response.output_text.delta", "item_id": self.output[at]["id"], "output_index": at,
            "content_index": 0, "delta": text
        }));
        events
    }

    pub(super) fn reasoning(&mut self, text: &str) -> Vec<Value> {
        let id = format!("rs_{}", self.output.len());
        let mut events = self.open("reasoning", || json!({ "type": "reasoning", "id": id, "summary": [] }));
        let at = self.output.len() - 1;
        let place = |event: Value| {
            let mut event = event;
            (event["item_id"], event["output_index"], event["summary_index"]) = (json!(id), json!(at), json!(0));
            event
        };
        if self.output[at]["summary"] == json!([]) {
            let part = json!({ "type": "summary_text", "text": "" });
            events.push(place(json!({ "type": "response.reasoning_summary_part.added", "part": part })));
        }
        grow(&mut self.output[at]["summary"], "summary_text", text);
        events.push(place(json!({ "type": "response.reasoning_summary_text.delta", "delta": text })));
        events
    }

    pub(super) fn call(&mut self, id: Option<&str>, name: &str, pieces: &[String]) -> Vec<Value> {
        let mut events = self.close();
        let at = self.output.len();
        let call_id = id.map_or_else(|| format!("call_{at}"), str::to_owned);
        let item = json!({
            "type": "function_call", "id": format!("fc_{at}"), "call_id": call_id, "name": name, "arguments": "",
            "status": "in_progress"
        });
        events.extend(self.open("", || item));
        let place = json!(format!("fc_{at}"));
        events.extend(pieces.iter().map(|piece| {
            json!({
                "type": "response.function_call_arguments.delta", "item_id": place, "output_index": at, "delta": piece
            })
        }));
        let arguments = pieces.concat();
        events.push(json!({
            "type": "response.function_call_arguments.done", "item_id": place, "output_index": at, "arguments": arguments
        }));
        self.output[at]["arguments"] = json!(arguments);
        events.extend(self.close());
        events
    }

    pub(super) fn error(error: &Value) -> Value {
        let code = if error["code"].is_null() { &error["type"] } else { &error["code"] };
        json!({ "type": "error", "code": code, "message": error["message"], "param": null })
    }

    pub(super) fn finish(&mut self, reason: Option<&str>, tokens: Option<Tokens>) -> Vec<Value> {
        let mut events = self.close();
        let (status, why) = match reason {
            Some("length") => ("incomplete", Some("max_output_tokens")),
            Some("content_filter") => ("incomplete", Some("content_filter")),
            _ => ("completed", None),
        };
        let mut response = self.response(status);
        response["incomplete_details"] = why.map_or(Value::Null, |why| json!({ "reason": why }));
        response["usage"] = tokens.map_or(Value::Null, |tokens| {
            json!({
                "input_tokens": tokens.input, "input_tokens_details": { "cached_tokens": tokens.cached },
                "output_tokens": tokens.output, "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": tokens.input + tokens.output
            })
        });
        events.push(json!({ "type": format!("response.{status}"), "response": response }));
        events
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": null, "model": self.model,
            "output": self.output, "store": false
        })
    }

    /// Opens an item of this type unless one is open already.
    fn open(&mut self, kind: &str, item: impl FnOnce() -> Value) -> Vec<Value> {
        if self.is_open && self.output.last().is_some_and(|item| item["type"] == kind) {
            return Vec::new();
        }
        let mut events = self.close();
        let item = item();
        events.push(json!({ "type": "response.output_item.added", "output_index": self.output.len(), "item": item }));
        self.output.push(item);
        self.is_open = true;
        events
    }

    fn close(&mut self) -> Vec<Value> {
        if !std::mem::take(&mut self.is_open) {
            return Vec::new();
        }
        let at = self.output.len() - 1;
        let item = &mut self.output[at];
        if item["type"] != "reasoning" {
            item["status"] = json!("completed");
        } else if self.seals {
            item["encrypted_content"] = json!(format!("sealed-{at}"));
        }
        vec![json!({ "type": "response.output_item.done", "output_index": at, "item": item })]
    }
}

/// Appends to the single part of a list.
fn grow(parts: &mut Value, kind: &str, text: &str) {
    let Some(parts) = parts.as_array_mut() else { return };
    match parts.last_mut() {
        Some(part) => part["text"] = json!(format!("{}{text}", part["text"].as_str().unwrap_or_default())),
        None => parts.push(json!({ "type": kind, "text": text })),
    }
}
