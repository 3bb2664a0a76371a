//! Tool calls and their results, in whatever order they arrive.

use std::collections::VecDeque;

use jiff::Timestamp;
use protocol::{ToolBy, TurnEvent};
use serde_json::Value;

use super::drafts::Drafts;
use crate::{
    scrub::{TEXT_BYTES_MAX, arguments, cut},
    values,
};

/// How many calls may wait for a result; the oldest are given up.
pub(super) const CALLS_MAX: usize = 500;
/// The result of a call that was interrupted.
const NO_RESULT: &str = "it has no result: the run ended before";

#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Calls without a result, oldest first.
    pub(super) open: VecDeque<Call>,
    /// Ids of calls whose result arrived before the complete call.
    answered: VecDeque<String>,
}

#[derive(Debug)]
pub(super) struct Call {
    id: String,
    name: String,
    block: String,
    arguments: String,
    /// Whether its `tool_called` was written.
    is_called: bool,
    begun_at: Timestamp,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    summary: &'a str,
    content: Option<&'a str>,
    is_error: bool,
}

impl<'a> Outcome<'a> {
    /// `content`: the name of the field with the text, if there is one.
    pub(super) fn of(data: &'a Value, content: &str) -> Self {
        let content = data.get(content).and_then(Value::as_str);
        Self { summary: values::text(data, "summary"), content, is_error: values::is_true(data, "is_error") }
    }
}

impl Calls {
    /// The name of the newest call.
    pub(super) fn newest(&self) -> Option<&str> {
        self.open.back().map(|call| call.name.as_str())
    }

    /// The newest call with this id, since an answered one may have had the same.
    fn at(&self, id: &str) -> Option<usize> {
        self.open.iter().rposition(|call| call.id == id)
    }

    pub(super) fn begin(&mut self, id: &str, name: &str, drafts: &mut Drafts) {
        self.add(Call::new(id, name, drafts));
    }

    fn add(&mut self, call: Call) -> &mut Call {
        if self.open.len() >= CALLS_MAX {
            self.open.pop_front();
        }
        self.open.push_back_mut(call)
    }

    pub(super) fn grow(&mut self, id: &str, piece: &str, drafts: &mut Drafts) {
        let call = match self.at(id) {
            Some(at) => &mut self.open[at],
            None => self.add(Call::new(id, "", drafts)),
        };
        if call.arguments.len() + piece.len() > TEXT_BYTES_MAX {
            return;
        }
        call.arguments.push_str(piece);
        if !call.is_called {
            let (block, text) = (call.block.clone(), piece.to_owned());
            drafts.push(TurnEvent::ToolArgsChunk { block, text, name: None });
        }
    }

    /// The call is complete. Its result may have arrived before.
    pub(super) fn called(&mut self, id: &str, name: &str, given: String, drafts: &mut Drafts) {
        let call = match self.at(id) {
            Some(at) => &mut self.open[at],
            // Its result arrived first, so it was written with what was known then.
            None if self.answered.iter().any(|answered| answered == id) => {
                return self.answered.retain(|answered| answered != id);
            }
            None => self.add(Call::new(id, name, drafts)),
        };
        if !name.is_empty() {
            call.name = cut(name);
        }
        if !given.is_empty() {
            call.arguments = given;
        }
        call.write(drafts);
    }

    pub(super) fn result(&mut self, id: &str, outcome: &Outcome<'_>, drafts: &mut Drafts) {
        let open = self.at(id).and_then(|at| self.open.remove(at));
        let mut call = open.unwrap_or_else(|| Call::new(id, "", drafts));
        if !call.is_called {
            call.write(drafts);
            self.answered.push_back(id.to_owned());
            self.answered.truncate(CALLS_MAX);
        }
        call.finish(outcome, None, drafts);
    }

    /// The run is over, and no more results will come.
    pub(super) fn end_all(&mut self, drafts: &mut Drafts) {
        self.answered.clear();
        for mut call in self.open.drain(..) {
            call.write(drafts);
            let outcome = Outcome { summary: NO_RESULT, content: None, is_error: true };
            call.finish(&outcome, Some("interrupted".to_owned()), drafts);
        }
    }
}

impl Call {
    fn new(id: &str, name: &str, drafts: &mut Drafts) -> Self {
        let (block, begun_at) = (drafts.id("t"), drafts.at);
        Self { id: cut(id), name: cut(name), block, arguments: String::new(), is_called: false, begun_at }
    }

    fn write(&mut self, drafts: &mut Drafts) {
        if std::mem::replace(&mut self.is_called, true) {
            return;
        }
        let name = if self.name.is_empty() { "unknown".to_owned() } else { self.name.clone() };
        let (call_id, block, arguments) = (self.id.clone(), self.block.clone(), arguments(&self.arguments));
        drafts.push(TurnEvent::ToolCalled { call_id, block, name, arguments, by: ToolBy::Model, agent_call_id: None });
    }

    fn finish(self, outcome: &Outcome<'_>, code: Option<String>, drafts: &mut Drafts) {
        let took = drafts.at.as_millisecond().saturating_sub(self.begun_at.as_millisecond());
        drafts.push(TurnEvent::ToolFinished {
            call_id: self.id,
            block: self.block,
            summary: drafts.scrub.found(outcome.summary),
            content: outcome.content.map(|content| drafts.scrub.found(content)),
            is_error: outcome.is_error,
            code,
            diff: None,
            duration_ms: if drafts.is_replay { 0 } else { u64::try_from(took).unwrap_or_default() },
            by: ToolBy::Model,
            seen: None,
            blobs: protocol::Blobs::default(),
        });
    }
}
