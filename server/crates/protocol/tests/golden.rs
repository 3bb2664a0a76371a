//! The JSON of every variant, as clients outside this repository read it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use protocol::{ClientFrame, ControlEvent, Event, Record, ServerFrame, TurnEvent};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

fn each_line_survives<T: DeserializeOwned + Serialize>(golden: &str) -> Vec<T> {
    golden
        .lines()
        .map(|line| {
            let read: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(serde_json::to_string(&read).unwrap(), line);
            read
        })
        .collect()
}

#[test]
fn every_kind_of_event_has_its_json() {
    let events: Vec<Event> = each_line_survives(include_str!("golden/events.jsonl"));
    assert!(events.iter().all(|event| !matches!(event, Event::Unknown(_))));
    let seen: BTreeSet<&str> = events.iter().map(Event::kind).collect();
    let all: BTreeSet<&str> = TurnEvent::KINDS.iter().chain(ControlEvent::KINDS).copied().collect();
    assert_eq!(seen, all);
}

#[test]
fn every_frame_has_its_json() {
    each_line_survives::<ServerFrame>(include_str!("golden/server_frames.jsonl"));
    each_line_survives::<ClientFrame>(include_str!("golden/client_frames.jsonl"));
}

#[test]
fn an_unknown_kind_survives_with_its_fields() {
    let line = r#"{"seq":9,"at":"2026-01-02T03:04:05Z","event":{"kind":"hologram","depth":3,"of":{"a":[1,null]}}}"#;
    let record: Record = serde_json::from_str(line).unwrap();
    assert_eq!(record.event.kind(), "hologram");
    assert_eq!(serde_json::to_string(&record).unwrap(), line);
}

#[test]
fn a_known_kind_with_a_value_from_the_future_is_kept_as_unknown() {
    let line = r#"{"kind":"run_finished","outcome":"teleported","usage":{}}"#;
    let event: Event = serde_json::from_str(line).unwrap();
    assert!(matches!(event, Event::Unknown(_)));
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
}

#[test]
fn a_known_kind_without_a_field_that_it_needs_is_kept_as_unknown_and_others_may_be_missing() {
    let read = |event: Value| serde_json::from_value::<Event>(event).unwrap();
    assert!(matches!(
        read(json!({"kind":"tool_called","call_id":"1","block":"b","name":"n","by":"model"})),
        Event::Unknown(_)
    ));
    assert!(matches!(read(json!({"kind":"usage","input":"many"})), Event::Unknown(_)));
    let asked = json!({"kind":"approval_asked","id":"1","tool":"bash","arguments":null});
    assert!(matches!(read(asked), Event::Control(ControlEvent::ApprovalAsked { .. })));
    let started = read(json!({"kind":"run_started","trigger":"input","command_id":null}));
    assert_eq!(started, read(json!({"kind":"run_started","trigger":"input"})));
    assert_eq!(serde_json::from_value::<TurnEvent>(json!({"kind":"run_started","trigger":"input"})).ok(), None);
}

#[test]
fn a_field_from_the_future_is_no_problem() {
    let event: Event = serde_json::from_value(json!({"kind":"text_chunk","block":"b1","text":"x","new":1})).unwrap();
    assert_eq!(event.kind(), "text_chunk");
}

#[test]
fn a_client_frame_is_read_strictly() {
    for bad in [
        json!({"type":"subscribe"}),
        json!({"type":"subscribe","id":"a","pods":true,"extra":1}),
        json!({"type":"subscribe","id":7}),
        json!({"type":"ping","x":1}),
        json!({"type":"dance"}),
        json!({"id":"a"}),
        json!([]),
    ] {
        assert!(serde_json::from_value::<ClientFrame>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn commands_refuse_fields_they_do_not_know() {
    let refuses = |value: Value| {
        assert!(serde_json::from_value::<protocol::CreatePod>(value.clone()).is_err(), "{value}");
    };
    refuses(json!({"name":"ada","colour":"red"}));
    refuses(json!({"name":"a b"}));
    refuses(json!({"name":"ada","reasoning":"loud"}));
    refuses(json!({"name":"ada","scope":[{"path":"/","access":"eat"}]}));
    refuses(json!({}));
    assert!(serde_json::from_value::<protocol::InputCommand>(json!({"segments":[],"que":true})).is_err());
    assert!(serde_json::from_value::<protocol::InputCommand>(json!({"segments":[{"type":"text"}]})).is_err());
}
