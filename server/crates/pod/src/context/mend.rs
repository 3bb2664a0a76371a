//! Repairs a conversation with missing parts so that a provider still accepts it.

use std::collections::HashSet;

use protocol::{Message, Role, Seq};

use super::{Context, Entry};

/// Replaces a result that cannot be read any more.
const RESULT_LOST: &str = "[the record of this result is damaged; what it said is lost]";
/// Replaces a missing beginning of the conversation.
const BEGINNING_LOST: &str = "[the record of this message is damaged; what it said is lost]";

impl Context {
    /// Call this once all events have been added, if some of them could not be read. Their content is left out; a call
    /// without a result gets one that says so, and a result without a call is dropped.
    pub fn mend(&mut self) {
        let mut mended: Vec<Entry> = Vec::with_capacity(self.messages.len());
        let mut open: Vec<(Seq, String)> = Vec::new();
        for entry in std::mem::take(&mut self.messages) {
            let called = entry.message.tool_calls.iter().map(|call| call.call_id.clone());
            let called: Vec<(Seq, String)> = entry.calls_at.iter().copied().zip(called).collect();
            match (entry.message.role, &entry.message.call_id) {
                (Role::Tool, call_id) => {
                    let of = open.iter().position(|(_, open)| Some(open) == call_id.as_ref());
                    let Some(of) = of else { continue };
                    open.remove(of);
                }
                (Role::Assistant, _) if entry.joins => open.extend(called),
                _ => {
                    mended.extend(open.drain(..).map(result_lost));
                    open = called;
                }
            }
            mended.push(entry);
        }
        mended.extend(open.into_iter().map(result_lost));
        if let Some(first) = mended.first().filter(|first| first.message.role != Role::User) {
            mended.insert(0, Entry::new(first.at, Message::new(Role::User, BEGINNING_LOST)));
        }
        self.messages = mended;
        self.count_calls();
        self.flush();
    }
}

fn result_lost((at, call_id): (Seq, String)) -> Entry {
    Entry::new(at, Message { call_id: Some(call_id), ..Message::new(Role::Tool, RESULT_LOST) })
}

/// Drops calls without results and results without calls: a model must never be sent either.
pub(super) fn drop_unanswered_calls(messages: &mut Vec<Entry>, to: Seq) {
    let answered: HashSet<String> = messages.iter().filter_map(|entry| entry.message.call_id.clone()).collect();
    for entry in messages.iter_mut() {
        let calls = std::mem::take(&mut entry.message.tool_calls).into_iter().zip(std::mem::take(&mut entry.calls_at));
        for (call, at) in calls.filter(|(call, at)| *at <= to && answered.contains(&call.call_id)) {
            entry.message.tool_calls.push(call);
            entry.calls_at.push(at);
        }
    }
    let says_nothing = |message: &Message| {
        message.role == Role::Assistant && message.content.is_empty() && message.tool_calls.is_empty()
    };
    messages.retain(|entry| !says_nothing(&entry.message));
}
