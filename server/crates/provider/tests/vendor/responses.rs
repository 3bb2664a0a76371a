//! OpenAI's Responses API, against a scripted server.

use protocol::{Message, Proof, Role, Thinking, Thought, ToolCall, Usage};
use provider::{FinishReason, ModelEvent, ModelRequest, ProviderErrorCode, ProviderKind::OpenAi, TimeLimits, ToolSpec};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

use crate::common::{Item, KEY, all, ask, config, connect, request, text};

fn finished(reason: FinishReason) -> Item {
    Ok(ModelEvent::Finished { reason })
}

fn reasoning(text: &str) -> Item {
    Ok(ModelEvent::Reasoning(text.to_owned()))
}

fn args(index: usize, name: &str, text: &str) -> Item {
    Ok(ModelEvent::ToolArgs { index, name: name.to_owned(), text: text.to_owned() })
}

fn call(index: usize, call_id: &str, name: &str, arguments: Value) -> Item {
    Ok(ModelEvent::ToolCall { index, call_id: call_id.to_owned(), name: name.to_owned(), arguments })
}

/// As the scripted server encrypts its reasoning.
fn proof(at: usize, words: &str) -> Item {
    let data = json!({
        "type": "reasoning", "summary": [{ "type": "summary_text", "text": words }],
        "encrypted_content": format!("sealed-{at}"), "id": format!("rs_{at}")
    });
    Ok(ModelEvent::Proof(Proof { provider: "mine".to_owned(), model: "gpt-5.1".to_owned(), data }))
}

fn thinking() -> ModelRequest {
    ModelRequest { thinking: Some(Thinking::High), model: "gpt-5.1".to_owned(), ..request() }
}

async fn send(server: &ScriptedModel, question: ModelRequest) -> Vec<Item> {
    all(connect(config(OpenAi, server), TimeLimits::default()).stream(question)).await
}

fn event(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// The events that result from these raw ones.
async fn answered(events: &[Value]) -> Vec<Item> {
    let server = ScriptedModel::start().await;
    let events: String = events.iter().cloned().map(event).collect();
    server.push(Answer::refuse(200, events).header("content-type", "text/event-stream"));
    all(ask(OpenAi, &server)).await
}

#[tokio::test]
async fn thoughts_text_calls_and_usage_come_as_they_are_said() {
    let server = ScriptedModel::start().await;
    let tokens = Tokens { input: 1000, cached: 600, output: 20 };
    server.push(
        Answer::new()
            .reasoning("hm ")
            .reasoning("so")
            .text("hel")
            .text("lo")
            .tool_call("call_x", "Read", &["{\"path\":", "\"x\"}"])
            .tool_call("call_y", "ListPods", &[])
            .usage(tokens)
            .finish(),
    );
    let items = send(&server, thinking()).await;
    let counted = items.iter().find_map(|item| match item {
        Ok(ModelEvent::Usage(Usage { input, cached, output, context_used, .. })) => {
            Some((*input, *cached, *output, *context_used))
        }
        _ => None,
    });
    assert_eq!(counted, Some((1000, 600, 20, 1020)));
    let items: Vec<_> = items.into_iter().filter(|item| !matches!(item, Ok(ModelEvent::Usage(_)))).collect();
    assert_eq!(
        items,
        [
            reasoning("hm "),
            reasoning("so"),
            proof(0, "hm so"),
            text("hel"),
            text("lo"),
            args(0, "Read", ""),
            args(0, "Read", "{\"path\":"),
            args(0, "Read", "\"x\"}"),
            args(1, "ListPods", ""),
            call(0, "call_x", "Read", json!({"path": "x"})),
            call(1, "call_y", "ListPods", json!({})),
            finished(FinishReason::ToolCalls),
        ]
    );
}

#[tokio::test]
async fn a_question_goes_out_as_open_ai_documents_it() {
    let server = ScriptedModel::start().await;
    server.push(Answer::say("ok"));
    let mut question = thinking();
    question.model = "vendor::gpt-5.1-high".to_owned();
    question.tools = vec![ToolSpec {
        name: "web_search".to_owned(),
        description: "Searches.".to_owned(),
        schema: json!({"type": "object", "properties": {"words": {"type": "string"}}}),
    }];
    assert_eq!(send(&server, question).await, [text("ok"), finished(FinishReason::Stop)]);
    let [question] = server.requests().try_into().unwrap();
    assert_eq!(question.path, "/v1/responses");
    assert_eq!(question.headers["authorization"], format!("Bearer {KEY}"));
    let mut body = question.body;
    let key = body.as_object_mut().unwrap().remove("prompt_cache_key").unwrap();
    assert!(key.as_str().unwrap().starts_with("yoi-"), "{key}");
    assert_eq!(
        body,
        json!({
            "model": "vendor::gpt-5.1-high", "store": false, "stream": true,
            "reasoning": { "effort": "high", "summary": "auto" }, "include": ["reasoning.encrypted_content"],
            "tools": [{
                "type": "function", "name": "web_search", "description": "Searches.", "strict": false,
                "parameters": {"type": "object", "properties": {"words": {"type": "string"}}}
            }],
            "input": [{ "role": "system", "content": "be good" }, { "role": "user", "content": "hi" }]
        })
    );
}

#[tokio::test]
async fn sealed_thoughts_are_asked_for_where_the_model_thinks() {
    for (model, level, is_asked) in [
        ("gpt-5", None, true),
        ("gpt-5.1", Some(Thinking::Low), true),
        ("gpt-5.1", Some(Thinking::Off), false),
        ("gpt-4o", None, false),
        ("own", None, false),
        ("own", Some(Thinking::Low), true),
    ] {
        let server = ScriptedModel::start().await;
        server.push(Answer::say("ok"));
        send(&server, ModelRequest { model: model.to_owned(), thinking: level, ..request() }).await;
        let body = server.requests()[0].body.clone();
        assert_eq!(body.get("include").is_some(), is_asked, "{model} {level:?}");
        assert_eq!(body.get("reasoning").is_some(), level.is_some(), "{model} {level:?}");
    }
}

#[tokio::test]
async fn sealed_thoughts_go_back_as_they_came_each_before_its_call() {
    let server = ScriptedModel::start().await;
    server.push(
        Answer::new()
            .reasoning("first")
            .tool_call("call_x", "Read", &["{\"path\":\"x\"}"])
            .reasoning("then")
            .tool_call("call_y", "Read", &["{\"path\":\"y\"}"])
            .finish(),
    );
    server.otherwise(Answer::say("ok"));
    let mut question = thinking();
    let items = send(&server, question.clone()).await;
    let thoughts: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            Ok(ModelEvent::Proof(proof)) => {
                Some(Thought { text: String::new(), data: proof.data.clone(), hidden: false })
            }
            _ => None,
        })
        .collect();
    assert_eq!((thoughts.len(), &thoughts[1].data["after_calls"]), (2, &json!(1)));
    let tool_calls = [("call-b1", "x"), ("call-b2", "y")].map(|(id, path)| ToolCall {
        call_id: id.to_owned(),
        name: "Read".to_owned(),
        arguments: json!({ "path": path }),
    });
    let answer = Message { tool_calls: tool_calls.to_vec(), thoughts, ..Message::new(Role::Assistant, "I look.") };
    question.messages.push(answer);
    for id in ["call-b1", "call-b2"] {
        question.messages.push(Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, "done") });
    }
    send(&server, question.clone()).await;
    let thought = |at: usize, words: &str| {
        json!({
            "type": "reasoning", "summary": [{ "type": "summary_text", "text": words }],
            "encrypted_content": format!("sealed-{at}"), "id": format!("rs_{at}")
        })
    };
    let called = |id: &str, path: &str| {
        json!({
            "type": "function_call", "call_id": id, "name": "Read", "arguments": format!("{{\"path\":\"{path}\"}}")
        })
    };
    let result = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "done" });
    let said = json!({ "role": "assistant", "content": "I look." });
    let input = |at: usize| server.requests()[at].body["input"].as_array().unwrap()[2..].to_vec();
    let (one, two) = (called("call-b1", "x"), called("call-b2", "y"));
    let (done, done_too) = (result("call-b1"), result("call-b2"));
    assert_eq!(
        input(1),
        [
            thought(0, "first"),
            said.clone(),
            one.clone(),
            thought(2, "then"),
            two.clone(),
            done.clone(),
            done_too.clone()
        ]
    );
    // A thought that nothing follows would be refused.
    let mut cut = question.clone();
    cut.messages[2].tool_calls.pop();
    cut.messages.pop();
    send(&server, cut).await;
    assert_eq!(input(2), [thought(0, "first"), said.clone(), one.clone(), done.clone()]);
    // They are useless to a model that does not think.
    send(&server, ModelRequest { thinking: Some(Thinking::Off), ..question }).await;
    assert_eq!(input(3), [said, one, two, done, done_too]);
}

#[tokio::test]
async fn a_thought_without_a_seal_is_shown_and_not_kept() {
    let items = answered(&[
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "one"}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "two"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "so"}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ])
    .await;
    let expected = [reasoning("one"), reasoning("\n\n"), reasoning("two"), text("so"), finished(FinishReason::Stop)];
    assert_eq!(items, expected);
}

#[tokio::test]
async fn why_an_answer_ended_is_told() {
    let said = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "so"});
    let incomplete = |reason: &str| {
        json!({"type": "response.incomplete", "response": {
            "id": "r", "model": "m", "status": "incomplete", "incomplete_details": {"reason": reason}
        }})
    };
    for (end, reason) in [("max_output_tokens", FinishReason::Length), ("content_filter", FinishReason::Filtered)] {
        assert_eq!(answered(&[said.clone(), incomplete(end)]).await, [text("so"), finished(reason)]);
    }
    let failed = |error: Value| json!({"type": "response.failed", "response": {"id": "r", "model": "m", "status": "failed", "error": error}});
    for (code, expected) in [
        ("server_error", ProviderErrorCode::Overloaded),
        ("rate_limit_exceeded", ProviderErrorCode::RateLimited),
        ("invalid_prompt", ProviderErrorCode::Failed),
        ("context_length_exceeded", ProviderErrorCode::ContextOverflow),
    ] {
        let told = json!({"code": code, "message": "it went wrong"});
        let event = json!({"type": "error", "code": code, "message": "it went wrong", "param": null});
        for end in [failed(told), event] {
            let items = answered(&[said.clone(), end]).await;
            let error = items[1].as_ref().unwrap_err();
            assert_eq!((error.code, error.detail.as_str(), items.len()), (expected, "mine: it went wrong", 2));
        }
    }
}

#[tokio::test]
async fn a_refusal_is_said() {
    let items = answered(&[
        json!({"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I will "}),
        json!({"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "not."}),
        json!({"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": "I will not."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {
            "type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]
        }}),
        json!({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed"}}),
    ])
    .await;
    assert_eq!(items, [text("I will "), text("not."), finished(FinishReason::Stop)]);
}

#[tokio::test]
async fn what_comes_only_whole_is_not_lost() {
    let called = json!({"type": "function_call", "call_id": "a", "name": "Read", "arguments": "{\"path\":\"x\"}"});
    let said = json!({"type": "message", "content": [{"type": "output_text", "text": "so"}]});
    // A call without its chunks, and a complete answer with its end.
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": called});
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": [said, called]}});
    let call = [
        args(0, "Read", "{\"path\":\"x\"}"),
        call(0, "a", "Read", json!({"path": "x"})),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(answered(&[done, end.clone()]).await, call);
    assert_eq!(answered(&[end]).await, [&[text("so")], call.as_slice()].concat());
}

#[tokio::test]
async fn a_conversation_that_ends_with_an_answer_goes_on() {
    let server = ScriptedModel::start().await;
    server.push(Answer::new().text("hi").step(Step::Finish(None)));
    let mut question = request();
    question.messages.push(Message::new(Role::Assistant, "half an ans"));
    send(&server, question).await;
    let input = server.requests()[0].body["input"].clone();
    assert_eq!(
        input.as_array().unwrap()[2..],
        [json!({"role": "assistant", "content": "half an ans"}), json!({"role": "user", "content": "Go on."})]
    );
}

#[tokio::test]
async fn the_phase_of_words_goes_back_with_them() {
    let message = |phase: &str, text: &str| {
        json!({
            "type": "message", "role": "assistant", "phase": phase,
            "content": [{ "type": "output_text", "text": text }]
        })
    };
    let whole = json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "scripted",
        "output": [message("commentary", "I look."), message("final_answer", "Done.")],
    });
    let done =
        |at: usize, item: Value| json!({ "type": "response.output_item.done", "output_index": at, "item": item });
    let streamed = [
        json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "I look." }),
        done(0, message("commentary", "I look.")),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "Done." }),
        done(1, message("final_answer", "Done.")),
        json!({ "type": "response.completed", "response": whole.clone() }),
    ];
    let only_whole = [json!({ "type": "response.completed", "response": whole })];
    for events in [&streamed[..], &only_whole] {
        let items = answered(events).await;
        let phase = |item: &Item| match item {
            Ok(ModelEvent::Proof(proof)) => Some(proof.data.clone()),
            Ok(ModelEvent::Text(text)) => Some(json!(text)),
            _ => None,
        };
        let said: Vec<_> = items.iter().filter_map(phase).collect();
        let of = |phase: &str| json!({ "type": "message", "phase": phase });
        assert_eq!(said, [json!("I look."), of("commentary"), json!("Done."), of("final_answer")]);
    }
    let server = ScriptedModel::start().await;
    server.push(Answer::say("ok"));
    let data = json!({ "type": "message", "phase": "commentary" });
    let thoughts = vec![Thought { text: String::new(), data, hidden: false }];
    let mut question = ModelRequest { thinking: None, ..thinking() };
    question.messages.push(Message { thoughts, ..Message::new(Role::Assistant, "I look.") });
    question.messages.push(Message::new(Role::User, "and?"));
    send(&server, question).await;
    let said = &server.requests()[0].body["input"][2];
    assert_eq!(said, &json!({ "role": "assistant", "content": "I look.", "phase": "commentary" }));
}
