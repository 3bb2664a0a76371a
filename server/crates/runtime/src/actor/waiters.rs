//! Callers that wait for the end of a tool call run by a person or an agent.

use std::collections::HashMap;

use protocol::ToolAnswer;

use super::task::Reply;

/// By call id.
#[derive(Debug, Default)]
pub(super) struct Waiters(HashMap<String, Vec<Reply<ToolAnswer>>>);

impl Waiters {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn wait(&mut self, call_id: String, reply: Reply<ToolAnswer>) {
        self.0.entry(call_id).or_default().push(reply);
    }

    /// Tells the callers that the call has ended.
    pub(super) fn tell(&mut self, call_id: &str, answer: &ToolAnswer) {
        for reply in self.0.remove(call_id).unwrap_or_default() {
            reply.send(Ok(answer.clone()));
        }
    }
}
