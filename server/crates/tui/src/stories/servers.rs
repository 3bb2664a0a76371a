use protocol::McpServerItem;

use super::*;

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
