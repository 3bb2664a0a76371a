//! Anthropic's protocol, against a scripted server.

use crate::common::{KEY, all, ask, config, connect, request, text};
use protocol::{Message, Role, ToolCall, Usage};
use provider::{FinishReason, ModelEvent, ProviderKind::Anthropic, TimeLimits};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

#[tokio::test]
async fn text_thoughts_calls_and_usage_come_as_they_are_said() {
    let server = ScriptedModel::start().await;
    let tokens = Tokens { input: 100, cached: 40, output: 7 };
    server.push(
        Answer::new()
            .reasoning("hm")
            .text("so")
            .tool_call("toolu_a", "Read", &["{\"path\":", "\"x\"}"])
            .tool_call("toolu_b", "ListPods", &[])
            .usage(tokens)
            .finish(),
    );
    let args = |index: usize, name: &str, text: &str| {
        Ok(ModelEvent::ToolArgs { index, name: name.to_owned(), text: text.to_owned() })
    };
    let call = |index: usize, call_id: &str, name: &str, arguments| {
        Ok(ModelEvent::ToolCall { index, call_id: call_id.to_owned(), name: name.to_owned(), arguments })
    };
    let usage = Usage { input: 100, cached: 40, output: 7, context_used: 107, ..Usage::default() };
    assert_eq!(
        all(ask(Anthropic, &server)).await,
        [
            Ok(ModelEvent::Reasoning("hm".to_owned())),
            text("so"),
            args(0, "Read", ""),
            args(0, "Read", "{\"path\":"),
            args(0, "Read", "\"x\"}"),
            args(1, "ListPods", ""),
            call(0, "toolu_a", "Read", json!({"path": "x"})),
            call(1, "toolu_b", "ListPods", json!({})),
            Ok(ModelEvent::Usage(usage)),
            Ok(ModelEvent::Finished { reason: FinishReason::ToolCalls }),
        ]
    );
    let [question] = server.requests().try_into().unwrap();
    assert_eq!((question.path.as_str(), &question.headers["x-api-key"]), ("/v1/messages", &KEY.parse().unwrap()));
    assert_eq!(question.body["system"][0]["text"], "be good");
}

#[tokio::test]
async fn each_thought_has_a_signature_of_its_own_and_half_a_signature_is_none() {
    let event = |data: Value| Step::Raw(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()));
    let thought = |index: u64, words: &str| {
        let delta = |delta: Value| event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
        [
            event(json!({ "type": "content_block_start", "index": index, "content_block": block })),
            delta(json!({ "type": "thinking_delta", "thinking": words })),
            delta(json!({ "type": "signature_delta", "signature": format!("of {words}") })),
        ]
    };
    let server = ScriptedModel::start().await;
    let stop = event(json!({ "type": "content_block_stop", "index": 0 }));
    let steps = thought(0, "one").into_iter().chain([stop]).chain(thought(1, "two"));
    server.push(steps.fold(Answer::new(), Answer::step).step(Step::ErrorFrame(json!({ "message": "oops" }))));
    let items = all(ask(Anthropic, &server)).await;
    let shown: Vec<_> = items
        .iter()
        .map(|item| match item {
            Ok(ModelEvent::Reasoning(text)) => text.clone(),
            Ok(ModelEvent::Proof(proof)) => proof.data["signature"].to_string(),
            other => format!("{:?}", other.is_err()),
        })
        .collect();
    assert_eq!(shown, ["one", "\"of one\"", "two", "true"]);
}

#[tokio::test]
async fn the_results_of_one_turn_go_out_in_one_message() {
    let server = ScriptedModel::start().await;
    server.push(Answer::say("ok"));
    let mut question = request();
    let calls = ["a", "b"].map(|id| ToolCall {
        call_id: id.to_owned(),
        name: "Read".to_owned(),
        arguments: json!("not an object"),
    });
    let result = |id: &str| Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, "done") };
    question.messages.push(Message { tool_calls: calls.to_vec(), ..Message::new(Role::Assistant, "so") });
    question.messages.extend([result("a"), result("b")]);
    all(connect(config(Anthropic, &server), TimeLimits::default()).stream(question)).await;
    let [question] = server.requests().try_into().unwrap();
    let messages = question.body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    assert!(messages[1]["content"][1]["input"].is_object());
    let ids: Vec<_> = messages[2]["content"].as_array().unwrap().iter().map(|part| &part["tool_use_id"]).collect();
    assert_eq!(ids, ["a", "b"]);
}
