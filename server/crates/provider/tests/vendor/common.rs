//! A vendor in front of a scripted model, and the events that result.

use std::time::Duration;

use futures_util::StreamExt;
use protocol::{Message, Role};
use provider::{
    ModelEvent, ModelRequest, ModelStream, Provider, ProviderConfig, ProviderError, ProviderKind, ProviderOptions,
    ProviderSource, Providers, RetryPolicy, TimeLimits,
};
use testkit::scripted_model::ScriptedModel;

pub(crate) const KEY: &str = "sk-test-0123456789abcdefghij";

pub(crate) type Item = Result<ModelEvent, ProviderError>;

/// A provider configured for this server.
pub(crate) fn config(kind: ProviderKind, server: &ScriptedModel) -> ProviderConfig {
    let base_url = match kind {
        ProviderKind::Anthropic => server.anthropic_base_url(),
        _ => server.base_url(),
    };
    ProviderConfig {
        name: "mine".to_owned(),
        kind,
        base_url: Some(base_url),
        api_key: Some(KEY.into()),
        models: Vec::new(),
        source: ProviderSource::Configuration,
    }
}

/// With short pauses: only their order matters here.
pub(crate) fn connect(config: ProviderConfig, limits: TimeLimits) -> std::sync::Arc<dyn Provider> {
    let policy = RetryPolicy { first_wait: Duration::from_millis(1), jitter: 0.0, ..RetryPolicy::default() };
    let options = ProviderOptions { configs: vec![config], policy, limits, ..ProviderOptions::default() };
    let providers = Providers::of(options).expect("a valid configuration");
    providers.get("mine").expect("the provider that was configured")
}

pub(crate) fn ask(kind: ProviderKind, server: &ScriptedModel) -> ModelStream {
    connect(config(kind, server), TimeLimits::default()).stream(request())
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        purpose: Default::default(),
        model: "scripted".to_owned(),
        thinking: None,
        messages: vec![Message::new(Role::System, "be good"), Message::new(Role::User, "hi")],
        attached: Default::default(),
        tools: Vec::new(),
        context_limit: None,
        conversation: None,
    }
}

/// Returns all items, except counts on the way and estimates, which are tested in `uncounted`.
pub(crate) async fn all(stream: ModelStream) -> Vec<Item> {
    let is_estimate = |item: &Item| match item {
        Ok(ModelEvent::Usage(usage)) => usage.estimated,
        Ok(ModelEvent::UsedSoFar(_)) => true,
        Ok(ModelEvent::Alert { text }) => text.contains("does not count"),
        _ => false,
    };
    stream.filter(|item| std::future::ready(!is_estimate(item))).collect().await
}

pub(crate) fn text(text: &str) -> Item {
    Ok(ModelEvent::Text(text.to_owned()))
}
