//! Calls of tools and their results, in whatever order they come.

use jiff::Timestamp;
use protocol::{ToolBy, TurnEvent};
use serde_json::Value;

use super::Translator;
use crate::compat::{
    scrub::{TEXT_BYTES_MAX, arguments, cut},
    values,
};

/// Calls that may wait for their result at once; the oldest are given up.
const CALLS_MAX: usize = 500;
/// A call that was cut short has no result.
const NO_RESULT: &str = "it has no result: the run ended before";

/// A call without a result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    block: String,
    arguments: String,
    /// Its `tool_called` was written.
    is_called: bool,
    begun_at: Timestamp,
}

impl Translator {
    pub(super) fn tool_event(&mut self, name: &str, data: &Value) -> bool {
        let id = values::text(data, "id");
        match name {
            "tool_call_start" => {
                self.in_run();
                self.call_begins(id, values::text(data, "name"));
            }
            "tool_call_args_delta" => self.call_grows(id, values::text(data, "json")),
            "tool_call_done" => {
                self.in_run();
                self.called(id, values::text(data, "name"), argument_text(data));
            }
            "tool_result" => {
                self.in_run();
                let summary = values::text(data, "summary");
                let output = data.get("output").and_then(Value::as_str);
                self.result(id, summary, output, values::is_true(data, "is_error"));
            }
            _ => return false,
        }
        true
    }

    fn call(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.id == id)
    }

    fn call_begins(&mut self, id: &str, name: &str) {
        if self.calls.len() >= CALLS_MAX {
            self.calls.pop_front();
        }
        let (block, begun_at) = (self.id("t"), self.at);
        let (id, name) = (cut(id), cut(name));
        self.calls.push_back(Call { id, name, block, arguments: String::new(), is_called: false, begun_at });
    }

    fn call_grows(&mut self, id: &str, piece: &str) {
        self.in_run();
        if self.call(id).is_none() {
            self.call_begins(id, "");
        }
        let Some(call) = self.call(id).filter(|call| call.arguments.len() + piece.len() <= TEXT_BYTES_MAX) else {
            return;
        };
        call.arguments.push_str(piece);
        if !call.is_called {
            let block = call.block.clone();
            self.push(TurnEvent::ToolArgsChunk { block, text: piece.to_owned(), name: None });
        }
    }

    /// The call is whole. A result may have come before.
    pub(super) fn called(&mut self, id: &str, name: &str, given: String) {
        if self.call(id).is_none() {
            // Its result was here first: it was called with what was known then.
            if self.answered.iter().any(|answered| answered == id) {
                self.answered.retain(|answered| answered != id);
                return;
            }
            self.call_begins(id, name);
        }
        let Some(call) = self.call(id) else { return };
        if !name.is_empty() {
            call.name = cut(name);
        }
        if !given.is_empty() {
            call.arguments = given;
        }
        self.write_call(id);
    }

    fn write_call(&mut self, id: &str) {
        let Some(call) = self.call(id).filter(|call| !call.is_called) else { return };
        call.is_called = true;
        let name = if call.name.is_empty() { "unknown".to_owned() } else { call.name.clone() };
        let (call_id, block, arguments) = (call.id.clone(), call.block.clone(), arguments(&call.arguments));
        self.push(TurnEvent::ToolCalled { call_id, block, name, arguments, by: ToolBy::Model });
    }

    pub(super) fn result(&mut self, id: &str, summary: &str, content: Option<&str>, is_error: bool) {
        if self.call(id).is_none() {
            self.call_begins(id, "");
        }
        if self.call(id).is_some_and(|call| !call.is_called) {
            self.write_call(id);
            self.answered.push_back(id.to_owned());
            self.answered.truncate(CALLS_MAX);
        }
        let Some(at) = self.calls.iter().rposition(|call| call.id == id) else { return };
        let Some(call) = self.calls.remove(at) else { return };
        let (summary, content) = (self.scrub.found(summary), content.map(|content| self.scrub.found(content)));
        self.finish_call(call, summary, content, is_error, None);
    }

    fn finish_call(
        &mut self,
        call: Call,
        summary: String,
        content: Option<String>,
        is_error: bool,
        code: Option<String>,
    ) {
        let took = self.at.as_millisecond().saturating_sub(call.begun_at.as_millisecond());
        let duration_ms = if self.is_replay { 0 } else { u64::try_from(took).unwrap_or_default() };
        let (call_id, block) = (call.id, call.block);
        let (diff, by, seen) = (None, ToolBy::Model, None);
        self.push(TurnEvent::ToolFinished {
            call_id,
            block,
            summary,
            content,
            is_error,
            code,
            diff,
            duration_ms,
            by,
            seen,
        });
    }

    /// The run is over, and no result comes any more.
    pub(super) fn close_calls(&mut self) {
        self.answered.clear();
        while let Some(id) = self.calls.front().map(|call| call.id.clone()) {
            self.write_call(&id);
            let Some(at) = self.calls.iter().rposition(|call| call.id == id) else { return };
            let Some(call) = self.calls.remove(at) else { return };
            self.finish_call(call, NO_RESULT.to_owned(), None, true, Some("interrupted".to_owned()));
        }
    }
}

/// Arguments come as JSON in a text; some send them as they are.
pub(super) fn argument_text(data: &Value) -> String {
    match data.get("arguments") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
