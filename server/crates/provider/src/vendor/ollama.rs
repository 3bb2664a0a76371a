//! Messages for Ollama. The library says neither which tool a result belongs to nor what the model thought.

use genai::chat::{Binary, BinarySource, ChatMessage, ContentPart};
use serde_json::{Map, Value, json};

use super::attachments::Shown;

/// What the library writes when it was given no messages.
const NONE: &[u8] = b"\"messages\":[]";

/// Returns the conversation as the `messages` of a request.
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

/// Sorts results into the order of their calls: they have no id in this protocol and are known by their position.
pub(super) fn in_order_of_calls(results: &mut [Shown], answer: Option<&ChatMessage>) {
    let calls = answer.map(|answer| answer.content.tool_calls()).unwrap_or_default();
    results.sort_by_key(|result| calls.iter().position(|call| call.call_id == result.response.call_id));
}

/// Puts these messages into the library's request. The last match is the right one: tool schemas come before it.
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
