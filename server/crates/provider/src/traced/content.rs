//! What was told and said, as JSON by the conventions' schemas, for whoever asked for it. What does not fit is left out,
//! so that it stays JSON: of a conversation the oldest messages, of a text its end.

use protocol::{Message, Role};
use serde_json::{Value, json};

/// The longest list of messages, and the longest text in it, in bytes. An attribute may have 64 KiB.
const MESSAGES_BYTES_MAX: usize = 60 * 1024;
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// A conversation; the newest messages of it that fit.
pub(super) fn told(messages: &[Message]) -> String {
    let (mut newest, mut bytes) = (Vec::new(), 0);
    for message in messages.iter().rev() {
        let one = of(message).to_string();
        bytes += one.len() + 1;
        if bytes > MESSAGES_BYTES_MAX {
            break;
        }
        newest.push(one);
    }
    newest.reverse();
    format!("[{}]", newest.join(","))
}

/// An answer as it comes.
#[derive(Default)]
pub(super) struct Said {
    text: String,
    calls: Vec<Value>,
    reason: Option<&'static str>,
}

impl Said {
    pub(super) fn text(&mut self, piece: &str) {
        let left = TEXT_BYTES_MAX.saturating_sub(self.text.len());
        self.text.push_str(cut(piece, left));
    }

    pub(super) fn call(&mut self, id: &str, name: &str, arguments: &Value) {
        self.calls.push(call(id, name, arguments));
    }

    pub(super) fn finished(&mut self, reason: &'static str) {
        self.reason = Some(reason);
    }

    /// The one message that it is.
    pub(super) fn whole(self) -> String {
        let text = (!self.text.is_empty()).then(|| json!({ "type": "text", "content": self.text }));
        let (mut parts, mut bytes) = (Vec::new(), 0);
        for part in text.into_iter().chain(self.calls) {
            bytes += part.to_string().len() + 1;
            if bytes > MESSAGES_BYTES_MAX {
                break;
            }
            parts.push(part);
        }
        json!([{ "role": "assistant", "parts": parts, "finish_reason": self.reason.unwrap_or("error") }]).to_string()
    }
}

fn of(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let content = cut(&message.content, TEXT_BYTES_MAX);
    let said = match &message.call_id {
        Some(id) => Some(json!({ "type": "tool_call_response", "id": id, "response": content })),
        None => (!content.is_empty()).then(|| json!({ "type": "text", "content": content })),
    };
    let calls = message.tool_calls.iter().map(|one| call(&one.call_id, &one.name, &one.arguments));
    let parts: Vec<Value> = said.into_iter().chain(calls).collect();
    json!({ "role": role, "parts": parts })
}

/// Arguments that are too long are left out: half of them says nothing.
fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let arguments = Some(arguments).filter(|arguments| arguments.to_string().len() <= TEXT_BYTES_MAX);
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_messages_that_fit_are_told_in_their_order() {
        let long = |letter: &str| Message::new(Role::User, letter.repeat(20 * 1024));
        let messages = [long("a"), long("b"), long("c"), long("d"), Message::new(Role::Assistant, "the end")];
        let told = told(&messages);
        assert!(told.len() <= MESSAGES_BYTES_MAX);
        let told: Value = serde_json::from_str(&told).unwrap();
        let texts: Vec<&str> =
            told.as_array().unwrap().iter().map(|one| one["parts"][0]["content"].as_str().unwrap()).collect();
        assert_eq!(texts.iter().map(|text| &text[..1]).collect::<Vec<_>>(), ["b", "c", "d", "t"]);
        assert_eq!(texts[0].len(), TEXT_BYTES_MAX);
    }

    #[test]
    fn an_answer_says_how_it_ended_and_stays_json_when_it_is_long() {
        let mut said = Said::default();
        said.text(&"ä".repeat(TEXT_BYTES_MAX));
        said.text("nothing of this");
        said.call("call_1", "Grep", &json!({ "pattern": "x" }));
        said.call("call_2", "Write", &json!({ "text": "y".repeat(TEXT_BYTES_MAX) }));
        said.finished("tool_call");
        let whole: Value = serde_json::from_str(&said.whole()).unwrap();
        let [text, grep, write] = whole[0]["parts"].as_array().unwrap().as_slice() else { panic!("{whole}") };
        assert_eq!(text["content"].as_str().unwrap().len(), TEXT_BYTES_MAX);
        assert_eq!((&grep["arguments"]["pattern"], &write["arguments"]), (&json!("x"), &Value::Null));
        assert_eq!(whole[0]["finish_reason"], "tool_call");
        let cut: Value = serde_json::from_str(&Said::default().whole()).unwrap();
        assert_eq!(cut, json!([{ "role": "assistant", "parts": [], "finish_reason": "error" }]));
    }
}
