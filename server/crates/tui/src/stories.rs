//! Stories: a model, the messages that it receives, the effects that it returns, and what is on the screen.

mod agents;
mod approvals;
mod changes;
mod commands;
mod composing;
mod dashboard;
mod files;
mod finding;
mod golden;
mod hostile;
mod jobs;
mod making;
mod modes;
mod peers;
mod pod;
mod providers;
mod queue;
mod scrolling;
mod server;
mod servers;
mod walls;

use client::{ClientError, Connection, StreamItem};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use protocol::{ApiError, ErrorCode, PodRef, PodSummary, Receipt, Record, ServerFrame};
use ratatui::{Terminal, backend::TestBackend};
use serde_json::{Value, json};

use crate::{
    model::{Act, Answer, Effect, Focus, Looked, Message, Model},
    update::update,
    view::{self, Colours},
};

struct Story {
    model: Model,
    effects: Vec<Effect>,
}

impl Story {
    /// A console that has just been started.
    fn fresh(wanted: Option<&str>) -> Self {
        let model = Model::new("http://127.0.0.1:7474", wanted.map(str::to_owned), (80, 24));
        Self { model, effects: Vec::new() }
    }

    /// Connected, showing two Pods.
    fn connected() -> Self {
        let mut story = Self::fresh(None);
        story.connection(Connection::Connected);
        story.pods(&[pod("bob", "idle"), pod("ada", "running")]);
        story
    }

    /// The same, with ada open.
    fn with_ada() -> Self {
        Self::with_ada_in("running")
    }

    fn with_ada_in(state: &str) -> Self {
        let mut story = Self::connected();
        story.pods(&[pod("bob", "idle"), pod("ada", state)]);
        story.model.selected = Some(address("ada"));
        story.key(KeyCode::Enter);
        assert_eq!(story.effects, [Effect::Subscribe(address("ada")), Effect::Look(address("ada"))]);
        story.happens(Message::Subscribed { pod: address("ada"), id: "s2".into() });
        story.frame(json!({ "type": "snapshot", "id": "s2", "cursor": "c1", "summary": pod("ada", state),
            "records": [], "has_more": false }));
        story.looked(json!({}));
        story
    }

    fn happens(&mut self, message: Message) {
        self.effects = update(&mut self.model, message);
    }

    fn key(&mut self, code: KeyCode) {
        self.happens(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn alt(&mut self, code: KeyCode) {
        self.happens(Message::Key(KeyEvent::new(code, KeyModifiers::ALT)));
    }

    fn control(&mut self, char: char) {
        self.happens(Message::Key(KeyEvent::new(KeyCode::Char(char), KeyModifiers::CONTROL)));
    }

    fn types(&mut self, text: &str) {
        text.chars().for_each(|char| self.key(KeyCode::Char(char)));
    }

    /// Types a line and presses Enter.
    fn enters(&mut self, text: &str) {
        self.types(text);
        self.key(KeyCode::Enter);
    }

    fn frame(&mut self, frame: Value) {
        let frame: ServerFrame = serde_json::from_value(frame).unwrap();
        self.happens(Message::Stream(StreamItem::Frame(frame)));
    }

    fn pods(&mut self, pods: &[PodSummary]) {
        self.frame(
            json!({ "type": "pods", "id": "s1", "revision": 1, "snapshot": true, "removed": [], "upserts": pods }),
        );
    }

    fn connection(&mut self, connection: Connection) {
        self.happens(Message::Stream(StreamItem::Connection(connection)));
    }

    /// Delivers ada's detail with these fields changed.
    fn looked(&mut self, fields: Value) {
        let mut detail = serde_json::to_value(pod("ada", "running")).unwrap();
        let plain = json!({ "scope": [], "peer_policy": "open", "wake_on_peer": true, "permissions": [],
            "reasoning": "full", "queued": [] });
        for more in [plain, fields.clone()] {
            detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        let asked = fields.get("asked").cloned().unwrap_or_else(|| json!([]));
        let asked = serde_json::from_value(asked).unwrap();
        let detail = serde_json::from_value(detail).unwrap();
        self.happens(Message::Looked { pod: address("ada"), done: Ok(Looked { detail, peers: Vec::new(), asked }) });
        // A second request may be pending; drop it.
        self.model.open.as_mut().unwrap().asking = crate::model::Asking::Nothing;
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

    /// Completes the last command with this result.
    fn done(&mut self, done: Result<Answer, ClientError>) {
        let (pod, act) = self.act();
        self.happens(Message::Done { pod, act, done });
    }

    /// The single command that was requested.
    #[track_caller]
    fn act(&self) -> (PodRef, Act) {
        match &self.effects[..] {
            [Effect::Do { pod, act, .. }] => (pod.clone(), act.clone()),
            effects => panic!("not one command: {effects:?}"),
        }
    }

    fn screen(&self) -> String {
        let (columns, rows) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| view::draw(&self.model, Colours::Sixteen, frame)).unwrap();
        let text = terminal.backend().to_string();
        let lines = text
            .lines()
            .map(|line| line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line).trim_end());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Asserts that the words are on the screen, even if wrapped; prints the screen otherwise.
    #[track_caller]
    fn shows(&self, words: &str) {
        let screen = self.screen();
        assert!(flat(&screen).contains(&flat(words)), "no {words:?} on\n{screen}");
    }

    #[track_caller]
    fn shows_not(&self, words: &str) {
        let screen = self.screen();
        assert!(!flat(&screen).contains(&flat(words)), "{words:?} on\n{screen}");
    }

    fn composer(&self) -> String {
        self.model.open.as_ref().unwrap().composer.shown()
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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

fn receipt() -> Receipt {
    serde_json::from_value(json!({ "command_id": "c", "accepted_at": "2026-01-01T00:00:00Z", "seq": 1 })).unwrap()
}

fn no_server() -> ClientError {
    ClientError::NoServer { address: "http://x".into(), cause: "connection refused".into() }
}

fn refused(code: ErrorCode, detail: &str) -> ClientError {
    ClientError::Api(ApiError::new(code, detail))
}

/// The record of an open approval.
fn asks(id: &str, command: &str) -> Value {
    json!({ "kind": "approval_asked", "id": id, "tool": "Bash", "arguments": { "command": command } })
}

fn said(n: i64) -> Value {
    json!({ "kind": "message_finished", "block": format!("b{n}"), "text": format!("line {n}."), "interrupted": false })
}

fn user(text: &str) -> Value {
    let command_id = text.replace([' ', '\n'], "-");
    json!({ "kind": "user_message", "segments": [{ "type": "text", "text": text }], "command_id": command_id, "by": "operator" })
}

fn focus(story: &Story) -> Focus {
    story.model.open.as_ref().unwrap().focus
}
