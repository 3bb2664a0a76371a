use protocol::GiveKey;

use super::{making::choices, *};

const KEY: &str = "sk-secret-4f9aQ7xT1mZ8";

#[test]
fn the_providers_are_listed_with_where_their_keys_are_from_and_each_can_be_tried() {
    let mut story = Story::connected();
    story.enters(":providers");
    assert_eq!(story.effects, [Effect::LoadChoices]);
    story.shows("Looking …");
    story.happens(Message::Choices(Ok(choices())));
    story.shows("✓ local-llm default · found on this machine, no key · qwen3:32b and 1 more");
    story.shows("✓ lab key given here · gpt-9");
    story.shows("– anthropic not configured: add a key, or set ANTHROPIC_API_KEY");
    story.shows("qwen3:32b · 32k context (server)");
    story.types("t");
    assert_eq!(story.effects, [Effect::TestProvider("local-llm".into())]);
    story.shows("testing, up to 10 s …");
    let test = json!({ "provider": "local-llm", "is_ok": false, "took_ms": 3, "models": 0, "code": "unreachable",
        "detail": "it cannot be reached" });
    story.happens(Message::Tested { provider: "local-llm".into(), done: Ok(serde_json::from_value(test).unwrap()) });
    story.shows("✕ unreachable: it cannot be reached");
    story.types("jjt");
    assert_eq!(story.effects, []);
    story.shows("anthropic is not configured; Enter takes its key");
    story.key(KeyCode::Enter);
    story.shows("key of anthropic (not shown):");
}

#[test]
fn a_key_is_typed_without_being_shown_and_tried_and_refused_in_the_servers_words() {
    let mut story = Story::connected();
    story.enters(":key lab http://lab:8080/v1");
    story.types(KEY);
    story.shows("key of lab (not shown): ••••");
    story.shows_not("sk-");
    story.key(KeyCode::Enter);
    let given = GiveKey {
        kind: Some("openai-compatible".into()),
        base_url: Some("http://lab:8080/v1".into()),
        key: KEY.into(),
    };
    assert_eq!(story.effects, [Effect::GiveKey { provider: "lab".into(), given }]);
    assert!(!format!("{:?}", story.effects).contains("sk-secret"));
    story.shows("testing the key of lab");
    let done = Err(refused(ErrorCode::ProviderError, "lab does not take this key; nothing was kept"));
    story.happens(Message::KeyGiven { provider: "lab".into(), done });
    story.shows("nothing was kept");
    story.shows_not("sk-");
    story.types(":key openai");
    story.key(KeyCode::Enter);
    story.key(KeyCode::Esc);
    story.enters("n");
    assert!(story.model.key_of.is_none(), "a key that is not given is asked for no more");
}

#[test]
fn a_model_that_was_found_is_chosen_with_one_press() {
    let mut story = Story::fresh(None);
    story.connection(Connection::Connected);
    story.pods(&[]);
    story.happens(Message::Choices(Ok(choices())));
    story.shows("Enter creates ada, which uses qwen3:32b of local-llm (found on this machine, no key)");
    story.key(KeyCode::Enter);
    assert!(matches!(&story.effects[..], [Effect::Create { create, .. }] if create.name.as_str() == "ada"));
}
