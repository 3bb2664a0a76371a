//! What servers of tools want to know of a person while their calls run: the questions that wait for an answer.

use std::collections::HashMap;

use mcp::{Answer, Ask};
use pod::Input;
use serde_json::Value;
use tokio::sync::oneshot;

/// Questions that wait, of one Pod; more are answered by nobody.
const WAITING_MAX: usize = 16;

/// By the ids that people answer them by.
#[derive(Debug, Default)]
pub(super) struct Asked {
    waiting: HashMap<String, (String, oneshot::Sender<Answer>)>,
    /// Questions so far.
    count: u64,
}

impl Asked {
    /// What there is to ask a person.
    pub(super) fn asked(&mut self, ask: Ask) -> Option<Input> {
        let Ask { call_id, server, message, schema, answer } = ask;
        self.waiting.retain(|_, (_, answer)| !answer.is_closed());
        if answer.is_closed() || self.waiting.len() >= WAITING_MAX {
            return None;
        }
        self.count += 1;
        let number = self.count;
        self.waiting.insert(pod::ask_id(&call_id, number), (call_id.clone(), answer));
        Some(Input::Ask { call_id, number, server, message, schema })
    }

    /// A person has answered. The server may have gone away.
    pub(super) fn settle(&mut self, id: &str, content: Option<Value>) {
        if let Some((_, answer)) = self.waiting.remove(id) {
            let _ = answer.send(content.map_or(Answer::Declined, Answer::Given));
        }
    }

    /// The call is over.
    pub(super) fn forget(&mut self, call_id: &str) {
        self.waiting.retain(|_, (call, _)| call != call_id);
    }
}
