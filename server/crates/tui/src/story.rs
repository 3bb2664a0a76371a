//! Stories: a model, what happens to it, what is to be done, and what is on the screen.

use client::{ClientError, Connection, StreamItem};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use protocol::{ControlVerb, PodRef, PodSummary, Receipt, Record, ServerFrame};
use ratatui::{Terminal, backend::TestBackend};
use serde_json::{Value, json};

use crate::{
    model::{Effect, Focus, Message, Model, Place},
    update::update,
    view,
};

struct Story {
    model: Model,
    effects: Vec<Effect>,
}

impl Story {
    /// A console of 60 by 16 that is connected and shows two Pods.
    fn connected() -> Self {
        let mut story = Self { model: Model::new(None, (60, 16)), effects: Vec::new() };
        story.happens(Message::Stream(StreamItem::Connection(Connection::Connected)));
        story.frame(json!({ "type": "pods", "id": "s1", "revision": 1, "snapshot": true, "removed": [],
            "upserts": [pod("bob", "idle"), pod("ada", "running")] }));
        story
    }

    /// … and ada is open.
    fn with_ada() -> Self {
        let mut story = Self::connected();
        story.key(KeyCode::Enter);
        assert_eq!(story.effects, [Effect::Subscribe(address("ada"))]);
        story.happens(Message::Subscribed { pod: address("ada"), id: "s2".into() });
        story.frame(json!({ "type": "snapshot", "id": "s2", "cursor": "c1", "summary": pod("ada", "running"),
            "records": [], "has_more": false }));
        story
    }

    fn happens(&mut self, message: Message) {
        self.effects = update(&mut self.model, message);
    }

    fn key(&mut self, code: KeyCode) {
        self.happens(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn types(&mut self, text: &str) {
        text.chars().for_each(|char| self.key(KeyCode::Char(char)));
    }

    fn frame(&mut self, frame: Value) {
        let frame: ServerFrame = serde_json::from_value(frame).unwrap();
        self.happens(Message::Stream(StreamItem::Frame(frame)));
    }

    fn connection(&mut self, connection: Connection) {
        self.happens(Message::Stream(StreamItem::Connection(connection)));
    }

    fn records(&mut self, events: Vec<Value>) {
        let head = self.model.open.as_ref().unwrap().transcript.head().0;
        let records: Vec<Record> = events
            .into_iter()
            .zip(head + 1..)
            .map(|(event, seq)| {
                let record = json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "run_id": "r1", "event": event });
                serde_json::from_value(record).unwrap()
            })
            .collect();
        self.frame(json!({ "type": "records", "id": "s2", "after": "c", "cursor": "c", "records": records }));
    }

    fn screen(&self) -> String {
        let (columns, rows) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| view::draw(&self.model, frame)).unwrap();
        terminal.backend().to_string()
    }

    fn composer(&self) -> &str {
        self.model.open.as_ref().unwrap().composer.text()
    }
}

fn address(name: &str) -> PodRef {
    format!("local/{name}-1").parse().unwrap()
}

fn pod(name: &str, state: &str) -> PodSummary {
    serde_json::from_value(json!({
        "pod": address(name), "name": name, "state": state, "provider": "rehearsal", "model": "rehearsal",
        "cwd": "/work", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "head_seq": 0,
        "needs_you": false, "unread": 0, "relations": { "children": 0, "peers": 0 },
        "usage": { "input": 0, "cached": 0, "output": 0 }
    }))
    .unwrap()
}

fn no_server() -> ClientError {
    ClientError::NoServer { address: "http://x".into(), cause: "connection refused".into() }
}

#[test]
fn the_dashboard_groups_pods_and_q_quits() {
    let mut story = Story::connected();
    insta::assert_snapshot!(story.screen());
    story.key(KeyCode::Char('q'));
    assert!(story.model.has_quit);
}

#[test]
fn without_a_server_it_says_reconnecting_and_opens_the_wanted_pod_when_there_is_one() {
    let mut story = Story { model: Model::new(Some("ada".into()), (60, 6)), effects: Vec::new() };
    story.connection(Connection::Reconnecting { attempt: 3, cause: "connection refused".into() });
    insta::assert_snapshot!(story.screen());
    assert_eq!(story.effects, []);
    story.connection(Connection::Connected);
    assert_eq!(story.effects, [Effect::Resolve("ada".into())]);
    story.happens(Message::Resolved { target: "ada".into(), done: Ok(address("ada")) });
    assert_eq!(story.effects, [Effect::Subscribe(address("ada"))]);
}

#[test]
fn a_pod_is_shown_as_it_talks() {
    let mut story = Story::with_ada();
    story.records(vec![
        json!({ "kind": "user_message", "segments": [{ "type": "text", "text": "list the files" }],
            "command_id": "c", "by": "operator" }),
        json!({ "kind": "run_started", "trigger": "input", "command_id": "c" }),
        json!({ "kind": "tool_called", "call_id": "1", "block": "b1", "name": "Bash",
            "arguments": { "command": "ls" }, "by": "model" }),
        json!({ "kind": "tool_finished", "call_id": "1", "block": "b1", "summary": "3 lines", "is_error": false,
            "duration_ms": 40, "by": "model" }),
        json!({ "kind": "text_chunk", "block": "b2", "text": "There are " }),
        json!({ "kind": "text_chunk", "block": "b2", "text": "three\u{1b}[31m files." }),
    ]);
    insta::assert_snapshot!(story.screen());
}

#[test]
fn the_composer_has_the_focus_and_clears_only_when_the_message_is_stored() {
    let mut story = Story::with_ada();
    story.types("hello");
    story.key(KeyCode::Enter);
    let [Effect::Send { pod, message }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!((pod, message.text.as_str()), (&address("ada"), "hello"));
    let command_id = message.command_id.clone();
    assert_eq!(story.composer(), "hello");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [], "Enter again sends nothing while the message is on its way");

    story.happens(Message::Sent { command_id: command_id.clone(), done: Err(no_server()) });
    assert_eq!(story.composer(), "hello");
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!(message.command_id, command_id, "the same message again is the same command");

    let receipt: Receipt =
        serde_json::from_value(json!({ "command_id": command_id, "accepted_at": "2026-01-01T00:00:00Z", "seq": 1 }))
            .unwrap();
    story.happens(Message::Sent { command_id, done: Ok(receipt) });
    assert_eq!(story.composer(), "");
}

#[test]
fn escape_leaves_the_composer_then_the_pod_and_unsent_text_is_kept() {
    let mut story = Story::with_ada();
    story.types("not yet");
    story.key(KeyCode::Esc);
    assert_eq!(story.model.open.as_ref().unwrap().focus, Focus::Transcript);
    story.key(KeyCode::Esc);
    assert!(story.model.open.is_none());
    assert_eq!(story.effects, [Effect::Unsubscribe("s2".into())]);
    story.key(KeyCode::Enter);
    assert_eq!(story.composer(), "not yet");
}

#[test]
fn a_late_frame_of_another_pod_changes_nothing() {
    let mut story = Story::with_ada();
    story.frame(json!({ "type": "records", "id": "s9", "after": "c", "cursor": "c", "records": [
        { "seq": 1, "at": "2026-01-01T00:00:00Z", "event": { "kind": "text_chunk", "block": "b", "text": "late" } }] }));
    assert!(story.model.open.as_ref().unwrap().transcript.blocks().is_empty());
}

#[test]
fn commands_act_on_the_open_pod_and_say_not_attached_without_one() {
    let mut story = Story::connected();
    story.types(":pause");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, []);
    assert!(story.screen().contains("not attached"), "{}", story.screen());

    let mut story = Story::with_ada();
    story.types(":pau");
    story.key(KeyCode::Tab);
    story.key(KeyCode::Enter);
    let [Effect::Control { pod, verb, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!((pod, *verb), (&address("ada"), ControlVerb::Pause));
    story.types(":nonsense");
    story.key(KeyCode::Enter);
    assert!(story.screen().contains("is no command"), "{}", story.screen());
    story.types(":quit");
    story.key(KeyCode::Enter);
    assert!(story.model.has_quit);
}

#[test]
fn a_colon_inside_a_message_is_text() {
    let mut story = Story::with_ada();
    story.types("a:b");
    assert_eq!(story.composer(), "a:b");
}

#[test]
fn what_is_looked_at_stays_while_more_comes_below() {
    let mut story = Story::with_ada();
    let said = |n: i64| json!({ "kind": "message_finished", "block": format!("b{n}"), "text": format!("line {n}"), "interrupted": false });
    story.records((1..=30).map(said).collect());
    assert!(story.screen().contains("line 30"));
    story.key(KeyCode::PageUp);
    let before = story.screen();
    assert!(!before.contains("line 30") && before.contains("more below"), "{before}");
    story.records((31..=40).map(said).collect());
    assert_eq!(story.screen(), before);
    for _ in 0..50 {
        story.key(KeyCode::PageUp);
    }
    assert!(story.screen().contains("line 1 ") && story.screen().contains("line 5 "), "{}", story.screen());
    for _ in 0..50 {
        story.key(KeyCode::PageDown);
    }
    assert_eq!(story.model.open.as_ref().unwrap().place, Place::End);
    assert!(story.screen().contains("line 40"));
}

#[test]
fn older_records_are_asked_for_once_at_the_top_and_go_above() {
    let mut story = Story::with_ada();
    story.frame(
        json!({ "type": "snapshot", "id": "s2", "cursor": "c1", "summary": pod("ada", "idle"), "has_more": true,
        "records": [{ "seq": 9, "at": "2026-01-01T00:00:00Z", "event": {
            "kind": "message_finished", "block": "b9", "text": "newer", "interrupted": false } }] }),
    );
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, [Effect::LoadOlder { pod: address("ada"), before: protocol::Seq(9) }]);
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, []);
    let page = json!({ "items": [{ "seq": 8, "at": "2026-01-01T00:00:00Z", "event": {
        "kind": "message_finished", "block": "b8", "text": "older", "interrupted": false } }], "next": null });
    story.happens(Message::Older { pod: address("ada"), done: Ok(serde_json::from_value(page).unwrap()) });
    let screen = story.screen();
    assert!(screen.find("older").unwrap() < screen.find("newer").unwrap(), "{screen}");
    story.key(KeyCode::PageUp);
    assert_eq!(story.effects, [], "there is nothing older");
}

#[test]
fn a_gap_is_told_when_it_is_over() {
    let mut story = Story::with_ada();
    story.connection(Connection::Reconnecting { attempt: 1, cause: "gone".into() });
    assert!(story.screen().contains("reconnecting"));
    story.connection(Connection::Connected);
    story.connection(Connection::CaughtUp { records: 34 });
    assert!(story.screen().contains("caught up: 34 records"));
}

#[test]
fn a_screen_that_is_too_small_is_drawn_all_the_same() {
    let mut story = Story::with_ada();
    story.types("some words that do not fit");
    for size in [(1, 1), (2, 2), (3, 5), (10, 3)] {
        story.happens(Message::Resize(size.0, size.1));
        story.key(KeyCode::PageUp);
        story.screen();
    }
}
