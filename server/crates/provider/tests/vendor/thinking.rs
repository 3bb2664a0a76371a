//! Thinking: requested in each vendor's own way, and sent back unchanged.

use protocol::{Message, Proof, Role, Thinking, Thought, ToolCall};
use provider::{
    ModelEvent, ModelRequest, ProviderKind,
    ProviderKind::{Anthropic, Gemini, Ollama, OpenAi, OpenAiCompatible},
    TimeLimits,
};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step};

use crate::common::{Item, all, config, connect, request};

/// The body of a request with this thinking level.
async fn asked(kind: ProviderKind, model: &str, thinking: Option<Thinking>) -> Value {
    let server = ScriptedModel::start().await;
    server.otherwise(Answer::refuse(400, "enough"));
    let question = ModelRequest { model: model.to_owned(), thinking, ..request() };
    send(kind, &server, question).await;
    server.requests()[0].body.clone()
}

async fn send(kind: ProviderKind, server: &ScriptedModel, question: ModelRequest) -> Vec<Item> {
    let mut config = config(kind, server);
    if matches!(kind, Ollama | Gemini) {
        config.base_url = Some(server.anthropic_base_url());
    }
    all(connect(config, TimeLimits::default()).stream(question)).await
}

#[tokio::test]
async fn each_vendor_is_asked_to_think_in_its_own_words() {
    for (kind, place) in [(OpenAi, "/reasoning/effort"), (OpenAiCompatible, "/reasoning_effort")] {
        let effort = async |model: &str, level| asked(kind, model, level).await.pointer(place).cloned();
        assert_eq!(effort("gpt-5.1", Some(Thinking::Medium)).await, Some(json!("medium")));
        assert_eq!(effort("gpt-5.1", Some(Thinking::Off)).await, Some(json!("none")));
        assert_eq!(effort("gpt-5.2", Some(Thinking::Max)).await, Some(json!("xhigh")));
        assert_eq!(effort("gpt-5.1", None).await, None);
    }
    let thinking = |body: &Value| (body["thinking"]["type"].clone(), body["thinking"]["budget_tokens"].clone());
    let haiku = asked(Anthropic, "claude-haiku-4-5", Some(Thinking::Low)).await;
    assert_eq!(thinking(&haiku), (json!("enabled"), json!(1024)));
    assert!(haiku["max_tokens"].as_u64().unwrap() > 1024);
    let opus = asked(Anthropic, "claude-opus-4-5", Some(Thinking::High)).await;
    assert_eq!(thinking(&opus), (json!("enabled"), json!(24_000)));
    let sonnet = asked(Anthropic, "claude-sonnet-4-6", Some(Thinking::Max)).await;
    assert_eq!(thinking(&sonnet).0, "adaptive");
    assert_eq!(sonnet["output_config"]["effort"], "max");
    assert_eq!(thinking(&asked(Anthropic, "claude-haiku-4-5", None).await), (Value::Null, Value::Null));
    assert_eq!(thinking(&asked(Anthropic, "claude-haiku-4-5", Some(Thinking::Off)).await).0, Value::Null);
    let gemini = asked(Gemini, "gemini-2.5-flash", Some(Thinking::High)).await;
    let config = &gemini["generationConfig"]["thinkingConfig"];
    assert_eq!((&config["thinkingBudget"], &config["includeThoughts"]), (&json!(24_000), &json!(true)));
    let off = asked(Gemini, "gemini-2.5-flash", Some(Thinking::Off)).await;
    assert_eq!(off["generationConfig"]["thinkingConfig"]["thinkingBudget"], 0);
    assert_eq!(asked(Ollama, "gpt-oss:20b", Some(Thinking::High)).await["think"], "high");
    // The other models have no levels and refuse a request with one.
    assert_eq!(asked(Ollama, "qwen3", Some(Thinking::High)).await["think"], true);
    assert_eq!(asked(Ollama, "qwen3", Some(Thinking::Off)).await["think"], false);
}

fn event(data: Value) -> Step {
    Step::Raw(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
}

/// Reasoning with a signature in two chunks, reasoning that only the provider can read, and a call.
fn thoughtful() -> Answer {
    let start = |index: u64, block: Value| {
        event(json!({ "type": "content_block_start", "index": index, "content_block": block }))
    };
    let delta =
        |index: u64, delta: Value| event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    let stop = |index: u64| event(json!({ "type": "content_block_stop", "index": index }));
    [
        event(json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10, "output_tokens": 1 } } })),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "look first" })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        delta(0, json!({ "type": "signature_delta", "signature": "bmVk" })),
        stop(0),
        start(1, json!({ "type": "redacted_thinking", "data": "b3BhcXVl" })),
        stop(1),
        start(2, json!({ "type": "tool_use", "id": "toolu_a", "name": "Read", "input": {} })),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"path\":\"x\"}" })),
        stop(2),
        event(
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
        ),
        event(json!({ "type": "message_stop" })),
    ]
    .into_iter()
    .fold(Answer::new(), Answer::step)
}

#[tokio::test]
async fn a_signed_thought_goes_back_to_anthropic_to_the_letter() {
    let server = ScriptedModel::start().await;
    server.push(thoughtful());
    server.otherwise(Answer::refuse(400, "enough"));
    let mut question =
        ModelRequest { thinking: Some(Thinking::High), model: "claude-haiku-4-5".to_owned(), ..request() };
    let items = send(Anthropic, &server, question.clone()).await;
    let proofs: Vec<Proof> = items
        .iter()
        .filter_map(|item| match item {
            Ok(ModelEvent::Proof(proof)) => Some(proof.clone()),
            _ => None,
        })
        .collect();
    assert_eq!((proofs[0].provider.as_str(), proofs[0].model.as_str()), ("mine", "claude-haiku-4-5"));
    let data: Vec<_> = proofs.into_iter().map(|proof| proof.data).collect();
    let redacted = json!({ "type": "redacted_thinking", "data": "b3BhcXVl" });
    assert_eq!(data, [json!({ "type": "thinking", "signature": "c2lnbmVk" }), redacted.clone()]);

    let call = ToolCall { call_id: "call-b3".to_owned(), name: "Read".to_owned(), arguments: json!({ "path": "x" }) };
    let texts = ["look first", ""];
    let thoughts = texts
        .into_iter()
        .zip(data)
        .map(|(text, data)| Thought { text: text.to_owned(), data, hidden: false })
        .collect();
    question.messages.push(Message { tool_calls: vec![call], thoughts, ..Message::new(Role::Assistant, "") });
    question.messages.push(Message { call_id: Some("call-b3".to_owned()), ..Message::new(Role::Tool, "done") });
    send(Anthropic, &server, question.clone()).await;
    let body = |at: usize| server.requests()[at].body.clone();
    let thought = json!({ "type": "thinking", "thinking": "look first", "signature": "c2lnbmVk" });
    assert_eq!(body(1)["messages"][1]["content"][0], thought);
    assert_eq!(body(1)["messages"][1]["content"][1], redacted);
    assert_eq!(body(1)["messages"][1]["content"][2]["type"], "tool_use");
    assert_eq!(body(1)["thinking"]["type"], "enabled");
    // In the middle of calls without reasoning, thinking is not requested: it would be refused.
    let mut bare = question.clone();
    bare.messages.iter_mut().for_each(|message| message.thoughts.clear());
    send(Anthropic, &server, bare).await;
    assert_eq!(server.requests().pop().unwrap().body.get("thinking"), None);
    // A model that does not think has no use for them.
    send(Anthropic, &server, ModelRequest { thinking: None, ..question }).await;
    assert_eq!(body(3)["messages"][1]["content"][0]["type"], "tool_use");
}

#[tokio::test]
async fn a_signature_of_gemini_goes_back_with_the_call_that_it_came_with() {
    let server = ScriptedModel::start().await;
    let parts = json!([
        { "text": "look first", "thought": true },
        { "text": "I read it." },
        { "functionCall": { "name": "Read", "args": { "path": "x" } }, "thoughtSignature": "c2ln" },
    ]);
    let frame = json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 3 } });
    server.push(Answer::new().step(Step::Raw(format!("data: {frame}\n\n"))));
    server.otherwise(Answer::refuse(400, "enough"));
    let mut question = ModelRequest { thinking: Some(Thinking::High), model: "gemini-2.5-pro".to_owned(), ..request() };
    let items = send(Gemini, &server, question.clone()).await;
    let proof = items.iter().find_map(|item| match item {
        Ok(ModelEvent::Proof(proof)) => Some(proof.data.clone()),
        _ => None,
    });
    let call = ToolCall { call_id: "call-b3".to_owned(), name: "Read".to_owned(), arguments: json!({ "path": "x" }) };
    let thoughts = vec![Thought { text: "look first".to_owned(), data: proof.unwrap(), hidden: false }];
    question.messages.push(Message { tool_calls: vec![call], thoughts, ..Message::new(Role::Assistant, "I read it.") });
    question.messages.push(Message { call_id: Some("call-b3".to_owned()), ..Message::new(Role::Tool, "done") });
    // It also signs thoughts that nobody asked for.
    for (at, thinking) in [(1, Some(Thinking::High)), (2, None)] {
        send(Gemini, &server, ModelRequest { thinking, ..question.clone() }).await;
        let parts = server.requests()[at].body["contents"][1]["parts"].clone();
        assert_eq!(parts[0], json!({ "text": "I read it." }));
        let signed = (&parts[1]["functionCall"]["name"], &parts[1]["thoughtSignature"]);
        assert_eq!(signed, (&json!("Read"), &json!("c2ln")), "{thinking:?}");
    }
}

#[tokio::test]
async fn ollama_gets_its_thoughts_back_and_each_result_with_the_name_of_its_tool() {
    let server = ScriptedModel::start().await;
    let call = |name: &str| json!({ "function": { "name": name, "arguments": { "path": "x" } } });
    let thinks = json!({ "message": { "role": "assistant", "thinking": "look first", "content": "" }, "done": false });
    let calls = json!({ "message": { "tool_calls": [call("Read"), call("Grep")] }, "done": false });
    let ends = json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 5 });
    server.push(Answer::new().step(Step::Raw(format!("{thinks}\n{calls}\n{ends}\n"))));
    server.otherwise(Answer::refuse(400, "enough"));
    let mut question = ModelRequest { thinking: Some(Thinking::High), ..request() };
    let items = send(Ollama, &server, question.clone()).await;
    let proof = items.iter().find_map(|item| match item {
        Ok(ModelEvent::Proof(proof)) => Some(proof.data.clone()),
        _ => None,
    });
    let called = |id: &str, name: &str| ToolCall {
        call_id: id.to_owned(),
        name: name.to_owned(),
        arguments: json!({ "path": "x" }),
    };
    let tool_calls = vec![called("call-b2", "Read"), called("call-b3", "Grep")];
    let thoughts = vec![Thought { text: "look first".to_owned(), data: proof.unwrap(), hidden: false }];
    question.messages.push(Message { tool_calls, thoughts, ..Message::new(Role::Assistant, "") });
    // The second call finished first.
    for id in ["call-b3", "call-b2"] {
        question.messages.push(Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, id) });
    }
    send(Ollama, &server, question).await;
    let body = server.requests()[1].body.clone();
    let expected = json!([
        { "role": "system", "content": "be good" },
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": "", "thinking": "look first", "tool_calls": [call("Read"), call("Grep")] },
        { "role": "tool", "content": "call-b2", "tool_name": "Read" },
        { "role": "tool", "content": "call-b3", "tool_name": "Grep" },
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!((&body["think"], &body["stream"]), (&json!(true), &json!(true)));
}

/// What has to be identical for a cache hit: everything but the markers for where it may end.
fn unmarked(mut message: Value) -> Value {
    if let Some(parts) = message["content"].as_array_mut() {
        parts.iter_mut().filter_map(Value::as_object_mut).for_each(|part| drop(part.remove("cache_control")));
    }
    message
}

/// Three turns: two parallel calls and their results, an answer, and two more messages.
fn turns() -> Vec<Message> {
    let call = |id: &str| protocol::ToolCall {
        call_id: id.to_owned(),
        name: "Read".to_owned(),
        arguments: json!({ "path": id, "limit": 5 }),
    };
    let result =
        |id: &str| Message { call_id: Some(id.to_owned()), ..Message::new(Role::Tool, "two\nlines \"quoted\"") };
    vec![
        Message { tool_calls: vec![call("call-b1"), call("call-b2")], ..Message::new(Role::Assistant, "I look.") },
        result("call-b1"),
        result("call-b2"),
        Message::new(Role::Assistant, "Both are there."),
        Message::new(Role::User, "and now?"),
        Message::new(Role::Assistant, "Now it is done."),
        Message::new(Role::User, "thank you"),
    ]
}

#[tokio::test]
async fn a_conversation_begins_with_the_same_bytes_from_question_to_question() {
    for kind in [Anthropic, OpenAi, OpenAiCompatible, Gemini, Ollama] {
        let server = ScriptedModel::start().await;
        server.otherwise(Answer::refuse(400, "enough"));
        // After the user's message, after the results of the calls, and after each message that follows.
        let ends = [0, 3, 5, 7];
        for end in ends {
            let mut question = request();
            question.messages.extend(turns().into_iter().take(end));
            send(kind, &server, question).await;
        }
        let messages = |at: usize| {
            let body = server.requests()[at].body.clone();
            let list = match kind {
                Gemini => "contents",
                OpenAi => "input",
                _ => "messages",
            };
            let items = body[list].as_array().unwrap().iter().cloned().map(unmarked);
            items.map(|item| item.to_string()).collect::<Vec<_>>()
        };
        let rest = |at: usize| {
            let mut body = server.requests()[at].body.clone();
            body.as_object_mut().unwrap().retain(|key, _| !["messages", "contents", "input"].contains(&key.as_str()));
            body.to_string()
        };
        for at in 1..ends.len() {
            let (before, now) = (messages(at - 1), messages(at));
            assert!(now.len() > before.len(), "{kind}: {now:?}");
            assert_eq!(now[..before.len()], before, "{kind}");
            assert_eq!(rest(at), rest(at - 1), "{kind}");
        }
    }
}
