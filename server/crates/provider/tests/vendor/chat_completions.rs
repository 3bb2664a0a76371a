//! Chat completions, against a scripted server.

use std::time::Duration;

use crate::common::{Item, KEY, all, ask, config, connect, request, text};
use protocol::{Message, Proof, Role, Thought, ToolCall, Usage};
use provider::{FinishReason, ModelEvent, ProviderErrorCode, ProviderKind::OpenAiCompatible, TimeLimits, ToolSpec};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

/// The data that accompanies reasoning sent as `reasoning_content`.
fn reasoning_content() -> Proof {
    Proof { provider: "mine".to_owned(), model: "scripted".to_owned(), data: json!({ "type": "reasoning_content" }) }
}

fn finished(reason: FinishReason) -> Item {
    Ok(ModelEvent::Finished { reason })
}

#[tokio::test]
async fn text_and_reasoning_and_usage_come_as_they_are_said() {
    let server = ScriptedModel::start().await;
    let tokens = Tokens { input: 1000, cached: 600, output: 20 };
    server.push(Answer::new().reasoning("hm ").reasoning("so").text("hel").text("lo").usage(tokens).finish());
    let usage = Usage { input: 1000, cached: 600, output: 20, context_used: 1020, ..Usage::default() };
    assert_eq!(
        all(ask(OpenAiCompatible, &server)).await,
        [
            Ok(ModelEvent::Reasoning("hm ".to_owned())),
            Ok(ModelEvent::Reasoning("so".to_owned())),
            Ok(ModelEvent::Proof(reasoning_content())),
            text("hel"),
            text("lo"),
            Ok(ModelEvent::Usage(usage)),
            finished(FinishReason::Stop),
        ]
    );
    let [question] = server.requests().try_into().unwrap();
    assert_eq!(question.headers["authorization"], format!("Bearer {}", KEY));
    assert_eq!(question.body["model"], "scripted");
    assert_eq!(
        question.body["messages"],
        json!([
            {"role": "system", "content": "be good"}, {"role": "user", "content": "hi"}
        ])
    );
}

#[tokio::test]
async fn several_calls_of_one_turn_come_in_pieces_and_then_whole() {
    let server = ScriptedModel::start().await;
    let second = Step::ToolCall { id: None, name: "ListPods".to_owned(), pieces: Vec::new() };
    let answer = Answer::new().text("so").tool_call("a", "Read", &["{\"path\":", "\"x\"}"]).step(second).finish();
    server.push(answer);
    let args = |index: usize, name: &str, text: &str| {
        Ok(ModelEvent::ToolArgs { index, name: name.to_owned(), text: text.to_owned() })
    };
    let call = |index: usize, call_id: &str, name: &str, arguments| {
        Ok(ModelEvent::ToolCall { index, call_id: call_id.to_owned(), name: name.to_owned(), arguments })
    };
    assert_eq!(
        all(ask(OpenAiCompatible, &server)).await,
        [
            text("so"),
            args(0, "Read", ""),
            args(0, "Read", "{\"path\":"),
            args(0, "Read", "\"x\"}"),
            args(1, "ListPods", ""),
            call(0, "a", "Read", json!({"path": "x"})),
            call(1, "call_1", "ListPods", json!({})),
            finished(FinishReason::ToolCalls),
        ]
    );
}

#[tokio::test]
async fn calls_without_an_index_are_not_lost() {
    let server = ScriptedModel::start().await;
    let chunk = json!({"choices": [{"delta": {"tool_calls": [
        {"function": {"name": "Read", "arguments": "{}"}}, {"function": {"name": "Grep", "arguments": {"a": 1}}}
    ]}, "finish_reason": "stop"}]});
    server.push(Answer::new().step(Step::Raw(format!("data: {chunk}\n\ndata: [DONE]\n\n"))));
    let calls: Vec<_> = all(ask(OpenAiCompatible, &server))
        .await
        .into_iter()
        .filter_map(|item| match item.unwrap() {
            ModelEvent::ToolCall { name, arguments, .. } => Some((name, arguments)),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [("Read".to_owned(), json!({})), ("Grep".to_owned(), json!({"a": 1}))]);
}

#[tokio::test]
async fn an_answer_with_a_finish_reason_is_complete_without_the_last_word() {
    let server = ScriptedModel::start().await;
    let chunk = json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
    server.push(Answer::new().step(Step::Raw(format!("data: {chunk}\n\n"))));
    let usage = Usage { input: 3, output: 1, context_used: 4, ..Usage::default() };
    assert_eq!(
        all(ask(OpenAiCompatible, &server)).await,
        [text("hi"), Ok(ModelEvent::Usage(usage)), finished(FinishReason::Length)]
    );
}

#[tokio::test]
async fn a_conversation_goes_out_with_its_calls_and_results() {
    let server = ScriptedModel::start().await;
    server.push(Answer::say("ok"));
    let mut question = request();
    let calls = ["a", "b"].map(|id| ToolCall {
        call_id: id.to_owned(),
        name: "Read".to_owned(),
        arguments: json!({"path": id}),
    });
    let result = |id: &str| Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, "done") };
    question.messages.push(Message { tool_calls: calls.to_vec(), ..Message::new(Role::Assistant, "") });
    question.messages.extend([result("a"), result("b"), Message::new(Role::Assistant, "half an ans")]);
    question.tools = vec![ToolSpec {
        name: "Read".to_owned(),
        description: "Reads.".to_owned(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }];
    question.model = "vendor/model-high".to_owned();
    all(connect(config(OpenAiCompatible, &server), TimeLimits::default()).stream(question)).await;
    let [question] = server.requests().try_into().unwrap();
    let messages = question.body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], "{\"path\":\"b\"}");
    assert_eq!(messages[4]["tool_call_id"], "b");
    assert_eq!(messages[6]["content"], "Go on.");
    assert_eq!(question.body["tools"][0]["function"]["parameters"]["properties"]["path"]["type"], "string");
    assert_eq!(question.body["model"], "vendor/model-high");
    assert_eq!(question.body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn a_server_of_ones_own_is_asked_without_a_key() {
    let server = ScriptedModel::start().await;
    server.push(Answer::say("ok"));
    let mut config = config(OpenAiCompatible, &server);
    config.api_key = None;
    let items = all(connect(config, TimeLimits::default()).stream(request())).await;
    assert_eq!(items, [text("ok"), finished(FinishReason::Stop)]);
    assert!(server.requests()[0].headers.get("authorization").is_none());
}

#[tokio::test]
async fn its_models_are_asked_from_the_server() {
    let server = ScriptedModel::start().await;
    server.set_models(&["gpt-5.1", "own"]);
    let models = connect(config(OpenAiCompatible, &server), TimeLimits::default()).models().await.unwrap();
    let names: Vec<_> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["gpt-5.1", "own"]);
}

#[tokio::test]
async fn dropping_the_stream_drops_the_connection() {
    use futures_util::StreamExt;
    let server = ScriptedModel::start().await;
    server.push(Answer::new().text("hi").step(Step::Stall));
    let mut stream = ask(OpenAiCompatible, &server);
    assert_eq!(stream.next().await, Some(text("hi")));
    drop(stream);
    server.wait_for_disconnect().await;
}

#[tokio::test]
async fn a_stream_that_falls_silent_times_out() {
    let server = ScriptedModel::start().await;
    server.push(Answer::new().text("hi").step(Step::Stall));
    let limits = TimeLimits { silence: Duration::from_secs(3), ..TimeLimits::default() };
    let items = all(connect(config(OpenAiCompatible, &server), limits).stream(request())).await;
    assert_eq!(items[0], text("hi"));
    assert_eq!(items[1].as_ref().unwrap_err().code, ProviderErrorCode::Timeout);
    server.wait_for_disconnect().await;
}

/// An answer with reasoning and a call, and the call's result.
fn called(thought: Option<&str>, id: &str) -> [Message; 2] {
    let call = ToolCall { call_id: id.to_owned(), name: "Read".to_owned(), arguments: json!({"path": id}) };
    let data = json!({ "type": "reasoning_content" });
    let thoughts = thought.map(|text| Thought { text: text.to_owned(), data, hidden: false }).into_iter().collect();
    let answer = Message { tool_calls: vec![call], thoughts, ..Message::new(Role::Assistant, "") };
    [answer, Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, "done") }]
}

#[tokio::test]
async fn reasoning_content_goes_back_with_the_answers_of_a_turn_that_calls() {
    let server = ScriptedModel::start().await;
    server.otherwise(Answer::say("ok"));
    let mut question = request();
    question.messages.extend(called(Some("look first"), "a"));
    question.messages.extend(called(None, "b"));
    let data = json!({ "type": "reasoning_content" });
    let thoughts = vec![Thought { text: "that is it".to_owned(), data, hidden: false }];
    let end = Message { thoughts, ..Message::new(Role::Assistant, "it is x") };
    question.messages.extend([end.clone(), Message::new(Role::User, "and now?"), end]);
    all(connect(config(OpenAiCompatible, &server), TimeLimits::default()).stream(question)).await;
    let [question] = server.requests().try_into().unwrap();
    let given: Vec<_> = question.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message.get("reasoning_content").cloned())
        .collect();
    // Missing reasoning is not made up, and a turn without calls does not need it.
    assert_eq!(given, [Some(json!("look first")), None, Some(json!("that is it")), None]);
}

#[tokio::test]
async fn reasoning_under_another_name_is_not_given_back_as_reasoning_content() {
    let server = ScriptedModel::start().await;
    let chunk = |delta: &str, reason: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
    };
    let frames = [
        chunk(r#"{"reasoning":"hm"}"#, "null"),
        chunk(r#"{"content":"so"}"#, "\"stop\""),
        "data: [DONE]\n\n".to_owned(),
    ];
    server.push(Answer::new().step(Step::Raw(frames.concat())));
    let items = all(ask(OpenAiCompatible, &server)).await;
    let expected = [Ok(ModelEvent::Reasoning("hm".to_owned())), text("so"), finished(FinishReason::Stop)];
    assert_eq!(items, expected);
}

#[tokio::test]
async fn a_refusal_is_said_as_the_answer_that_it_is() {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!("data: {}\n\n", json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] }))
    };
    let streamed = [
        chunk(json!({ "role": "assistant", "content": null, "refusal": "I can" }), Value::Null),
        chunk(json!({ "refusal": "not." }), Value::Null),
        chunk(json!({}), json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let message = json!({ "role": "assistant", "content": null, "refusal": "I cannot." });
    let whole = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }).to_string();
    for (body, media_type) in [(streamed, "text/event-stream"), (whole, "application/json")] {
        let server = ScriptedModel::start().await;
        server.otherwise(Answer::refuse(200, body).header("content-type", media_type));
        let items = all(ask(OpenAiCompatible, &server)).await;
        let said: String = items
            .iter()
            .filter_map(|item| match item {
                Ok(ModelEvent::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(said, "I cannot.", "{items:?}");
        assert_eq!(items.last(), Some(&Ok(ModelEvent::Finished { reason: FinishReason::Stop })));
    }
}
