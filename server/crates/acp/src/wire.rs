//! JSON-RPC over lines, with bounds on the length of a line and on how long the other side may take to read one.
//!
//! Whoever owns the wire takes one line after the other. While nobody takes any, nothing is read, so in the end the
//! agent waits.

#[cfg(test)]
mod fuzz;

use std::{io, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    time::timeout,
};

/// The size of one message, which may contain a picture.
pub(crate) const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// An agent that reads nothing for this long counts as dead.
const WRITE_MAX: Duration = Duration::from_secs(20);
/// How many consecutive lines that are no messages are skipped: some programs print a greeting first.
const NOISE_MAX: usize = 200;

type Reading = Box<dyn AsyncRead + Send + Unpin>;
type Writing = Box<dyn AsyncWrite + Send + Unpin>;

/// Both directions of a connection with an agent.
pub(crate) struct Wire {
    reading: BufReader<Reading>,
    writing: Writing,
    /// The part of the current line that has arrived.
    line: Vec<u8>,
    noise: usize,
    next_id: u64,
}

/// A message from the agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to one of our requests.
    Response {
        id: u64,
        result: Result<Value, Fault>,
    },
}

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("yoi has no method \"{}\"", cut(method, 100)))
    }

    pub(crate) fn bad_params(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }
}

/// Why no more messages will come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The agent closed its output.
    End,
    /// A sentence that says what went wrong.
    Broken(String),
}

impl Wire {
    pub(crate) fn new(reading: Reading, writing: Writing) -> Self {
        let reading = BufReader::with_capacity(64 * 1024, reading);
        Self { reading, writing, line: Vec::new(), noise: 0, next_id: 0 }
    }

    /// Returns the next message. Cancel safe: an incomplete line is kept.
    pub(crate) async fn next(&mut self) -> Result<Message, Closed> {
        loop {
            self.read_line().await?;
            let message = read(&self.line);
            self.line.clear();
            match message {
                Some(message) => {
                    self.noise = 0;
                    return Ok(message);
                }
                None if self.noise >= NOISE_MAX => {
                    return Err(Closed::Broken(
                        "its output is not of the Agent Client Protocol; see that its command starts it in that mode"
                            .to_owned(),
                    ));
                }
                None => self.noise += 1,
            }
        }
    }

    async fn read_line(&mut self) -> Result<(), Closed> {
        loop {
            let read = self.reading.fill_buf().await;
            let buffer = read.map_err(|error| match error.kind() {
                io::ErrorKind::ConnectionReset => Closed::End,
                _ => Closed::Broken(format!("it could not be read: {error}")),
            })?;
            if buffer.is_empty() {
                return Err(Closed::End);
            }
            let (part, is_whole) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&buffer[..at], true),
                None => (buffer, false),
            };
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                let most = LINE_BYTES_MAX >> 20;
                return Err(Closed::Broken(format!("it sent a message of more than {most} MiB")));
            }
            self.line.extend_from_slice(part);
            let taken = part.len() + usize::from(is_whole);
            self.reading.consume(taken);
            if is_whole {
                return Ok(());
            }
        }
    }

    /// Sends a request; its answer arrives as a [`Message::Response`] with the returned id.
    pub(crate) async fn request(&mut self, method: &str, params: &impl Serialize) -> Result<u64, Closed> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await?;
        Ok(id)
    }

    pub(crate) async fn notify(&mut self, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await
    }

    pub(crate) async fn respond(&mut self, id: &Value, result: Result<Value, Fault>) -> Result<(), Closed> {
        let message = match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Fault { code, message }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        };
        self.send(&message).await
    }

    async fn send(&mut self, message: &Value) -> Result<(), Closed> {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        let writing = async {
            self.writing.write_all(&line).await?;
            self.writing.flush().await
        };
        match timeout(WRITE_MAX, writing).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                Err(Closed::End)
            }
            Ok(Err(error)) => Err(Closed::Broken(format!("nothing could be sent to it: {error}"))),
            Err(_) => Err(Closed::Broken(format!("it did not read for {} s", WRITE_MAX.as_secs()))),
        }
    }
}

/// Parses a line; `None` if it is no message.
fn read(line: &[u8]) -> Option<Message> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else { return None };
    let id = fields.remove("id").filter(|id| !id.is_null());
    let method = match fields.remove("method") {
        Some(Value::String(method)) => Some(method),
        Some(_) => return None,
        None => None,
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (id, method) {
        (Some(id @ (Value::String(_) | Value::Number(_))), Some(method)) => {
            Some(Message::Request { id, method, params })
        }
        (None, Some(method)) => Some(Message::Notification { method, params }),
        (Some(id), None) => {
            let result = match fields.remove("error") {
                Some(error) if !error.is_null() => Err(fault(&error)),
                _ => Ok(fields.remove("result").unwrap_or(Value::Null)),
            };
            Some(Message::Response { id: id.as_u64()?, result })
        }
        _ => None,
    }
}

/// Puts an agent's error into one line: its message, and the text in its data if there is any.
fn fault(error: &Value) -> Fault {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = text(error.get("message"));
    let data = error.get("data");
    let more = match data {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Object(fields)) => ["message", "details", "detail", "error"]
            .iter()
            .map(|name| text(fields.get(*name)))
            .find(|words| !words.is_empty())
            .unwrap_or_default(),
        _ => String::new(),
    };
    let message = match (message.is_empty(), more.is_empty() || more == message) {
        (true, true) => "an error without words".to_owned(),
        (true, false) => more,
        (false, true) => message,
        (false, false) => format!("{message}: {more}"),
    };
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(0);
    Fault { code, message: cut(&message.replace(['\n', '\r'], " "), 1_000) }
}

/// Returns the first characters of a text.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    fn wire_with(text: &[u8]) -> Wire {
        Wire::new(Box::new(io::Cursor::new(text.to_vec())), Box::new(tokio::io::sink()))
    }

    #[test]
    fn a_line_is_a_request_a_notification_an_answer_or_noise() {
        let table = [
            (
                r#"{"id":"a","method":"m","params":{"x":1}}"#,
                Some(Message::Request { id: json!("a"), method: "m".to_owned(), params: json!({ "x": 1 }) }),
            ),
            (r#"{"method":"m"}"#, Some(Message::Notification { method: "m".to_owned(), params: Value::Null })),
            (r#"{"id":7,"result":{"ok":true}}"#, Some(Message::Response { id: 7, result: Ok(json!({ "ok": true })) })),
            (
                r#"{"id":7,"error":{"code":-32000,"message":"Authentication required","data":{"details":"log in"}}}"#,
                Some(Message::Response { id: 7, result: Err(Fault::new(-32000, "Authentication required: log in")) }),
            ),
            (r#"{"id":-1,"result":1}"#, None),
            (r#"{"id":[],"method":"m"}"#, None),
            (r#"[{"method":"m"}]"#, None),
            ("listening on stdio", None),
            ("", None),
        ];
        for (line, message) in table {
            assert_eq!(read(line.as_bytes()), message, "{line}");
        }
    }

    #[tokio::test]
    async fn a_line_beyond_the_bound_ends_the_connection_and_noise_does_in_the_end() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        assert!(matches!(wire_with(&long).next().await, Err(Closed::Broken(why)) if why.contains("8 MiB")));
        let noise = "hello\n".repeat(NOISE_MAX + 1);
        assert!(
            matches!(wire_with(noise.as_bytes()).next().await, Err(Closed::Broken(why)) if why.contains("not of the"))
        );
        let greeting = b"hello\n{\"method\":\"m\"}\n";
        assert!(matches!(wire_with(greeting).next().await, Ok(Message::Notification { .. })));
        assert_eq!(wire_with(b"{\"meth").next().await, Err(Closed::End));
    }

    #[tokio::test]
    async fn a_line_that_is_not_whole_when_the_wait_is_given_up_is_kept() {
        let (mut theirs, ours) = duplex(64);
        let mut wire = Wire::new(Box::new(ours), Box::new(tokio::io::sink()));
        theirs.write_all(b"{\"method\":").await.unwrap();
        assert!(timeout(Duration::from_millis(20), wire.next()).await.is_err());
        theirs.write_all(b"\"m\"}\n").await.unwrap();
        assert!(matches!(wire.next().await, Ok(Message::Notification { method, .. }) if method == "m"));
    }
}
