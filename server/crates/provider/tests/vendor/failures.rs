//! Failures of a provider, and the events that a viewer receives.

use crate::common::{Item, KEY, all, ask, config, connect, request, text};
use provider::{
    FinishReason, ModelEvent, ProviderErrorCode, ProviderKind,
    ProviderKind::{OpenAi, OpenAiCompatible},
    TimeLimits,
};
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Step};

/// Number and code of each announced retry.
fn retries(items: &[Item]) -> Vec<(u32, &str)> {
    items
        .iter()
        .filter_map(|item| match item {
            Ok(ModelEvent::Retry { attempt, code, .. }) => Some((*attempt, code.as_str())),
            _ => None,
        })
        .collect()
}

fn last_error(items: &[Item]) -> ProviderErrorCode {
    items.last().unwrap().as_ref().unwrap_err().code
}

#[tokio::test]
async fn refusals_that_may_pass_are_retried_and_shown() {
    let server = ScriptedModel::start().await;
    server.push(Answer::refuse(429, "slow down").header("retry-after", "0"));
    server.push(Answer::refuse(500, "oops"));
    server.push(Answer::refuse(503, "oops"));
    server.push(Answer::say("ok"));
    let items = all(ask(OpenAi, &server)).await;
    assert_eq!(retries(&items), [(1, "rate_limited"), (2, "overloaded"), (3, "overloaded")]);
    assert_eq!(items[3..], [text("ok"), Ok(ModelEvent::Finished { reason: FinishReason::Stop })]);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_provider_that_asks_for_too_long_a_pause_has_failed() {
    let server = ScriptedModel::start().await;
    server.push(Answer::refuse(429, "slow down").header("retry-after", "3600"));
    let items = all(ask(OpenAi, &server)).await;
    assert_eq!(items.len(), 1);
    let error = items[0].as_ref().unwrap_err();
    assert_eq!(error.code, ProviderErrorCode::RateLimited);
    assert_eq!(error.retry_after.unwrap().as_secs(), 3600);
}

#[tokio::test]
async fn a_wrong_key_fails_at_once_and_is_not_quoted() {
    for kind in [OpenAi, OpenAiCompatible, ProviderKind::Anthropic] {
        let server = ScriptedModel::start().await;
        let quoted = format!("Incorrect API key provided: {KEY}. Also: {}***{}", &KEY[..9], &KEY[KEY.len() - 4..]);
        let body = json!({"error": {"type": "authentication_error", "message": quoted}});
        server.push(Answer::refuse(401, body.to_string()));
        let items = all(ask(kind, &server)).await;
        assert_eq!(items.len(), 1);
        assert_eq!(last_error(&items), ProviderErrorCode::Unauthorized);
        assert!(!format!("{items:?}").contains(&KEY[..8]), "{items:?}");
        assert!(!format!("{items:?}").contains(&KEY[KEY.len() - 4..]), "{items:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_keeps_what_was_said_and_is_not_asked_for_again() {
    let without_end = Answer::new().text("hi");
    let dropped = Answer::new().text("hi").step(Step::Cut);
    let both = [OpenAi, OpenAiCompatible].map(|kind| [(kind, &without_end), (kind, &dropped)]);
    for (kind, answer) in both.into_iter().flatten().chain([(ProviderKind::Anthropic, &dropped)]) {
        let server = ScriptedModel::start().await;
        server.push(answer.clone());
        let items = all(ask(kind, &server)).await;
        assert_eq!(items[0], text("hi"));
        assert_eq!((items.len(), last_error(&items)), (2, ProviderErrorCode::Cut), "{items:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error() {
    let names = [OpenAi, OpenAiCompatible].map(|kind| (kind, "server_error"));
    for (kind, name) in names.into_iter().chain([(ProviderKind::Anthropic, "overloaded_error")]) {
        let server = ScriptedModel::start().await;
        let error = json!({"type": name, "message": format!("no room for {KEY}")});
        server.push(Answer::new().text("hi").step(Step::ErrorFrame(error)));
        let items = all(ask(kind, &server)).await;
        let error = items[1].as_ref().unwrap_err();
        assert_eq!((error.code, error.detail.as_str()), (ProviderErrorCode::Overloaded, "mine: no room for [key]"));
        assert_eq!(items.len(), 2);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let server = ScriptedModel::start().await;
    let mut config = config(OpenAi, &server);
    // Nothing listens on port 1.
    config.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    let items = all(connect(config, TimeLimits::default()).stream(request())).await;
    assert_eq!(retries(&items).len(), 3);
    assert_eq!(last_error(&items), ProviderErrorCode::Unreachable);
}

#[tokio::test]
async fn without_a_key_a_vendor_is_not_asked() {
    let server = ScriptedModel::start().await;
    let mut config = config(OpenAi, &server);
    (config.base_url, config.api_key) = (None, None);
    let items = all(connect(config, TimeLimits::default()).stream(request())).await;
    assert_eq!((items.len(), last_error(&items)), (1, ProviderErrorCode::Unauthorized));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = ScriptedModel::start().await;
    let elsewhere = ScriptedModel::start().await;
    let target = format!("{}/responses", elsewhere.base_url());
    server.push(Answer::refuse(307, "").header("location", &target));
    let items = all(ask(OpenAi, &server)).await;
    assert_eq!(last_error(&items), ProviderErrorCode::Failed);
    assert_eq!(elsewhere.requests(), []);
}
