use protocol::{Access, CreatePod, FolderList};

use super::*;
use crate::model::{Choices, FolderWord};

/// Two providers, a profile, and the folder that the console was started in.
pub(super) fn choices() -> Box<Choices> {
    let model = |name: &str| {
        json!({ "name": name, "context_limit": 32_000, "images": false,
        "thinking": ["off", "high"], "origin": { "context_limit": "server", "images": "table" } })
    };
    let provider = |name: &str, default: bool, source: &str, has_key: bool, models: Vec<Value>| {
        json!({ "name": name, "kind": "openai-compatible", "default": default, "source": source, "has_key": has_key,
            "models": models })
    };
    Box::new(Choices {
        providers: serde_json::from_value(json!([
            provider("local-llm", true, "found", false, vec![model("qwen3:32b"), model("gemma3")]),
            provider("lab", false, "data folder", true, vec![model("gpt-9")]),
        ]))
        .unwrap(),
        unconfigured: serde_json::from_value(json!([
            { "kind": "anthropic", "missing": "add a key, or set ANTHROPIC_API_KEY" }
        ]))
        .unwrap(),
        profiles: serde_json::from_value(json!([{ "name": "reviewer", "model": "gemma3", "permissions": [],
            "scope": [{ "path": "src", "access": "read", "recursive": true }] }]))
        .unwrap(),
        runtimes: Vec::new(),
        agents: serde_json::from_value(json!([
            { "name": "codex", "state": "ready", "detail": "codex 1.2" },
            { "name": "gemini", "state": "missing", "detail": "gemini is not on the PATH" }
        ]))
        .unwrap(),
        folder: Some("/srv/app".to_owned()),
    })
}

fn made(story: &Story) -> CreatePod {
    match &story.effects[..] {
        [Effect::Create { create, .. }] => (**create).clone(),
        effects => panic!("no Pod is made: {effects:?}"),
    }
}

#[test]
fn a_name_and_enter_make_a_pod_and_after_a_space_each_setting_says_what_counts_without_it() {
    let mut story = Story::connected();
    story.key(KeyCode::Char('n'));
    assert_eq!(story.effects, [Effect::LoadChoices]);
    story.happens(Message::Choices(Ok(choices())));
    story.types("eve");
    story.shows_not("folder=");
    story.types(" ");
    assert_eq!(story.effects, [], "what is known is not asked for again");
    story.shows("profile= a template; default: none");
    story.shows("folder= default: /srv/app");
    story.shows("model= default: qwen3:32b of local-llm");
    story.shows("thinking= default: the model's own default");
    story.shows("write= a folder it writes; default: its own, when none is named");
    story.shows_not("runtime=");
    story.key(KeyCode::Enter);
    assert_eq!(made(&story), CreatePod::named("eve".parse().unwrap()), "a space alone says nothing");
}

#[test]
fn settings_are_completed_and_a_profile_changes_what_counts() {
    let mut story = Story::connected();
    story.types(":new eve ");
    story.happens(Message::Choices(Ok(choices())));
    story.types("pro");
    story.key(KeyCode::Tab);
    story.shows("profile=reviewer gemma3 of local-llm");
    story.key(KeyCode::Tab);
    story.types(" ");
    story.shows("model= default: gemma3 of local-llm");
    story.shows("write= a folder it writes; default: read src");
    story.types("model=");
    story.shows("model=gemma3 of local-llm · 32k context (server) · no price set · no");
    // An arrow key and Enter take the completion; the next Enter makes the Pod.
    story.key(KeyCode::Up);
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, []);
    story.types(" thinking=hi");
    story.key(KeyCode::Tab);
    story.key(KeyCode::Enter);
    let create = made(&story);
    assert_eq!((create.profile.as_deref(), create.provider.as_deref()), (Some("reviewer"), Some("lab")));
    assert_eq!((create.model.as_deref(), create.thinking.map(|level| level.as_str())), (Some("gpt-9"), Some("high")));
}

#[test]
fn folders_are_completed_by_the_server_one_question_at_a_time() {
    let mut story = Story::connected();
    story.types(":new eve ");
    story.happens(Message::Choices(Ok(choices())));
    story.types("folder=");
    story.shows("folder=/srv/app the default");
    story.shows("folder=/work a Pod works there");
    story.types("/s");
    let word = |begun: &str| FolderWord { runtime: None, begun: begun.to_owned() };
    // "/" was requested first; what was typed meanwhile is requested when its answer arrives.
    let list = |items: &[&str]| FolderList {
        items: items.iter().map(|item| (*item).to_owned()).collect(),
        is_cut: false,
        default: "/srv".to_owned(),
    };
    story.happens(Message::Folders { word: word("/"), done: Ok(list(&["/home", "/srv"])) });
    assert_eq!(story.effects, [Effect::FindFolders(word("/s"))]);
    story.shows("folder=/srv/");
    story.shows_not("folder=/home/");
    story.happens(Message::Folders { word: word("/s"), done: Ok(list(&["/sbin", "/srv"])) });
    story.key(KeyCode::Down);
    story.key(KeyCode::Down);
    story.key(KeyCode::Tab);
    assert_eq!(story.effects, [Effect::FindFolders(word("/srv/"))]);
    story.happens(Message::Folders { word: word("/srv/"), done: Ok(list(&["/srv/my app"])) });
    story.key(KeyCode::Tab);
    story.types(" deny=.env");
    story.key(KeyCode::Enter);
    let create = made(&story);
    assert_eq!(create.cwd.as_deref(), Some("/srv/my app"));
    let scope = create.scope.unwrap();
    assert_eq!((scope[0].access, scope[0].path.as_str()), (Access::Deny, "/srv/my app/.env"));
}

#[test]
fn what_cannot_be_read_is_said_and_makes_nothing() {
    let mut story = Story::connected();
    story.enters(":new eve size=3");
    assert_eq!(story.effects, []);
    story.shows("a new Pod has no \"size\"; it has profile, folder");
    story.types(":new eve folder=/x");
    story.happens(Message::Folders {
        word: FolderWord { runtime: None, begun: "/".to_owned() },
        done: Err(refused(ErrorCode::NotFound, "no such address")),
    });
    story.key(KeyCode::Enter);
    assert_eq!(made(&story).cwd.as_deref(), Some("/x"), "a server without the list takes a path as it is typed");
}

#[test]
fn a_model_and_a_level_are_offered_for_the_open_pod() {
    let mut story = Story::with_ada();
    story.types(":model ");
    story.happens(Message::Choices(Ok(choices())));
    story.types("g");
    story.shows(":model gemma3 local");
    story.shows(":model gpt-9 lab");
    story.key(KeyCode::Esc);
    story.types(":think h");
    story.shows(":think high");
}

#[test]
fn a_history_is_imported_from_a_file_of_this_machine() {
    let mut story = Story::connected();
    story.enters(":import old session.jsonl folder=/srv/app");
    story.shows("importing session.jsonl");
    match &story.effects[..] {
        [Effect::Import { importing, .. }] => {
            assert_eq!((importing.name.as_str(), importing.path.as_str()), ("old", "session.jsonl"));
            assert_eq!(importing.cwd.as_deref(), Some("/srv/app"));
        }
        effects => panic!("nothing is imported: {effects:?}"),
    }
    story.happens(Message::Created(Err(ClientError::Invalid("session.jsonl cannot be read: it is gone".to_owned()))));
    story.shows("session.jsonl cannot be read: it is gone");
    story.enters(":import old");
    story.shows("write :import NAME FILE");
}
