//! Servers that do not say how many tokens an answer took, as llama-cpp-python's does not when it streams; and what the
//! others report before the end.

use futures_util::StreamExt;
use protocol::Usage;
use provider::{
    FinishReason, ModelEvent, ModelRequest, ProviderKind,
    ProviderKind::{Anthropic, Gemini, OpenAi, OpenAiCompatible},
    TimeLimits, ToolSpec,
};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

use crate::common::{Item, KEY, config, connect, request};

async fn answered(kind: ProviderKind, answer: Answer, question: ModelRequest) -> Vec<Item> {
    let server = ScriptedModel::start().await;
    server.push(answer);
    connect(config(kind, &server), TimeLimits::default()).stream(question).collect().await
}

fn usages(items: &[Item]) -> Vec<Usage> {
    let usage = |item: &Item| match item {
        Ok(ModelEvent::Usage(usage)) => Some(*usage),
        _ => None,
    };
    items.iter().filter_map(usage).collect()
}

fn alerts(items: &[Item]) -> Vec<&str> {
    let mut alerts = Vec::new();
    for item in items {
        if let Ok(ModelEvent::Alert { text }) = item {
            alerts.push(text.as_str());
        }
    }
    alerts
}

#[tokio::test]
async fn tokens_that_nobody_counts_are_estimated_and_people_are_told() {
    for kind in [OpenAi, OpenAiCompatible] {
        // A server that does not count reports zeros or nothing.
        for answer in [Answer::new(), Answer::new().usage(Tokens { input: 0, cached: 0, output: 0 })] {
            let items = answered(kind, answer.text("word ".repeat(8)).finish(), request()).await;
            // "be good" and "hi" are 9 bytes, the answer 40; a token has about four.
            let estimate = Usage { input: 2, output: 10, context_used: 12, estimated: true, ..Usage::default() };
            assert_eq!(usages(&items), [estimate], "{kind}");
            let told = "The provider \"mine\" does not count the tokens of its answers; they are estimated by the length \
                        of the text.";
            assert_eq!(alerts(&items), [told], "{kind}");
            assert_eq!(items.last(), Some(&Ok(ModelEvent::Finished { reason: FinishReason::Stop })));
        }
    }
}

#[tokio::test]
async fn tools_count_in_an_estimate_as_they_do_in_a_question() {
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string", "description": "x".repeat(400) } } });
    let tool = ToolSpec { name: "Read".to_owned(), description: "Reads.".to_owned(), schema };
    let items = answered(OpenAiCompatible, Answer::say("ok"), ModelRequest { tools: vec![tool], ..request() }).await;
    assert!(usages(&items)[0].input > 100, "{items:?}");
}

#[tokio::test]
async fn what_a_server_counts_is_taken_as_it_is() {
    let tokens = Tokens { input: 3, cached: 0, output: 1 };
    let items = answered(OpenAiCompatible, Answer::new().text("ok").usage(tokens).finish(), request()).await;
    assert_eq!(usages(&items), [Usage { input: 3, output: 1, context_used: 4, ..Usage::default() }]);
    assert_eq!(alerts(&items), [""; 0]);
}

/// Returns what arrives of an answer that stalls after these frames: everything up to the first reported count, and
/// that count. For Anthropic the scripted server sends the beginning itself, with a count of its own.
async fn begun(kind: ProviderKind, frames: &[Value]) -> (Vec<Item>, Usage) {
    let server = ScriptedModel::start().await;
    let frame = |frame: &Value| match frame["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {frame}\n\n"),
        None => format!("data: {frame}\n\n"),
    };
    let answer = frames.iter().fold(Answer::new(), |answer, one| answer.step(Step::Raw(frame(one))));
    server.push(answer.step(Step::Stall));
    let mut config = config(kind, &server);
    if kind == Gemini {
        config.base_url = Some(server.anthropic_base_url());
    }
    let mut stream = connect(config, TimeLimits::default()).stream(request());
    let mut before = Vec::new();
    loop {
        match stream.next().await.expect("the answer stalls before its end") {
            Ok(ModelEvent::UsedSoFar(used)) if kind == Anthropic && used.input == 0 => (),
            Ok(ModelEvent::UsedSoFar(used)) => return (before, used),
            item => before.push(item),
        }
    }
}

#[tokio::test]
async fn what_a_server_counts_on_the_way_is_told_as_it_comes() {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 20, "output_tokens": 1 });
    let start = json!({ "type": "message_start", "message": { "usage": usage } });
    let (before, used) = begun(Anthropic, &[start]).await;
    let counted = Usage { input: 33, cached: 10, written: 20, output: 1, context_used: 34, ..Usage::default() };
    assert_eq!((before, used), (Vec::new(), counted), "before a word is said");

    let parts = json!({
        "candidates": [{ "content": { "role": "model", "parts": [{ "text": "so" }] } }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 7, "cachedContentTokenCount": 4 },
    });
    let (before, used) = begun(Gemini, &[parts]).await;
    let counted = Usage { input: 5, cached: 4, output: 9, context_used: 14, ..Usage::default() };
    assert_eq!((before, used), (vec![Ok(ModelEvent::Text("so".to_owned()))], counted), "with the words that it counts");

    let chunk = json!({
        "choices": [{ "delta": { "content": "so" }, "finish_reason": null }],
        "usage": { "prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": { "cached_tokens": 1 } },
    });
    let (_, used) = begun(OpenAiCompatible, &[chunk]).await;
    assert_eq!(used, Usage { input: 5, cached: 1, output: 2, context_used: 7, ..Usage::default() });

    // OpenAI counts only at the end, and may think for minutes before the first word arrives.
    let created = json!({ "type": "response.created", "response": { "status": "in_progress", "usage": null } });
    assert_eq!(begun(OpenAi, &[created]).await, (Vec::new(), Usage::default()));
}

#[tokio::test]
async fn a_count_between_two_pieces_of_a_key_lets_none_of_it_through() {
    let piece = |text: &str| {
        json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }],
            "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2 },
        })
    };
    let (first, second) = KEY.split_at(10);
    let end = json!({ "candidates": [{ "content": { "parts": [] }, "finishReason": "STOP" }] });
    let server = ScriptedModel::start().await;
    let frames = [piece(first), piece(second), end];
    server.push(frames.iter().fold(Answer::new(), |answer, one| answer.step(Step::Raw(format!("data: {one}\n\n")))));
    let mut config = config(Gemini, &server);
    config.base_url = Some(server.anthropic_base_url());
    let items: Vec<_> = connect(config, TimeLimits::default()).stream(request()).collect().await;
    let said: String =
        items.iter().flatten().map(|event| if let ModelEvent::Text(text) = event { text } else { "" }).collect();
    assert!(!said.is_empty() && !KEY.contains(said.as_str()) && !said.contains(first), "{said}");
}
