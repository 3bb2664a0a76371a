//! The body of a request.

use protocol::{Message, Role, THOUGHT_OF_WORDS, Thinking, Thought, ToolCall};
use serde_json::{Map, Value, json};

use super::{
    super::{
        attachments,
        request::{GO_ON, cache_key},
    },
    events::AFTER_CALLS,
};
use crate::{ModelRequest, ToolSpec, catalogue};

/// Nothing is stored at the provider: the reasoning that it wants back comes encrypted with the answer.
pub(in crate::vendor) fn body(request: &ModelRequest, offers_tools: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("store".to_owned(), json!(false));
    body.insert("input".to_owned(), Value::Array(input(request)));
    body.insert("prompt_cache_key".to_owned(), json!(cache_key(&request.messages)));
    if offers_tools && !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    match request.thinking {
        None => (),
        Some(Thinking::Off) => drop(body.insert("reasoning".to_owned(), json!({ "effort": "none" }))),
        Some(level) => {
            drop(body.insert("reasoning".to_owned(), json!({ "effort": effort(level), "summary": "auto" })));
        }
    }
    // A model that does not think refuses this option.
    if thinks(request) {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    Value::Object(body)
}

fn effort(level: Thinking) -> &'static str {
    match level {
        Thinking::Off => "none",
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Max => "xhigh",
    }
}

/// Many models think without being asked to.
fn thinks(request: &ModelRequest) -> bool {
    request.thinking.map_or_else(|| catalogue::thinks(&request.model), |level| level != Thinking::Off)
}

fn input(request: &ModelRequest) -> Vec<Value> {
    let thinks = thinks(request);
    let said = |role: &str, text: &str| (!text.trim().is_empty()).then(|| json!({ "role": role, "content": text }));
    let mut items = Vec::new();
    for message in &request.messages {
        match message.role {
            Role::System => items.extend(said("system", &message.content)),
            Role::User => {
                let (words, shown) = (request.attached.words(message), attachments::items(message, &request.attached));
                match shown.is_empty() {
                    true => items.extend(said("user", &words)),
                    false => items.push(json!({ "role": "user", "content": content(&words, shown) })),
                }
            }
            Role::Assistant => {
                let text = said("assistant", &message.content);
                // A thought that nothing follows is refused.
                let mut thoughts = if thinks { sealed(message) } else { Vec::new() };
                if text.is_some() {
                    items.extend(next(&mut thoughts, 0));
                }
                items.extend(text.map(|text| phased(text, message)));
                for (at, call) in message.tool_calls.iter().enumerate() {
                    items.extend(next(&mut thoughts, at));
                    items.push(called(call));
                }
            }
            Role::Tool => {
                let (words, shown) = (request.attached.words(message), attachments::items(message, &request.attached));
                let output = match shown.is_empty() {
                    true => json!(words),
                    false => content(&words, shown),
                };
                items.push(json!({
                    "type": "function_call_output", "call_id": message.call_id, "output": output
                }));
            }
        }
    }
    if request.messages.last().is_some_and(|last| last.role == Role::Assistant) {
        items.extend(said("user", GO_ON));
    }
    items
}

/// The text of an answer, with the phase that it came with.
fn phased(mut item: Value, message: &Message) -> Value {
    let is_of_words = |thought: &&Thought| thought.data["type"] == THOUGHT_OF_WORDS;
    if let Some(phase) = message.thoughts.iter().find(is_of_words).map(|thought| thought.data["phase"].clone()) {
        item["phase"] = phase;
    }
    item
}

/// A message's text, and its attachments.
fn content(words: &str, shown: Vec<Value>) -> Value {
    let words = (!words.trim().is_empty()).then(|| json!({ "type": "input_text", "text": words }));
    words.into_iter().chain(shown).collect()
}

/// The reasoning items of an answer, each with the number of calls before it.
fn sealed(message: &Message) -> Vec<(u64, Value)> {
    let read = |Thought { data, .. }: &Thought| {
        let mut item = data.as_object().filter(|item| item.get("type") == Some(&json!("reasoning")))?.clone();
        let after = item.shift_remove(AFTER_CALLS).and_then(|count| count.as_u64()).unwrap_or(0);
        Some((after, Value::Object(item)))
    };
    message.thoughts.iter().filter_map(read).collect()
}

/// Takes the items that precede the call at this index.
fn next(thoughts: &mut Vec<(u64, Value)>, at: usize) -> Vec<Value> {
    let count = thoughts.iter().take_while(|(after, _)| usize::try_from(*after).is_ok_and(|after| after <= at)).count();
    thoughts.drain(..count).map(|(_, item)| item).collect()
}

fn called(call: &ToolCall) -> Value {
    json!({
        "type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments.to_string()
    })
}

/// Not `strict`, which would make every optional argument required.
fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": spec.name, "description": spec.description, "parameters": spec.schema, "strict": false
    })
}
