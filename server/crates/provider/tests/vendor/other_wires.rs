//! The protocols of Ollama and Gemini, written out by hand.

use crate::common::{Item, KEY, all, config, connect, request, text};
use protocol::Usage;
use provider::{
    FinishReason, ModelEvent, ModelRequest, ModelSettings, ProviderErrorCode, ProviderKind,
    ProviderKind::{Gemini, Ollama},
    ProviderOptions, Providers, TimeLimits,
};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step};

/// Ollama has a JSON document per line, Gemini one per event.
fn written(kind: ProviderKind, frames: &[Value]) -> Answer {
    frames.iter().fold(Answer::new(), |answer, frame| {
        answer.step(Step::Raw(match kind {
            Ollama => format!("{frame}\n"),
            _ => format!("data: {frame}\n\n"),
        }))
    })
}

/// Asks the server, at its address as that vendor's own tools have it.
async fn asked(kind: ProviderKind, server: &ScriptedModel, question: ModelRequest) -> Vec<Item> {
    let mut config = config(kind, server);
    config.base_url = Some(server.anthropic_base_url());
    all(connect(config, TimeLimits::default()).stream(question)).await
}

async fn answered(kind: ProviderKind, frames: &[Value]) -> Vec<Item> {
    let server = ScriptedModel::start().await;
    server.push(written(kind, frames));
    server.otherwise(Answer::refuse(400, "asked again"));
    asked(kind, &server, request()).await
}

fn usage(input: u64, cached: u64, output: u64) -> Item {
    Ok(ModelEvent::Usage(Usage { input, cached, output, context_used: input + output, ..Usage::default() }))
}

fn finished(reason: FinishReason) -> Item {
    Ok(ModelEvent::Finished { reason })
}

/// Name and arguments of each call.
fn calls(items: &[Item]) -> Vec<(&str, &Value)> {
    let calls = items.iter().filter_map(|item| match item {
        Ok(ModelEvent::ToolCall { name, arguments, .. }) => Some((name.as_str(), arguments)),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn ollama_thinks_speaks_and_reports_its_tokens() {
    let items = answered(
        Ollama,
        &[
            json!({"message": {"role": "assistant", "thinking": "hm", "content": ""}, "done": false}),
            json!({"message": {"content": "hello"}, "done": false}),
            json!({"message": {"content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 20, "prompt_eval_cached_count": 5, "eval_count": 3}),
        ],
    )
    .await;
    let (proofs, said): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| matches!(item, Ok(ModelEvent::Proof(_))));
    assert_eq!(proofs.len(), 1, "its thoughts go back to it: {proofs:?}");
    assert_eq!(
        said,
        [Ok(ModelEvent::Reasoning("hm".to_owned())), text("hello"), usage(20, 5, 3), finished(FinishReason::Stop)]
    );
}

#[tokio::test]
async fn ollama_calls_tools() {
    let call = |name: &str, arguments: Value| json!({"function": {"name": name, "arguments": arguments}});
    let items = answered(
        Ollama,
        &[
            json!({"message": {"tool_calls": [call("Read", json!({"path": "x"})), call("ListPods", json!({}))]}}),
            json!({"message": {}, "done": true, "done_reason": "stop", "eval_count": 3}),
        ],
    )
    .await;
    assert_eq!(calls(&items), [("Read", &json!({"path": "x"})), ("ListPods", &json!({}))]);
    assert_eq!(items.last(), Some(&finished(FinishReason::ToolCalls)));
}

#[tokio::test]
async fn what_stops_without_a_mark_of_its_end_is_cut() {
    let ollama = answered(Ollama, &[json!({"message": {"content": "hello"}, "done": false})]).await;
    let gemini = answered(Gemini, &[json!({"candidates": [{"content": {"parts": [{"text": "hello"}]}}]})]).await;
    for items in [ollama, gemini] {
        assert_eq!(items[0], text("hello"));
        assert_eq!(items[1].as_ref().unwrap_err().code, ProviderErrorCode::Cut);
    }
}

#[tokio::test]
async fn an_error_line_of_ollama_is_an_error() {
    let items =
        answered(Ollama, &[json!({"message": {"content": "a"}}), json!({"error": "model \"x\" not found"})]).await;
    let error = items[1].as_ref().unwrap_err();
    assert_eq!((error.code, error.detail.as_str()), (ProviderErrorCode::ModelNotFound, "mine: model \"x\" not found"));
}

#[tokio::test]
async fn gemini_speaks_calls_and_reports_its_tokens() {
    let server = ScriptedModel::start().await;
    server.push(written(
        Gemini,
        &[
            json!({"candidates": [{"content": {"parts": [{"text": "hel"}]}}]}),
            json!({"candidates": [{"content": {"parts": [
            {"text": "lo"}, {"functionCall": {"name": "Read", "args": {"path": "x"}}}
        ]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2,
            "totalTokenCount": 11}}),
        ],
    ));
    let items = asked(Gemini, &server, request()).await;
    assert_eq!(items[..2], [text("hel"), text("lo")]);
    assert_eq!(calls(&items), [("Read", &json!({"path": "x"}))]);
    assert_eq!(items[items.len() - 2..], [usage(9, 4, 2), finished(FinishReason::ToolCalls)]);
    let [question] = server.requests().try_into().unwrap();
    assert_eq!(question.headers["x-goog-api-key"], KEY);
    assert!(question.path.ends_with("models/scripted:streamGenerateContent"), "{}", question.path);
    assert_eq!(question.body["contents"][0]["parts"][0]["text"], "hi");
}

#[tokio::test]
async fn ollama_is_asked_for_the_room_that_its_model_has_and_to_refuse_what_is_longer() {
    let body = async |settings: Option<ModelSettings>, model: &str| {
        let server = ScriptedModel::start().await;
        server.otherwise(Answer::refuse(400, "enough"));
        let mut config = config(Ollama, &server);
        config.base_url = Some(server.anthropic_base_url());
        let models = settings.map(|settings| (model.to_owned(), settings)).into_iter().collect();
        let options = ProviderOptions { configs: vec![config], models, ..ProviderOptions::default() };
        let provider = Providers::of(options).unwrap().get("mine").unwrap();
        all(provider.stream(ModelRequest { model: model.to_owned(), ..request() })).await;
        let [question] = server.requests().try_into().unwrap();
        assert_eq!((&question.body["truncate"], &question.body["shift"]), (&json!(false), &json!(false)));
        assert_eq!(question.body["model"], model);
        question.body["options"].clone()
    };
    let configured = ModelSettings { context_limit: Some(65_536), ..ModelSettings::default() };
    assert_eq!(body(Some(configured), "own").await, json!({ "num_ctx": 65_536 }));
    assert_eq!(body(None, "qwen3:8b").await, json!({ "num_ctx": 16_384 }), "known, and bounded");
    assert_eq!(body(None, "own").await, Value::Null, "of this one nothing is known");
}

#[tokio::test]
async fn ollama_says_how_much_room_a_running_model_has_and_is_asked_for_that() {
    let server = ScriptedModel::start().await;
    let json_of = |value: Value| Answer::refuse(200, value.to_string());
    server.push(json_of(json!({ "models": [{ "model": "own", "context_length": 32_768 }] })));
    server.push(json_of(json!({ "models": [{ "model": "own" }] })));
    server.push(json_of(json!({ "model_info": { "own.context_length": 262_144 } })));
    server.otherwise(Answer::refuse(400, "enough"));
    let mut config = config(Ollama, &server);
    config.base_url = Some(server.anthropic_base_url());
    let provider = connect(config, TimeLimits::default());
    assert_eq!(provider.models().await.unwrap()[0].facts.context_limit, Some(32_768));
    all(provider.stream(ModelRequest { model: "own".to_owned(), ..request() })).await;
    let paths: Vec<_> = server.requests().iter().map(|question| question.path.clone()).collect();
    assert_eq!(paths[..3], ["/api/ps", "/api/tags", "/api/show"]);
    assert_eq!(server.requests()[3].body["options"], json!({ "num_ctx": 32_768 }));
}
