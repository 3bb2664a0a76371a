use ::commands::Prompt;
use protocol::McpServerItem;

use super::*;
use crate::model::Whose;

fn items(detail: &str) -> Vec<McpServerItem> {
    serde_json::from_value(json!([
        { "name": "files", "state": "ready", "tools": ["files__read", "files__search"] },
        { "name": "tracker", "state": "away", "detail": detail },
    ]))
    .unwrap()
}

#[test]
fn the_mcp_servers_are_listed_with_their_tools_and_what_went_wrong() {
    let mut story = Story::connected();
    story.enters(":mcp");
    assert_eq!(story.effects, [Effect::LoadServers]);
    story.shows("MCP servers");
    story.shows("Looking …");
    story.happens(Message::Servers(Ok(items("it ended with exit code 1"))));
    story.shows("files");
    story.shows("files__read, files__search");
    story.shows("away       it ended with exit code 1");
    story.key(KeyCode::Esc);
    story.shows_not("files__read");
}

#[test]
fn what_a_server_says_of_itself_drives_no_terminal() {
    let mut story = Story::connected();
    story.enters(":mcp");
    story.happens(Message::Servers(Ok(items("\u{1b}[2Jgone \u{202e}around"))));
    let screen = story.screen();
    assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'), "{screen}");
}

fn prompt(name: &str, what: &str, takes_words: bool) -> Prompt {
    Prompt { name: name.into(), what: what.into(), takes_words }
}

#[test]
fn prompts_and_your_commands_are_completed_once_no_command_of_the_console_is_meant() {
    let mut story = Story::with_ada();
    let pod = address("ada");
    story.types(":f");
    assert_eq!(story.effects, [], "this may be a command of the console");
    story.types("ile");
    let asked = [Whose::Yours, Whose::Servers].map(|whose| Effect::FindPrompts { pod: pod.clone(), whose });
    assert_eq!(story.effects, asked);
    story.types("s_");
    assert_eq!(story.effects, [], "they are asked for once");
    let review = prompt("files__review", "file [tone]: Asks \u{1b}[2Jfor a review", true);
    story.happens(Message::Prompts { pod: pod.clone(), whose: Whose::Servers, done: Ok(vec![review]) });
    story.happens(Message::Prompts {
        pod: pod.clone(),
        whose: Whose::Yours,
        done: Ok(vec![prompt("files_all", "Mine", false)]),
    });
    story.shows(":files_all");
    story.shows(":files__review WORDS");
    assert!(!story.screen().contains('\u{1b}'));
    story.types("_r");
    story.key(KeyCode::Tab);
    story.types("main.rs");
    story.key(KeyCode::Enter);
    let made = Effect::MakePrompt { pod, name: "files__review".into(), words: "main.rs".into() };
    assert_eq!(story.effects, [made]);
}

#[test]
fn prompts_that_could_not_be_read_are_asked_for_again() {
    let mut story = Story::with_ada();
    story.types(":fil__");
    assert_eq!(story.effects.len(), 0);
    story.happens(Message::Prompts { pod: address("ada"), whose: Whose::Servers, done: Err(no_server()) });
    story.types("x");
    assert_eq!(story.effects.len(), 2);
}
