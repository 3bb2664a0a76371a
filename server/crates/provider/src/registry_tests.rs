use protocol::FactOrigin;
use testkit::scripted_model::ScriptedModel;

use super::*;

fn config(name: &str, kind: ProviderKind, base_url: Option<&str>) -> ProviderConfig {
    ProviderConfig {
        name: name.to_owned(),
        kind,
        base_url: base_url.map(str::to_owned),
        api_key: None,
        models: Vec::new(),
        source: ProviderSource::Configuration,
    }
}

#[tokio::test]
async fn without_any_other_rehearsal_is_the_default() {
    let providers = Providers::new(Vec::new()).unwrap();
    assert_eq!(providers.default_name().await, "rehearsal");
    assert_eq!(providers.default_model("rehearsal").await.as_deref(), Some("rehearsal"));
    assert!(providers.get("rehearsal").is_some());
    assert!(providers.get("openai").is_none());
    assert_eq!(providers.default_model("openai").await, None);
}

#[tokio::test]
async fn the_first_one_given_is_the_default() {
    let mut mine = config("mine", ProviderKind::OpenAi, Some("http://127.0.0.1:1/v1"));
    mine.models = vec!["a".to_owned(), "b".to_owned()];
    let other = config("other", ProviderKind::Anthropic, None);
    let providers = Providers::new(vec![mine, other]).unwrap();
    assert_eq!(providers.default_name().await, "mine");
    assert_eq!(providers.default_model("mine").await.as_deref(), Some("a"));
    assert!(providers.default_model("other").await.unwrap().starts_with("claude-"));
}

#[tokio::test]
async fn views_say_what_is_missing_and_never_fail() {
    let mut given = config("given", ProviderKind::OpenAi, None);
    given.models = vec!["gpt-5.1".to_owned()];
    // Nothing listens on port 1.
    let away = config("away", ProviderKind::Ollama, Some("http://127.0.0.1:1"));
    let views = Providers::new(vec![given, away]).unwrap().views().await;
    let facts: Vec<_> = views.iter().map(|view| (view.name.as_str(), view.default, view.source.as_str())).collect();
    assert_eq!(
        facts,
        [("given", true, "configuration"), ("away", false, "configuration"), ("rehearsal", false, "built in")]
    );
    assert!(views[0].missing.as_deref().unwrap().contains("[providers.given]"));
    let first = |view: &ProviderView| (view.models[0].name.clone(), view.models[0].facts.clone());
    let (name, facts) = first(&views[0]);
    assert_eq!((name.as_str(), facts.origin.context_limit), ("gpt-5.1", Some(FactOrigin::Table)));
    assert_eq!((&views[1].missing, views[1].models.len()), (&None, 0));
    let (name, facts) = first(&views[2]);
    assert_eq!((name.as_str(), facts.context_limit, facts.prices), ("rehearsal", Some(200_000), None));
}

#[test]
fn a_set_that_cannot_be_is_refused_by_name() {
    let error = |configs| Providers::new(configs).unwrap_err();
    let one = || config("a", ProviderKind::Ollama, None);
    assert_eq!(error(vec![one(), one()]), ProvidersError::NameTaken { name: "a".to_owned() });
    let odd = config("a b", ProviderKind::Ollama, None);
    assert_eq!(error(vec![odd]), ProvidersError::Name { name: "a b".to_owned() });
    let reserved = config("rehearsal", ProviderKind::OpenAi, None);
    assert_eq!(error(vec![reserved]), ProvidersError::Reserved { name: "rehearsal".to_owned() });
    let nowhere = config("a", ProviderKind::OpenAi, Some("nowhere"));
    assert!(error(vec![nowhere]).to_string().contains("base_url"));
}

#[tokio::test]
async fn the_default_model_is_one_that_the_server_offers() {
    let server = ScriptedModel::start().await;
    server.set_models(&["text-embedding-3", "qwen3:32b", "llama3.2"]);
    let mine = || config("mine", ProviderKind::OpenAiCompatible, Some(&server.base_url()));
    let providers = Providers::new(vec![mine()]).unwrap();
    assert_eq!(providers.default_model("mine").await.as_deref(), Some("qwen3:32b"));
    assert_eq!(providers.facts("mine", "qwen3:32b").origin.context_limit, Some(FactOrigin::Table));
    // The vendor's usual model, if the server has it.
    server.set_models(&["qwen3:32b", "gpt-5.1"]);
    let vendor = ProviderConfig { kind: ProviderKind::OpenAi, ..mine() };
    assert_eq!(Providers::new(vec![vendor]).unwrap().default_model("mine").await.as_deref(), Some("gpt-5.1"));
    // With configured models the server is not asked, and for a server that does not answer no model is made up.
    let named = ProviderConfig { models: vec!["own".to_owned()], ..mine() };
    assert_eq!(Providers::new(vec![named]).unwrap().default_model("mine").await.as_deref(), Some("own"));
    let away = config("away", ProviderKind::OpenAiCompatible, Some("http://127.0.0.1:1/v1"));
    assert_eq!(Providers::new(vec![away]).unwrap().default_model("away").await, None);
}

#[tokio::test]
async fn what_a_call_used_says_the_models_room_and_what_it_cost() {
    use futures_util::StreamExt;
    use testkit::scripted_model::{Answer, Tokens};
    let server = ScriptedModel::start().await;
    server.push(Answer::new().text("hi").usage(Tokens { input: 1_000, cached: 0, output: 10 }).finish());
    let price = |amount: f64| Some(protocol::Price::of(amount).unwrap());
    let own = ModelSettings {
        context_limit: Some(5_000),
        input: price(2.0),
        output: price(10.0),
        ..ModelSettings::default()
    };
    let options = ProviderOptions {
        configs: vec![config("mine", ProviderKind::OpenAiCompatible, Some(&server.base_url()))],
        models: BTreeMap::from([("own".to_owned(), own)]),
        ..ProviderOptions::default()
    };
    let request = crate::ModelRequest {
        purpose: Default::default(),
        model: "own".to_owned(),
        thinking: None,
        messages: vec![protocol::Message::new(protocol::Role::User, "hi")],
        attached: Default::default(),
        tools: Vec::new(),
        context_limit: None,
        conversation: None,
    };
    let items: Vec<_> = Providers::of(options).unwrap().get("mine").unwrap().stream(request).collect().await;
    let usage = items.iter().find_map(|item| match item {
        Ok(crate::ModelEvent::Usage(usage)) => Some(*usage),
        _ => None,
    });
    let usage = usage.unwrap();
    assert_eq!((usage.context_limit, usage.cost.unwrap().to_string().as_str()), (5_000, "0.0021"));
}
