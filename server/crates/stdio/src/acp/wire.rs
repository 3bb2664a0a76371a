//! JSON-RPC messages from and to the editor, one per line.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::Refused;

/// A message from the editor.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Told {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours.
    Answer {
        id: i64,
        /// `None` if it refused.
        answer: Option<Value>,
    },
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Option<Value>,
}

impl Incoming {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("a line is one JSON-RPC message: {error}");
        let said: Value = serde_json::from_str(line).map_err(wrong)?;
        if !said.is_object() {
            // An array would be parsed as the fields of an object.
            return Err("a line is one JSON-RPC message; batches are not taken".to_owned());
        }
        let Message { id, method, params, result } = serde_json::from_value(said).map_err(wrong)?;
        match (method, id) {
            (Some(method), Value::Null) => Ok(Self::Told { method, params }),
            (Some(method), id) => Ok(Self::Request { id, method, params }),
            (None, id) => {
                let id = id.as_i64().ok_or("an answer has the id of what was asked")?;
                Ok(Self::Answer { id, answer: result })
            }
        }
    }
}

/// Sends messages to the editor. Senders wait until there is room.
#[derive(Debug)]
pub(super) struct Wire {
    out: mpsc::Sender<String>,
    next: AtomicI64,
    /// Pending requests to the editor.
    asked: Mutex<HashMap<i64, oneshot::Sender<Option<Value>>>>,
}

impl Wire {
    pub(super) fn new(out: mpsc::Sender<String>) -> Self {
        Self { out, next: AtomicI64::new(1), asked: Mutex::default() }
    }

    pub(super) async fn answer(&self, id: Value, answer: Result<Value, Refused>) {
        self.say(match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        })
        .await;
    }

    pub(super) async fn tell(&self, method: &str, params: &impl Serialize) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a request to the editor. The receiver yields `None` if it refused or is gone.
    pub(super) async fn ask(&self, method: &str, params: &impl Serialize) -> (i64, oneshot::Receiver<Option<Value>>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.asked().insert(id, sender);
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        (id, answer)
    }

    /// Cancels a request: the editor need not answer it any more.
    pub(super) async fn take_back(&self, id: i64) {
        if self.asked().remove(&id).is_some() {
            self.tell("$/cancel_request", &json!({ "requestId": id })).await;
        }
    }

    pub(super) fn answered(&self, id: i64, answer: Option<Value>) {
        if let Some(waiting) = self.asked().remove(&id) {
            // The caller may have given up.
            let _ = waiting.send(answer);
        }
    }

    async fn say(&self, message: Value) {
        // Fails when nobody reads any more because the program is ending.
        let _ = self.out.send(message.to_string()).await;
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Option<Value>>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_asks_tells_or_answers() {
        let parse = |text: &str| Incoming::parse(text);
        assert!(matches!(parse(r#"{"id":"a","method":"x","params":{}}"#), Ok(Incoming::Request { .. })));
        assert!(matches!(parse(r#"{"method":"x"}"#), Ok(Incoming::Told { .. })));
        assert_eq!(parse(r#"{"id":7,"result":{}}"#), Ok(Incoming::Answer { id: 7, answer: Some(json!({})) }));
        assert_eq!(parse(r#"{"id":7,"error":{"code":1}}"#), Ok(Incoming::Answer { id: 7, answer: None }));
        for wrong in ["", "[]", "{}", "nonsense", r#"{"id":"x","result":{}}"#] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_question_that_is_taken_back_waits_for_no_answer() {
        let (out, mut said) = mpsc::channel(8);
        let wire = Wire::new(out);
        let (id, answer) = wire.ask("session/request_permission", &json!({})).await;
        wire.take_back(id).await;
        assert!(answer.await.is_err());
        wire.answered(id, Some(json!({})));
        assert!(said.recv().await.unwrap().contains("request_permission"));
        assert!(said.recv().await.unwrap().contains("$/cancel_request"));
    }
}
