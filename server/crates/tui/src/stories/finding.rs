use super::*;
use crate::model::{Place, Seek};

fn long() -> Story {
    let mut story = Story::with_ada_in("idle");
    story.records((1..=60).map(said).collect());
    story.key(KeyCode::Esc);
    story
}

#[test]
fn words_are_found_upwards_from_here_and_again_in_both_directions() {
    let mut story = long();
    story.enters("/LINE 2");
    story.shows("▎ line 29.");
    story.shows_not("line 60.");
    story.key(KeyCode::Char('y'));
    assert_eq!(story.effects, [Effect::Copy("line 29.".into())]);
    story.key(KeyCode::Char('n'));
    story.shows("line 28.");
    for _ in 0..9 {
        story.key(KeyCode::Char('n'));
    }
    story.shows("line 2.");
    story.key(KeyCode::Char('n'));
    story.shows("\"LINE 2\" is not above");
    story.key(KeyCode::Char('N'));
    story.shows("line 20.");
    story.enters("/nowhere");
    story.shows("\"nowhere\" is not above");
}

#[test]
fn the_block_at_hand_is_marked_and_copied() {
    let mut story = long();
    story.shows("▎ line 60.");
    story.key(KeyCode::Char('y'));
    assert_eq!(story.effects, [Effect::Copy("line 60.".into())]);
    story.shows("copied: answer, 1 line");
    story.key(KeyCode::Char('k'));
    story.key(KeyCode::Char('k'));
    story.key(KeyCode::Char('y'));
    assert_eq!(story.effects, [Effect::Copy("line 59.".into())]);
}

#[test]
fn the_end_of_a_run_is_not_what_is_copied() {
    let mut story = long();
    story.records(vec![
        json!({ "kind": "run_finished", "outcome": "completed", "usage": { "input": 1, "cached": 0, "output": 1 } }),
    ]);
    story.key(KeyCode::Char('y'));
    assert_eq!(story.effects, [Effect::Copy("line 60.".into())]);
}

#[test]
fn hits_in_all_transcripts_open_at_their_place() {
    let mut story = Story::connected();
    story.enters(":search lost cursor");
    assert_eq!(story.effects, [Effect::Search("lost cursor".into())]);
    story.shows("Looking …");
    let hit = json!({ "pod": address("bob"), "name": "bob", "seq": 7, "kind": "message_finished", "snippet": "a lost cursor is" });
    let hits: Vec<protocol::SearchHit> = vec![serde_json::from_value(hit).unwrap()];
    story.happens(Message::Found { words: "older words".into(), done: Ok(Vec::new()) });
    story.shows("Looking …");
    story.happens(Message::Found { words: "lost cursor".into(), done: Ok(hits) });
    insta::assert_snapshot!("search", story.screen());
    story.key(KeyCode::Enter);
    let open = story.model.open.as_ref().unwrap();
    assert_eq!((open.pod.clone(), open.seek.as_ref().map(|seek| seek.seq)), (address("bob"), Some(protocol::Seq(7))));
    story.happens(Message::Subscribed { pod: address("bob"), id: "s5".into() });
    let record = |seq: i64| json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "event": said(seq) });
    story
        .frame(json!({ "type": "snapshot", "id": "s5", "cursor": "c", "summary": pod("bob", "idle"), "has_more": true,
        "records": (40..60).map(record).collect::<Vec<_>>() }));
    let older = |story: &Story| story.effects.iter().any(|effect| matches!(effect, Effect::LoadOlder { .. }));
    assert!(older(&story), "{:?}", story.effects);
    let page = json!({ "items": (1..40).map(record).collect::<Vec<_>>(), "next": null });
    story.happens(Message::Older { pod: address("bob"), done: Ok(serde_json::from_value(page).unwrap()) });
    story.shows("line 7.");
    story.shows_not("line 59.");
    assert_eq!(focus(&story), Focus::Transcript);
}

#[test]
fn a_hit_that_is_too_far_up_is_given_up_and_told() {
    let mut story = long();
    let open = story.model.open.as_mut().unwrap();
    open.seek = Some(Seek { seq: protocol::Seq(0), pages_left: 0 });
    open.older = crate::model::Older::OnTheServer;
    let page = json!({ "items": [], "next": "x" });
    story.happens(Message::Older { pod: address("ada"), done: Ok(serde_json::from_value(page).unwrap()) });
    story.shows("too far up");
    assert_eq!(story.model.open.as_ref().unwrap().place, Place::End);
}
