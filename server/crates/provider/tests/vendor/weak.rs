//! Servers that lack parts of their protocol: the Responses API, tools, or streaming.

use protocol::Thinking;
use provider::{
    FinishReason, ModelEvent, ModelRequest, Provider, ProviderErrorCode, ProviderKind,
    ProviderKind::{Anthropic, Gemini, Ollama, OpenAi, OpenAiCompatible},
    TimeLimits, ToolSpec,
};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel};

use crate::common::{Item, all, config, connect, request, text};

const NO_PATH: &str = r#"{"detail":"Not Found"}"#;

fn at(kind: ProviderKind, server: &ScriptedModel) -> std::sync::Arc<dyn Provider> {
    let mut config = config(kind, server);
    if matches!(kind, Ollama | Gemini) {
        config.base_url = Some(server.anthropic_base_url());
    }
    connect(config, TimeLimits::default())
}

fn paths(server: &ScriptedModel) -> Vec<String> {
    server.requests().into_iter().map(|question| question.path.trim_start_matches("/v1/").to_owned()).collect()
}

fn finished(reason: FinishReason) -> Item {
    Ok(ModelEvent::Finished { reason })
}

fn alert(text: &str) -> Item {
    Ok(ModelEvent::Alert { text: text.to_owned() })
}

fn with_tools() -> ModelRequest {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = ToolSpec { name: "Read".to_owned(), description: "Reads.".to_owned(), schema };
    ModelRequest { tools: vec![tool], ..request() }
}

#[tokio::test]
async fn a_server_without_the_responses_api_is_asked_by_chat_completions_from_then_on() {
    let server = ScriptedModel::start().await;
    server.push(Answer::refuse(404, NO_PATH));
    server.otherwise(Answer::say("ok"));
    let provider = at(OpenAi, &server);
    let told = alert("The provider \"mine\" does not support OpenAI's Responses API; yoi uses chat completions.");
    for _ in 0..2 {
        assert_eq!(all(provider.stream(request())).await, [told.clone(), text("ok"), finished(FinishReason::Stop)]);
    }
    assert_eq!(paths(&server), ["responses", "chat/completions", "chat/completions"]);
    let bodies: Vec<_> = server.requests().into_iter().map(|question| question.body).collect();
    assert!(bodies[0]["input"].is_array() && bodies[1]["messages"].is_array(), "{bodies:?}");
    assert_eq!(bodies[1].get("prompt_cache_key"), None, "what is OpenAI's own is not asked of others");
}

#[tokio::test]
async fn a_model_that_is_not_there_is_no_missing_path() {
    for words in [
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#,
    ] {
        let server = ScriptedModel::start().await;
        server.otherwise(Answer::refuse(404, words));
        let items = all(at(OpenAi, &server).stream(request())).await;
        assert_eq!(items[0].as_ref().unwrap_err().code, ProviderErrorCode::ModelNotFound);
        assert_eq!(paths(&server), ["responses"]);
    }
}

#[tokio::test]
async fn a_server_that_has_neither_wire_says_why_and_is_asked_anew() {
    let server = ScriptedModel::start().await;
    server.push(Answer::refuse(404, NO_PATH));
    server.push(Answer::refuse(404, "no such model: x"));
    server.push(Answer::say("ok"));
    let provider = at(OpenAi, &server);
    let items = all(provider.stream(request())).await;
    let error = items[0].as_ref().unwrap_err();
    assert_eq!((error.code, items.len()), (ProviderErrorCode::ModelNotFound, 1));
    assert!(error.detail.contains("no such model: x"), "{error}");
    // Nothing was remembered from it.
    assert_eq!(all(provider.stream(request())).await, [text("ok"), finished(FinishReason::Stop)]);
    assert_eq!(paths(&server), ["responses", "chat/completions", "responses"]);
}

#[tokio::test]
async fn a_model_that_takes_no_tools_is_asked_without_them_from_then_on() {
    for (kind, status, words) in [
        (Ollama, 400, r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#),
        (OpenAiCompatible, 400, r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice"}}"#),
        (OpenAiCompatible, 500, r#"{"error":{"message":"tools param requires --jinja flag"}}"#),
        (OpenAiCompatible, 404, r#"{"error":{"message":"No endpoints found that support tool use."}}"#),
        (OpenAi, 400, r#"{"error":{"message":"This model doesn't support tools"}}"#),
        (
            Gemini,
            400,
            r#"{"error":{"message":"Function calling is not enabled for models/gemma-3","status":"INVALID_ARGUMENT"}}"#,
        ),
        (
            Anthropic,
            400,
            r#"{"error":{"type":"invalid_request_error","message":"tools are not supported by this model"}}"#,
        ),
    ] {
        let server = ScriptedModel::start().await;
        server.push(Answer::refuse(status, words));
        server.otherwise(said(kind));
        let provider = at(kind, &server);
        let told = alert(
            "The model \"scripted\" of \"mine\" does not support tools; yoi calls it without them, so it can only talk.",
        );
        for _ in 0..2 {
            let items = all(provider.stream(with_tools())).await;
            assert_eq!(items[..2], [told.clone(), text("ok")], "{kind} {words}");
        }
        let offered: Vec<_> = server.requests().iter().map(|question| question.body.get("tools").is_some()).collect();
        assert_eq!(offered, [true, false, false], "{kind} {words}");
        // A request without tools gives no alert about them.
        assert_eq!(all(provider.stream(request())).await[0], text("ok"));
        // What is known of one model says nothing about another.
        let other = ModelRequest { model: "other".to_owned(), ..with_tools() };
        assert_eq!(all(provider.stream(other)).await[0], text("ok"));
        assert!(server.requests().pop().unwrap().body.get("tools").is_some());
    }
}

/// `ok` as a stream in this protocol, written out where the scripted server does not speak it.
fn said(kind: ProviderKind) -> Answer {
    let raw = |body: String| Answer::refuse(200, body).header("content-type", "text/event-stream");
    match kind {
        Ollama => {
            raw("{\"message\":{\"content\":\"ok\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":1}\n"
                .to_owned())
        }
        Gemini => raw(format!("data: {}\n\n", of_gemini(json!([{ "text": "ok" }])))),
        _ => Answer::say("ok"),
    }
}

#[tokio::test]
async fn a_refusal_of_one_tool_is_no_refusal_of_all() {
    for words in [
        "Invalid schema for function 'Read': 'oneOf' is not supported",
        "tools[0].function.strict is not supported",
        "Unsupported value: 'tool_choice' does not support 'required'",
    ] {
        let server = ScriptedModel::start().await;
        server.otherwise(Answer::refuse(400, json!({ "error": { "message": words } }).to_string()));
        let items = all(at(OpenAiCompatible, &server).stream(with_tools())).await;
        assert_eq!((items.len(), server.requests().len()), (1, 1), "{words}");
        assert_eq!(items[0].as_ref().unwrap_err().code, ProviderErrorCode::BadRequest);
    }
}

/// An answer of Gemini's with these parts.
fn of_gemini(parts: Value) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9 }
    })
}

/// Reasoning, text and a call in one piece.
fn in_one_piece(kind: ProviderKind) -> Value {
    match kind {
        OpenAi => json!({
            "id": "resp_1", "object": "response", "status": "completed", "model": "scripted",
            "output": [
                { "type": "reasoning", "id": "rs_1", "encrypted_content": "seal",
                    "summary": [{ "type": "summary_text", "text": "hm" }] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I look." }] },
                { "type": "function_call", "call_id": "a", "name": "Read", "arguments": "{\"path\":\"x\"}" },
            ],
            "usage": { "input_tokens": 7, "output_tokens": 2, "total_tokens": 9 }
        }),
        OpenAiCompatible => json!({
            "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "I look.", "reasoning_content": "hm",
                "tool_calls": [{ "id": "a", "type": "function",
                    "function": { "name": "Read", "arguments": "{\"path\":\"x\"}" } }]
            }}],
            "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 }
        }),
        Anthropic => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "tool_use",
            "content": [
                { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "a", "name": "Read", "input": { "path": "x" } },
            ],
            "usage": { "input_tokens": 7, "output_tokens": 2 }
        }),
        Gemini => of_gemini(json!([
            { "text": "hm", "thought": true },
            { "text": "I look." },
            { "functionCall": { "id": "a", "name": "Read", "args": { "path": "x" } }, "thoughtSignature": "c2ln" },
        ])),
        _ => json!({
            "model": "scripted", "done": true, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 2,
            "message": { "role": "assistant", "content": "I look.", "thinking": "hm",
                "tool_calls": [{ "id": "a", "function": { "name": "Read", "arguments": { "path": "x" } } }] }
        }),
    }
}

/// The reasoning data that goes back.
fn kept(kind: ProviderKind) -> Option<Value> {
    match kind {
        OpenAi => Some(json!({
            "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "seal",
            "id": "rs_1"
        })),
        OpenAiCompatible | Ollama => Some(json!({ "type": "reasoning_content" })),
        Anthropic | Gemini => Some(json!({ "type": "thinking", "signature": "c2ln" })),
        _ => None,
    }
}

#[tokio::test]
async fn a_server_that_knows_no_streams_is_understood_on_every_wire() {
    for kind in [OpenAi, OpenAiCompatible, Anthropic, Gemini, Ollama] {
        let body = in_one_piece(kind);
        for body in [body.to_string(), serde_json::to_string_pretty(&body).unwrap()] {
            let server = ScriptedModel::start().await;
            server.otherwise(Answer::refuse(200, body).header("content-type", "application/json"));
            let items =
                all(at(kind, &server).stream(ModelRequest { thinking: Some(Thinking::Low), ..with_tools() })).await;
            let mut said = (String::new(), String::new(), Vec::new(), Vec::new(), 0);
            for item in &items {
                match item.as_ref().unwrap_or_else(|error| panic!("{kind}: {error}")) {
                    ModelEvent::Reasoning(text) => said.0.push_str(text),
                    ModelEvent::Text(text) => said.1.push_str(text),
                    ModelEvent::ToolCall { name, arguments, .. } => said.2.push((name.clone(), arguments.clone())),
                    ModelEvent::Proof(proof) => said.3.push(proof.data.clone()),
                    ModelEvent::Usage(usage) => said.4 = usage.context_used,
                    _ => (),
                }
            }
            let calls = vec![("Read".to_owned(), json!({ "path": "x" }))];
            let proofs: Vec<_> = kept(kind).into_iter().collect();
            assert_eq!(said, ("hm".to_owned(), "I look.".to_owned(), calls, proofs, 9), "{kind}");
            assert_eq!(items.last(), Some(&finished(FinishReason::ToolCalls)), "{kind}");
        }
    }
}
