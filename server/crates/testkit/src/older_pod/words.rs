//! A run of an older Pod, which carries out the commands in its input.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Asked, Shared, life::HANG_UP};

const WORD_MS: u64 = 20;

/// The text of all segments.
pub(super) fn of_input(input: &Value) -> String {
    let text =
        |segment: &Value| segment["content"].as_str().or(segment["path"].as_str()).unwrap_or_default().to_owned();
    input.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join("\n")
}

/// How a command ended.
#[derive(PartialEq, Eq)]
enum Went {
    Well,
    /// The run is over.
    Over,
    /// It continues when told to.
    Paused,
}

/// One run, command by command.
pub(super) async fn obey(pod: Arc<Shared>, words: String) {
    pod.tell("llm_call_start", json!({ "llm_call": 0 }));
    for line in words.lines() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let went = match verb {
            "stream" => stream(&pod, rest.parse().unwrap_or(1)).await,
            "tool" => tool(&pod, rest),
            "think" => think(&pod),
            "fail" => {
                pod.tell_error("provider_error", "the provider said 529");
                Went::Over
            }
            "die" => {
                pod.events.send(HANG_UP.to_owned()).ok();
                Went::Over
            }
            _ => say(&pod, if verb == "say" { rest } else { line }),
        };
        match went {
            Went::Well => (),
            Went::Over => return over(&pod, "idle"),
            Went::Paused => return over(&pod, "paused"),
        }
    }
    pod.tell("usage", json!({ "input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 40 }));
    pod.tell("llm_call_end", json!({ "llm_call": 0 }));
    pod.tell("turn_end", json!({ "turn": 0, "result": "finished" }));
    pod.log(json!({ "kind": "run_completed", "interrupted": false, "result": "finished" }));
    pod.tell("run_end", json!({ "result": "finished" }));
    over(&pod, "idle");
}

fn over(pod: &Shared, status: &str) {
    pod.state().status = status.to_owned();
    pod.tell_status();
}

fn said(pod: &Shared, text: &str) {
    let item = json!({ "kind": "message", "role": "assistant", "content": [{ "kind": "text", "text": text }] });
    pod.log(json!({ "kind": "assistant_item", "item": item }));
}

fn say(pod: &Shared, text: &str) -> Went {
    for word in text.split_inclusive(' ') {
        pod.tell("text_delta", json!({ "text": word }));
    }
    pod.tell("text_done", json!({ "text": text }));
    said(pod, text);
    Went::Well
}

fn think(pod: &Shared) -> Went {
    pod.tell("thinking_start", Value::Null);
    pod.tell("thinking_done", json!({ "text": "a thought without deltas" }));
    Went::Well
}

/// Its result arrives before the call is complete.
fn tool(pod: &Shared, name: &str) -> Went {
    let arguments = "{\"command\":\"echo hi\"}";
    let call = json!({ "kind": "tool_call", "call_id": "call_1", "name": name, "arguments": arguments });
    pod.log(json!({ "kind": "assistant_item", "item": call }));
    pod.tell("tool_call_start", json!({ "id": "call_1", "name": name }));
    pod.tell("tool_call_args_delta", json!({ "id": "call_1", "json": arguments }));
    pod.tell("tool_result", json!({ "id": "call_1", "summary": "$ echo hi", "output": "hi\n", "is_error": false }));
    pod.tell("tool_call_done", json!({ "id": "call_1", "name": name, "arguments": arguments }));
    let result = json!({ "kind": "tool_result", "call_id": "call_1", "summary": "$ echo hi", "content": "hi\n" });
    pod.log(json!({ "kind": "tool_result", "item": result }));
    Went::Well
}

async fn stream(pod: &Shared, words: u32) -> Went {
    let mut text = String::new();
    for number in 1..=words {
        sleep(Duration::from_millis(WORD_MS)).await;
        let asked = std::mem::replace(&mut pod.state().asked, Asked::Nothing);
        match asked {
            Asked::Nothing => (),
            Asked::Pause => {
                // What was said so far is only in the deltas.
                pod.tell("usage", json!({ "input_tokens": 100, "output_tokens": 0 }));
                pod.tell("run_end", json!({ "result": "paused" }));
                return Went::Paused;
            }
            Asked::Cancel => {
                pod.state().was_interrupted = true;
                pod.tell_error("internal", "Cancelled");
                return Went::Over;
            }
        }
        let word = format!("w{number} ");
        text.push_str(&word);
        pod.tell("text_delta", json!({ "text": word }));
    }
    pod.tell("text_done", json!({ "text": text }));
    said(pod, &text);
    Went::Well
}
