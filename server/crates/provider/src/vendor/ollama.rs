//! Ollama's messages. The library says neither which tool a result is of nor what the model thought.

use genai::chat::{Binary, BinarySource, ChatMessage, ContentPart};
use serde_json::{Map, Value, json};

use super::attachments::Shown;

/// Where the library puts the messages that it was not given.
const NONE: &[u8] = b"\"messages\":[]";

/// The conversation as `messages` of a question.
pub(super) fn messages(chat: &[ChatMessage]) -> Value {
    chat.iter().map(message).collect()
}

fn message(said: &ChatMessage) -> Value {
    let (mut content, mut thinking, mut images, mut calls) = (String::new(), String::new(), Vec::new(), Vec::new());
    let mut tool_name = None;
    for part in said.content.parts() {
        match part {
            ContentPart::Text(text) => content.push_str(text),
            ContentPart::ReasoningContent(text) => thinking.push_str(text),
            ContentPart::Binary(Binary { content_type, source: BinarySource::Base64(data), .. })
                if content_type.starts_with("image/") =>
            {
                images.push(Value::from(&**data));
            }
            ContentPart::ToolCall(call) => {
                calls.push(json!({ "function": { "name": call.fn_name, "arguments": call.fn_arguments } }));
            }
            ContentPart::ToolResponse(result) => {
                content.push_str(&result.content);
                tool_name = result.fn_name.clone();
            }
            _ => (),
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), said.role.to_string().to_lowercase().into());
    message.insert("content".to_owned(), content.into());
    let rest: [(&str, Option<Value>); 4] = [
        ("thinking", (!thinking.is_empty()).then(|| thinking.into())),
        ("images", (!images.is_empty()).then(|| images.into())),
        ("tool_calls", (!calls.is_empty()).then(|| calls.into())),
        ("tool_name", tool_name.map(Value::from)),
    ];
    message.extend(rest.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    message.into()
}

/// A result has no id on this wire: it is known by its place among the results.
pub(super) fn in_order_of_calls(results: &mut [Shown], answer: Option<&ChatMessage>) {
    let calls = answer.map(|answer| answer.content.tool_calls()).unwrap_or_default();
    results.sort_by_key(|result| calls.iter().position(|call| call.call_id == result.response.call_id));
}

/// The library's question with these messages in it. They are its last list: what stands in a tool's schema is before them.
pub(super) fn with_messages(question: Vec<u8>, messages: &str) -> Vec<u8> {
    let Some(at) = question.windows(NONE.len()).rposition(|window| window == NONE) else { return question };
    let list = at + NONE.len() - "[]".len();
    [&question[..list], messages.as_bytes(), &question[at + NONE.len()..]].concat()
}

#[cfg(test)]
mod tests {
    use super::with_messages;

    #[test]
    fn messages_come_into_the_question_where_its_own_would_be() {
        let question = r#"{"tools":[{"default":{"messages":[]}}],"messages":[],"think":true}"#;
        let whole = with_messages(question.as_bytes().to_vec(), r#"[{"role":"user"}]"#);
        let expected = r#"{"tools":[{"default":{"messages":[]}}],"messages":[{"role":"user"}],"think":true}"#;
        assert_eq!(String::from_utf8(whole).unwrap(), expected);
        assert_eq!(with_messages(b"{}".to_vec(), "[]"), b"{}");
    }
}
