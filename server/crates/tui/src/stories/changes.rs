use protocol::{Changes, ControlVerb, Since};

use super::*;

#[test]
fn the_changes_of_a_pod_are_a_diff_that_is_scrolled() {
    let mut story = Story::with_ada();
    story.enters(":changes");
    assert_eq!(story.effects, [Effect::LoadChanges(address("ada"), Since::Start)]);
    story.shows("Reading the files …");
    let lines: Vec<String> = (1..200).map(|line| format!("+line {line}")).collect();
    let changes: Changes = serde_json::from_value(json!({
        "since": "start", "added": 199, "removed": 0, "notes": ["1 more files have changed"],
        "files": [{ "path": "src/a.rs", "status": "added", "added": 199, "removed": 0, "version": "v",
                    "hunks": [{ "id": "x", "old_start": 0, "new_start": 1, "lines": lines }] }],
    }))
    .unwrap();
    story.happens(Message::Changed { pod: address("bob"), done: Ok(Changes::default()) });
    story.shows("Reading the files …");
    story.shows("Changes of ada since its start");
    story.happens(Message::Changed { pod: address("ada"), done: Ok(changes) });
    story.shows("src/a.rs  added +199 −0");
    story.shows("+line 3");
    story.key(KeyCode::PageDown);
    story.shows_not("src/a.rs  added");
    story.key(KeyCode::Esc);
    story.shows_not("+line");
}

#[test]
fn the_changes_are_those_since_the_start_the_last_turn_or_the_branch() {
    let mut story = Story::with_ada();
    story.enters(":changes turn");
    assert_eq!(story.effects, [Effect::LoadChanges(address("ada"), Since::Turn)]);
    story.shows("Changes of ada since its last turn began");
    story.shows("s another start");
    story.key(KeyCode::Char('s'));
    assert_eq!(story.effects, [Effect::LoadChanges(address("ada"), Since::Branch)]);
    story.shows("since its branch began");
    // An answer to the question before.
    let of = |since: Since| Changes { since, ..Changes::default() };
    story.happens(Message::Changed { pod: address("ada"), done: Ok(of(Since::Turn)) });
    story.shows("Reading the files …");
    story.happens(Message::Changed { pod: address("ada"), done: Ok(of(Since::Branch)) });
    story.shows("Nothing has changed.");
    story.key(KeyCode::Char('s'));
    assert_eq!(story.effects, [Effect::LoadChanges(address("ada"), Since::Start)]);
    story.key(KeyCode::Esc);
    story.enters(":changes today");
    story.shows(":changes takes start, turn or branch after it");
}

#[test]
fn r_asks_the_model_again_in_the_transcript_and_is_a_letter_in_the_message() {
    let mut story = Story::with_ada_in("idle");
    story.types("r");
    story.shows("r");
    assert_eq!(story.effects, []);
    story.key(KeyCode::Backspace);
    story.key(KeyCode::Esc);
    story.key(KeyCode::Char('r'));
    assert!(
        matches!(&story.effects[..], [Effect::Do { act: Act::Control(ControlVerb::Retry), .. }]),
        "{:?}",
        story.effects
    );
}
