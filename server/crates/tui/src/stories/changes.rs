use protocol::Changes;

use super::*;

#[test]
fn the_changes_of_a_pod_are_a_diff_that_is_scrolled() {
    let mut story = Story::with_ada();
    story.enters(":changes");
    assert_eq!(story.effects, [Effect::LoadChanges(address("ada"))]);
    story.shows("Looking at the files …");
    let lines: Vec<String> = (1..200).map(|line| format!("+line {line}")).collect();
    let changes: Changes = serde_json::from_value(json!({
        "since": "start", "added": 199, "removed": 0, "notes": ["1 more files have changed"],
        "files": [{ "path": "src/a.rs", "status": "added", "added": 199, "removed": 0, "version": "v",
                    "hunks": [{ "id": "x", "old_start": 0, "new_start": 1, "lines": lines }] }],
    }))
    .unwrap();
    story.happens(Message::Changed { pod: address("bob"), done: Ok(Changes::default()) });
    story.shows("Looking at the files …");
    story.happens(Message::Changed { pod: address("ada"), done: Ok(changes) });
    story.shows("src/a.rs  added +199 −0");
    story.shows("+line 3");
    story.key(KeyCode::PageDown);
    story.shows_not("src/a.rs  added");
    story.key(KeyCode::Esc);
    story.shows_not("+line");
}
