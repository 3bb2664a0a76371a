//! A client's message, as far as relaying requires parsing it.

use serde::Deserialize;
use serde_json::{Value, json};

/// A message as it was read, with its main fields.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) text: String,
    /// Its id as JSON; `None` if no answer is expected.
    pub(super) id: Option<String>,
    /// `None` if it answers a request of the server.
    pub(super) method: Option<String>,
    /// In the newer protocol, which has no sessions: its version, and what is called or read.
    pub(super) version: Option<String>,
    pub(super) name: Option<String>,
    /// The request that it cancels, as the JSON of its id.
    pub(super) cancels: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

#[derive(Default, Deserialize)]
struct Params {
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    uri: Option<Value>,
    #[serde(default, rename = "requestId")]
    request_id: Option<Value>,
    #[serde(default, rename = "_meta")]
    meta: Option<Value>,
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

impl Message {
    /// Parses a line, or returns the error to answer with.
    pub(super) fn parse(line: String) -> Result<Self, String> {
        // An array would be parsed as the fields of an object.
        let said = serde_json::from_str(&line).ok().filter(Value::is_object);
        let Some(said) = said.and_then(|said| serde_json::from_value::<Said>(said).ok()) else {
            return Err(error("null", -32_700, "a line is one JSON-RPC message; batches are not taken"));
        };
        let params: Params = serde_json::from_value(said.params).unwrap_or_default();
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let version = params.meta.as_ref().and_then(|meta| meta[VERSION].as_str()).map(str::to_owned);
        let id = (!said.id.is_null()).then(|| said.id.to_string());
        let is_cancel = said.method.as_deref() == Some("notifications/cancelled");
        let cancels = params.request_id.filter(|_| is_cancel).map(|id| id.to_string());
        let method = said.method;
        let name = text(params.name).or(text(params.uri));
        Ok(Self { id, method, version, name, cancels, text: line })
    }

    /// Whether it must be sent before the next one: the handshake, or a notification about something earlier.
    pub(super) fn is_in_order(&self) -> bool {
        self.is_opening() || self.id.is_none()
    }

    pub(super) fn is_opening(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }
}

/// An error answer; `id` is JSON.
pub(super) fn error(id: &str, code: i32, sentence: &str) -> String {
    let said = json!({ "code": code, "message": sentence });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{said}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_who_waits_for_it_and_which_protocol_it_is_of() {
        let parse = |text: &str| Message::parse(text.to_owned()).unwrap();
        let call = parse(
            r#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"send","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        assert_eq!((call.id.as_deref(), call.name.as_deref()), (Some("\"7\""), Some("send")));
        assert_eq!((call.version.as_deref(), call.is_in_order()), (Some("2026-07-28"), false));
        let told = parse(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
        assert_eq!((told.cancels.as_deref(), told.is_in_order()), (Some("7"), true));
        assert!(parse(r#"{"id":1,"method":"initialize"}"#).is_opening());
        assert!(parse(r#"{"id":1,"result":{}}"#).method.is_none());
        for wrong in ["", "[]", "[{}]", "7", "{", "nonsense"] {
            assert!(Message::parse(wrong.to_owned()).unwrap_err().contains("-32700"), "{wrong}");
        }
    }
}
