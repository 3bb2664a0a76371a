use super::*;
use crate::model::Place;

#[test]
fn what_is_looked_at_stays_while_more_comes_below() {
    let mut story = Story::with_ada();
    story.records((1..=30).map(said).collect());
    story.shows("line 30.");
    story.key(KeyCode::PageUp);
    let before = story.screen();
    story.shows_not("line 30.");
    story.shows("more below");
    story.records((31..=40).map(said).collect());
    let body = |screen: &str| screen.lines().take(20).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&story.screen()), body(&before));
    for _ in 0..50 {
        story.key(KeyCode::PageUp);
    }
    story.shows("line 1.");
    for _ in 0..50 {
        story.happens(Message::Wheel(1));
    }
    assert_eq!(story.model.open.as_ref().unwrap().place, Place::End);
    story.shows("line 40.");
    story.happens(Message::Wheel(-1));
    story.shows_not("line 40.");
    assert_eq!(focus(&story), Focus::Composer, "one can go on writing");
}

#[test]
fn turns_are_gone_to_from_message_to_message() {
    let mut story = Story::with_ada();
    let mut records = Vec::new();
    for turn in 1..=4 {
        records.push(user(&format!("question {turn}")));
        records.extend((turn * 100..turn * 100 + 20).map(said));
    }
    story.records(records);
    story.control('t');
    story.key(KeyCode::Char('K'));
    assert!(story.screen().lines().nth(2).unwrap().contains("❯ you"), "{}", story.screen());
    story.shows("question 4");
    story.key(KeyCode::Char('K'));
    story.shows("question 3");
    story.shows_not("question 4");
    story.key(KeyCode::Char('J'));
    story.shows("question 4");
    story.types("gg");
    story.shows("question 1");
    story.types("ge");
    assert_eq!(story.model.open.as_ref().unwrap().place, Place::End);
}

#[test]
fn older_records_are_asked_for_once_at_the_top_and_go_above() {
    let mut story = Story::with_ada();
    let record = |seq: i64, text: &str| {
        json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "event": {
            "kind": "message_finished", "block": format!("b{seq}"), "text": text, "interrupted": false } })
    };
    story.frame(
        json!({ "type": "snapshot", "id": "s2", "cursor": "c1", "summary": pod("ada", "idle"), "has_more": true,
        "records": [record(9, "newer")] }),
    );
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, [Effect::LoadOlder { pod: address("ada"), before: protocol::Seq(9) }]);
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, []);
    let page = json!({ "items": [record(8, "older")], "next": null });
    story.happens(Message::Older { pod: address("ada"), done: Ok(serde_json::from_value(page).unwrap()) });
    let screen = story.screen();
    assert!(screen.find("older").unwrap() < screen.find("newer").unwrap(), "{screen}");
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, [], "there is nothing older");
}

#[test]
fn a_page_that_does_not_come_can_be_asked_for_again() {
    let mut story = Story::with_ada();
    story.frame(
        json!({ "type": "snapshot", "id": "s2", "cursor": "c1", "summary": pod("ada", "idle"), "has_more": true,
        "records": [{ "seq": 9, "at": "2026-01-01T00:00:00Z", "event": said(9) }] }),
    );
    story.key(KeyCode::PageUp);
    story.happens(Message::Older { pod: address("ada"), done: Err(no_server()) });
    story.shows("no yoi answers");
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects.len(), 1);
}

#[test]
fn of_a_long_transcript_only_what_fits_is_drawn() {
    let mut story = Story::with_ada();
    story.records((1..=20_000).map(said).collect());
    story.screen();
    story.shows("line 20000.");
    assert!(story.model.open.as_ref().unwrap().drawn.borrow().len() <= 24);
}

#[test]
fn a_long_answer_says_that_it_is_cut_and_one_key_brings_the_rest() {
    let mut story = Story::with_ada();
    let text = |last: &str| format!("{}\n\n{last}", "word ".repeat(20));
    let record = |text: String, cut: Value| {
        json!({ "seq": 7, "at": "2026-01-01T00:00:00Z", "cut": cut, "event": {
            "kind": "message_finished", "block": "b7", "text": text, "interrupted": false } })
    };
    story.frame(json!({ "type": "snapshot", "id": "s2", "cursor": "c7", "summary": pod("ada", "idle"),
        "records": [record(text("first…"), json!({ "bytes": 2_000_114 }))], "has_more": false }));
    story.shows("first…");
    story.shows("o shows all 2.0 MB");
    story.key(KeyCode::Esc);
    story.key(KeyCode::Char('o'));
    assert_eq!(story.effects, [Effect::LoadWhole { pod: address("ada"), seqs: vec![protocol::Seq(7)] }]);
    let whole: Record = serde_json::from_value(record(text("the very end"), Value::Null)).unwrap();
    story.happens(Message::Whole { pod: address("ada"), done: Ok(vec![whole]) });
    story.shows("the very end");
    story.shows_not("shows all");
    story.key(KeyCode::Char('o'));
    assert_eq!(story.effects, []);
    story.shows("this block is not cut");
}
