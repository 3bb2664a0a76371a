//! Servers that do not report token counts, as llama-cpp-python's when streaming.

use futures_util::StreamExt;
use protocol::Usage;
use provider::{
    FinishReason, ModelEvent, ModelRequest, ProviderKind,
    ProviderKind::{OpenAi, OpenAiCompatible},
    TimeLimits, ToolSpec,
};
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Tokens};

use crate::common::{Item, config, connect, request};

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
