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

#[test]
fn without_any_other_rehearsal_is_the_default() {
    let providers = Providers::new(Vec::new()).unwrap();
    assert_eq!(providers.default_name(), "rehearsal");
    assert_eq!(providers.default_model("rehearsal").as_deref(), Some("rehearsal"));
    assert!(providers.get("rehearsal").is_some());
    assert!(providers.get("openai").is_none());
    assert_eq!(providers.default_model("openai"), None);
}

#[test]
fn the_first_one_given_is_the_default() {
    let mut mine = config("mine", ProviderKind::OpenAi, Some("http://127.0.0.1:1/v1"));
    mine.models = vec!["a".to_owned(), "b".to_owned()];
    let other = config("other", ProviderKind::Anthropic, None);
    let providers = Providers::new(vec![mine, other]).unwrap();
    assert_eq!(providers.default_name(), "mine");
    assert_eq!(providers.default_model("mine").as_deref(), Some("a"));
    assert!(providers.default_model("other").unwrap().starts_with("claude-"));
}

#[tokio::test]
async fn views_say_what_is_missing_and_never_fail() {
    let mut given = config("given", ProviderKind::OpenAi, None);
    given.models = vec!["gpt-5.1".to_owned()];
    // Nobody listens on port 1.
    let away = config("away", ProviderKind::Ollama, Some("http://127.0.0.1:1"));
    let views = Providers::new(vec![given, away]).unwrap().views().await;
    let facts: Vec<_> = views.iter().map(|view| (view.name.as_str(), view.default, view.source.as_str())).collect();
    assert_eq!(
        facts,
        [("given", true, "configuration"), ("away", false, "configuration"), ("rehearsal", false, "built in")]
    );
    assert!(views[0].missing.as_deref().unwrap().contains("[providers.given]"));
    assert_eq!(views[0].models, [ModelView { name: "gpt-5.1".to_owned(), context_limit: Some(400_000) }]);
    assert_eq!((&views[1].missing, views[1].models.len()), (&None, 0));
    assert_eq!(views[2].models, [ModelView { name: "rehearsal".to_owned(), context_limit: Some(200_000) }]);
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
