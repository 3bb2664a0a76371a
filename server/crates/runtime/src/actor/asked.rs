//! What tools' servers ask people while their calls are running: the questions that wait for an answer.

use std::collections::HashMap;

use mcp::{Answer, Ask};
use pod::Input;
use serde_json::Value;
use tokio::sync::oneshot;

/// How many questions of one Pod may wait; further ones are not answered.
const WAITING_MAX: usize = 16;

/// The waiting questions, by the ids that people use to answer them.
#[derive(Debug, Default)]
pub(super) struct Asked {
    waiting: HashMap<String, (String, oneshot::Sender<Answer>)>,
    /// The number of questions so far.
    count: u64,
}

impl Asked {
    /// Registers the question and returns the input that asks a person.
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

    /// Sends the server a person's answer. The server may have gone away.
    pub(super) fn settle(&mut self, id: &str, content: Option<Value>) {
        if let Some((_, answer)) = self.waiting.remove(id) {
            let _ = answer.send(content.map_or(Answer::Declined, Answer::Given));
        }
    }

    /// Forgets the questions of a call that is over.
    pub(super) fn forget(&mut self, call_id: &str) {
        self.waiting.retain(|_, (call, _)| call != call_id);
    }
}
