//! A request longer than the model's context, in all the ways in which servers report it.

use crate::common::{Item, all, ask, text};
use provider::ProviderKind::{OpenAi, OpenAiCompatible};
use provider::{ContextSizes, FinishReason, ModelEvent, ProviderErrorCode, ProviderKind};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

const SENTENCE: &str =
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
const KINDS: [ProviderKind; 5] =
    [OpenAi, OpenAiCompatible, ProviderKind::Anthropic, ProviderKind::Gemini, ProviderKind::Ollama];

fn told() -> Value {
    json!({ "message": SENTENCE, "type": "invalid_request_error", "code": "context_length_exceeded" })
}

async fn answered(kind: ProviderKind, answer: Answer) -> Vec<Item> {
    let server = ScriptedModel::start().await;
    server.otherwise(answer);
    all(ask(kind, &server)).await
}

#[track_caller]
fn is_overflow(item: &Item, why: &str) {
    let error = item.as_ref().unwrap_err();
    assert_eq!(error.code, ProviderErrorCode::ContextOverflow, "{why}: {error:?}");
    assert_eq!(error.sizes, ContextSizes { limit: Some(8192), used: Some(9000) }, "{why}: {error:?}");
    assert!(error.detail.contains(SENTENCE), "{why}: {error:?}");
}

#[tokio::test]
async fn a_bare_error_with_status_200_is_known_on_every_wire() {
    let whole = json!({ "error": told() });
    let laid_out = serde_json::to_string_pretty(&whole).unwrap();
    for kind in KINDS {
        for body in [whole.to_string(), laid_out.clone()] {
            for content_type in ["application/json", "text/event-stream"] {
                let answer = Answer::refuse(200, body.clone()).header("content-type", content_type);
                let items = answered(kind, answer).await;
                assert_eq!(items.len(), 1, "{kind:?}, {content_type}: {items:?}");
                is_overflow(&items[0], &format!("{kind:?}, {content_type}"));
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_is_known_by_its_words_whatever_its_status() {
    let body = json!({ "error": { "message": SENTENCE } }).to_string();
    for status in [400, 404, 413, 422, 500] {
        let items = answered(OpenAi, Answer::refuse(status, body.clone())).await;
        assert_eq!(items.len(), 1, "{status}: {items:?}");
        is_overflow(&items[0], &status.to_string());
    }
}

#[tokio::test]
async fn an_error_in_the_stream_is_known_before_and_after_the_first_words() {
    for kind in [OpenAi, OpenAiCompatible, ProviderKind::Anthropic] {
        let items = answered(kind, Answer::new().step(Step::ErrorFrame(told()))).await;
        assert_eq!(items.len(), 1, "{items:?}");
        is_overflow(&items[0], "at once");
        let items = answered(kind, Answer::new().text("so far").step(Step::ErrorFrame(told()))).await;
        assert_eq!((&items[0], items.len()), (&text("so far"), 2), "{items:?}");
        is_overflow(&items[1], "after some words");
    }
}

#[tokio::test]
async fn words_that_are_no_answer_are_a_stream_that_was_cut() {
    for body in ["<html>come back later</html>", "{\"status\": \"ok\"}", "[]", "null"] {
        for kind in [OpenAi, OpenAiCompatible] {
            let items = answered(kind, Answer::refuse(200, body).header("content-type", "text/html")).await;
            assert_eq!(items.last().unwrap().as_ref().unwrap_err().code, ProviderErrorCode::Cut, "{body}: {items:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_reached_its_own_limit_is_no_overflow() {
    let tokens = Tokens { input: 8000, cached: 0, output: 192 };
    let answer = Answer::new().text("and so").usage(tokens).step(Step::Finish(Some("length".to_owned())));
    for kind in [OpenAi, OpenAiCompatible] {
        let items = answered(kind, answer.clone()).await;
        assert_eq!(items.last(), Some(&Ok(ModelEvent::Finished { reason: FinishReason::Length })));
    }
}

#[tokio::test]
async fn a_stream_that_is_empty_is_asked_once_more_in_one_piece() {
    // llama-cpp-python's server has already sent its headers when it notices that the request is too long.
    for kind in KINDS {
        let server = ScriptedModel::start().await;
        server.push(Answer::refuse(200, "").header("content-type", "text/event-stream"));
        server.push(Answer::refuse(400, json!({ "error": told() }).to_string()));
        let items = all(ask(kind, &server)).await;
        assert_eq!(items.len(), 1, "{kind:?}: {items:?}");
        is_overflow(&items[0], &format!("{kind:?}"));
        assert_eq!(server.requests().len(), 2, "{kind:?}");
    }
}
