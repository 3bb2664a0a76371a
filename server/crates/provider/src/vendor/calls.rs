//! Assembles tool calls from their chunks.
//!
//! Servers differ in everything: with or without an index, with or without an id, or with the same id for every call
//! of a conversation.

use std::collections::HashSet;

use genai::chat::ToolCall;
use protocol::Message;
use serde_json::{Map, Value};

use super::bounds::{ARGUMENTS_BYTES_MAX, CALLS_MAX, NAME_BYTES_MAX, TooMuch};
use crate::{ModelEvent, request::first_free_call_number};

/// A chunk of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallPiece {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// A chunk of the arguments' JSON text.
    pub(super) text: String,
}

/// A call with its arguments so far.
impl From<ToolCall> for CallPiece {
    fn from(call: ToolCall) -> Self {
        let text = match call.fn_arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            value => value.to_string(),
        };
        Self { index: None, id: Some(call.call_id), name: Some(call.fn_name), text }
    }
}

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
    /// Ids of earlier calls in the context, which a new call must not reuse.
    taken: HashSet<String>,
    /// The number of the next generated id.
    next_number: usize,
}

#[derive(Debug)]
struct OpenCall {
    /// The server's own index, if it has one.
    index: Option<u64>,
    id: String,
    name: String,
    text: String,
}

impl Calls {
    pub(super) fn new(messages: &[Message]) -> Self {
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        Self {
            open: Vec::new(),
            taken: calls.map(|call| call.call_id.clone()).collect(),
            next_number: first_free_call_number(messages),
        }
    }

    /// Adds a chunk; returns an event if there is something new to show.
    pub(super) fn add(&mut self, piece: CallPiece) -> Result<Option<ModelEvent>, TooMuch> {
        let id = piece.id.filter(|id| !id.is_empty());
        let name = piece.name.filter(|name| !name.is_empty());
        if [&id, &name].into_iter().flatten().any(|word| word.len() > NAME_BYTES_MAX) {
            return Err(TooMuch::Name);
        }
        let position = match self.position(piece.index, id.as_deref(), name.is_some()) {
            Some(position) => position,
            None if self.open.len() == CALLS_MAX => return Err(TooMuch::Calls),
            None => {
                let call = OpenCall { index: piece.index, id: String::new(), name: String::new(), text: String::new() };
                self.open.push(call);
                self.open.len() - 1
            }
        };
        let call = &mut self.open[position];
        if let Some(id) = id
            && call.id.is_empty()
        {
            call.id = id;
        }
        if let Some(name) = name
            && call.name.is_empty()
        {
            call.name = name;
        }
        if call.text.len() + piece.text.len() > ARGUMENTS_BYTES_MAX {
            return Err(TooMuch::Arguments);
        }
        call.text.push_str(&piece.text);
        let begins = call.text.len() == piece.text.len();
        let says_more = begins || !piece.text.is_empty();
        Ok(says_more.then(|| ModelEvent::ToolArgs { index: position, name: call.name.clone(), text: piece.text }))
    }

    /// Adds a call whose complete text so far is known; only the new part becomes an event.
    pub(super) fn grow(&mut self, whole: CallPiece) -> Result<Option<ModelEvent>, TooMuch> {
        let id = whole.id.as_deref().filter(|id| !id.is_empty());
        let at = self.position(whole.index, id, whole.name.is_some());
        let known = at.map_or(0, |at| self.open[at].text.len());
        let text = whole.text.get(known..).unwrap_or_default().to_owned();
        match at {
            Some(_) if text.is_empty() => Ok(None),
            _ => self.add(CallPiece { text, ..whole }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The complete calls, in the order in which they began.
    pub(super) fn finish(&mut self) -> Vec<ModelEvent> {
        let open = std::mem::take(&mut self.open);
        open.into_iter()
            .enumerate()
            .map(|(index, call)| ModelEvent::ToolCall {
                index,
                call_id: self.unique(call.id),
                name: call.name,
                arguments: arguments(call.text),
            })
            .collect()
    }

    /// The open call that a chunk belongs to; `None` if it begins a new one.
    fn position(&self, index: Option<u64>, id: Option<&str>, has_name: bool) -> Option<usize> {
        let other_id = |call: &OpenCall| id.is_some_and(|id| !call.id.is_empty() && call.id != id);
        match (index, id) {
            (Some(_), _) => {
                // Some servers number every call 0 and distinguish them only by id.
                let at = self.open.iter().rposition(|call| call.index == index)?;
                (!(has_name && other_id(&self.open[at]))).then_some(at)
            }
            (None, Some(id)) => self.open.iter().position(|call| call.id == id),
            (None, None) if has_name => None,
            (None, None) => self.open.len().checked_sub(1),
        }
    }

    fn unique(&mut self, id: String) -> String {
        let mut id = id;
        while id.is_empty() || !self.taken.insert(id.clone()) {
            id = format!("call_{}", self.next_number);
            self.next_number += 1;
        }
        id
    }
}

/// Empty text means no arguments. Invalid JSON stays text: the tool reports what is wrong with it.
fn arguments(text: String) -> Value {
    match text.trim() {
        "" => Value::Object(Map::new()),
        json => serde_json::from_str(json).unwrap_or(Value::String(text)),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Role, ToolCall};
    use serde_json::json;

    use super::*;

    fn piece(index: Option<u64>, id: &str, name: &str, text: &str) -> CallPiece {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        CallPiece { index, id: given(id), name: given(name), text: text.to_owned() }
    }

    /// Name, id and arguments of each resulting call.
    fn finished(pieces: Vec<CallPiece>) -> Vec<(String, String, Value)> {
        let mut calls = Calls::new(&[]);
        for piece in pieces {
            calls.add(piece).unwrap();
        }
        calls
            .finish()
            .into_iter()
            .map(|event| match event {
                ModelEvent::ToolCall { call_id, name, arguments, .. } => (name, call_id, arguments),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn call(name: &str, id: &str, arguments: Value) -> (String, String, Value) {
        (name.to_owned(), id.to_owned(), arguments)
    }

    #[test]
    fn pieces_of_two_calls_may_come_mixed() {
        let calls = finished(vec![
            piece(Some(0), "a", "Read", "{\"path\""),
            piece(Some(1), "b", "Grep", ""),
            piece(Some(0), "", "", ":\"x\"}"),
            piece(Some(1), "", "", "{\"pattern\":\"y\"}"),
        ]);
        assert_eq!(calls, [call("Read", "a", json!({"path": "x"})), call("Grep", "b", json!({"pattern": "y"}))]);
    }

    #[test]
    fn calls_without_index_and_id_are_told_apart_by_their_names() {
        let calls = finished(vec![
            piece(None, "", "Read", "{\"path\":"),
            piece(None, "", "", "\"x\"}"),
            piece(None, "", "ListPods", ""),
        ]);
        assert_eq!(calls, [call("Read", "call_1", json!({"path": "x"})), call("ListPods", "call_2", json!({}))]);
    }

    #[test]
    fn calls_that_are_all_counted_0_are_told_apart_by_their_ids() {
        let calls = finished(vec![piece(Some(0), "a", "Read", "{}"), piece(Some(0), "b", "Grep", "{}")]);
        assert_eq!(calls, [call("Read", "a", json!({})), call("Grep", "b", json!({}))]);
    }

    #[test]
    fn arguments_that_are_not_json_stay_text() {
        assert_eq!(finished(vec![piece(Some(0), "a", "Read", "{oops")]), [call("Read", "a", json!("{oops"))]);
    }

    #[test]
    fn an_id_of_an_earlier_turn_is_replaced() {
        let mut message = Message::new(Role::Assistant, "");
        let earlier = |id: &str| ToolCall { call_id: id.to_owned(), name: "Read".to_owned(), arguments: json!({}) };
        message.tool_calls = vec![earlier("call_0"), earlier("call_7")];
        let mut calls = Calls::new(&[message]);
        calls.add(piece(Some(0), "call_0", "Read", "{}")).unwrap();
        let Some(ModelEvent::ToolCall { call_id, .. }) = calls.finish().pop() else { panic!() };
        assert_eq!(call_id, "call_8");
    }

    #[test]
    fn a_text_that_grows_gives_only_what_is_new() {
        let mut calls = Calls::new(&[]);
        let texts: Vec<_> = ["", "{\"a\"", "{\"a\":1}", "{\"a\":1}"]
            .iter()
            .filter_map(|whole| match calls.grow(piece(None, "id", "Read", whole)).unwrap() {
                Some(ModelEvent::ToolArgs { text, .. }) => Some(text),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["", "{\"a\"", ":1}"]);
    }
}
