//! The order of lines in each story was observed with real older Pods; the words are ours.

use protocol::{Event, Outcome, Record, Seq, ToolBy, TurnEvent};
use serde_json::json;

use super::*;

fn translator() -> Translator {
    let ada = PodName::parse("ada").unwrap();
    let mut translator = Translator::new(Arc::default(), ada, "t".to_owned());
    let empty = json!({ "entries": [], "status": "idle", "greeting": { "context_window": 1000 } });
    translator.event("snapshot", &empty, Timestamp::UNIX_EPOCH);
    translator
}

/// Records in short form: the kind, and what matters in it.
fn short(drafts: &[Draft]) -> Vec<String> {
    drafts.iter().map(|draft| shortly(&draft.event)).collect()
}

fn shortly(event: &Event) -> String {
    match event {
        Event::Turn(TurnEvent::UserMessage { segments, by, .. }) => format!("user {} by {by}", Segment::join(segments)),
        Event::Turn(TurnEvent::PeerMessage { text, from, .. }) => format!("peer {}: {text}", from.name),
        Event::Turn(TurnEvent::TextChunk { text, .. }) => format!("+{text}"),
        Event::Turn(TurnEvent::ReasoningChunk { text, .. }) => format!("~{text}"),
        Event::Turn(TurnEvent::ToolArgsChunk { text, .. }) => format!("({text}"),
        Event::Turn(TurnEvent::MessageFinished { text, interrupted, .. }) => {
            format!("said {text}{}", if *interrupted { "…" } else { "" })
        }
        Event::Turn(TurnEvent::ReasoningFinished { text, .. }) => format!("thought {text}"),
        Event::Turn(TurnEvent::ToolCalled { name, arguments, by: ToolBy::Model, .. }) => {
            format!("call {name} {arguments}")
        }
        Event::Turn(TurnEvent::ToolFinished { summary, content, is_error, .. }) => {
            format!("result {summary} {content:?} {is_error}")
        }
        Event::Control(ControlEvent::RunStarted { trigger, command_id }) => {
            format!("run {trigger:?} {}", command_id.as_ref().map_or("-", CommandId::as_str))
        }
        Event::Control(ControlEvent::RunFinished { outcome, .. }) => format!("end {outcome:?}"),
        Event::Control(ControlEvent::Status { state, .. }) => format!("is {}", state.as_str()),
        Event::Control(ControlEvent::Alert { text, .. }) => format!("note {text}"),
        other => other.kind().to_owned(),
    }
}

fn tell(translator: &mut Translator, events: &[(&str, Value)]) -> Vec<String> {
    let mut told = Vec::new();
    for (name, data) in events {
        match translator.event(name, data, Timestamp::UNIX_EPOCH) {
            Step::More(drafts) => told.extend(short(&drafts)),
            Step::Anew(drafts) => {
                told.push("anew".to_owned());
                told.extend(short(&drafts));
            }
        }
    }
    told
}

fn status(status: &str) -> (&'static str, Value) {
    ("status", json!({ "status": status }))
}

fn text(event: &'static str, text: &str) -> (&'static str, Value) {
    (event, json!({ "text": text }))
}

fn begun(words: &str) -> Vec<(&'static str, Value)> {
    vec![
        status("running"),
        ("invoke_start", json!({ "kind": "user_send" })),
        ("user_message", json!({ "segments": [{ "kind": "text", "content": words }] })),
        ("turn_start", json!({ "turn": 0 })),
        ("llm_call_start", json!({ "llm_call": 0 })),
    ]
}

fn ended(result: &str) -> (&'static str, Value) {
    ("run_end", json!({ "result": result }))
}

#[test]
fn a_first_run_is_told_from_its_message_to_its_end_and_its_rotation_drops_nothing() {
    let mut translator = translator();
    let sent = Sent {
        segments: vec![Segment::text("hi")],
        command_id: CommandId::parse("c1").unwrap(),
        by: "operator".to_owned(),
    };
    translator.expect_input(Some(sent));
    let mut events = begun("hi");
    events.insert(1, ("segment_rotated", json!({ "entry": { "kind": "segment_start", "history": [] } })));
    events.extend([text("text_delta", "a "), text("text_delta", "b"), text("text_done", "a b")]);
    events.push(("usage", json!({ "input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 4 })));
    events.extend([("llm_call_end", json!({})), ("turn_end", json!({ "result": "finished" })), ended("finished")]);
    events.push(status("idle"));
    assert_eq!(
        tell(&mut translator, &events),
        [
            "is running",
            "run Input c1",
            "user hi by operator",
            "+a ",
            "+b",
            "said a b",
            "usage",
            "end Completed",
            "is idle"
        ]
    );
    let usage = translator.face().usage;
    assert_eq!((usage.input, usage.cached, usage.output, usage.context_used), (10, 4, 3, 13));
    assert_eq!((usage.context_limit, translator.face().answers), (1000, 1));
}

#[test]
fn a_message_of_another_client_gets_no_id_of_ours() {
    let mut translator = translator();
    let sent = Sent {
        segments: vec![Segment::text("mine")],
        command_id: CommandId::parse("c1").unwrap(),
        by: "operator".to_owned(),
    };
    translator.expect_input(Some(sent));
    let told = tell(&mut translator, &begun("another's"));
    assert!(told[1].starts_with("run Input older-t-"), "{told:?}");
}

#[test]
fn a_paused_answer_is_what_its_deltas_were_and_goes_on_in_a_run_of_its_own() {
    let mut translator = translator();
    let mut events = begun("go");
    events.extend([text("text_delta", "half "), ("usage", json!({ "input_tokens": 1 })), ended("paused")]);
    events.extend([status("paused"), status("running"), ("turn_start", json!({})), text("text_delta", "more")]);
    events.push(("error", json!({ "code": "internal", "message": "Cancelled" })));
    events.push(status("idle"));
    assert_eq!(
        tell(&mut translator, &events)[3..],
        [
            "+half ",
            "usage",
            "said half …",
            "end Paused",
            "is paused",
            "is running",
            "run Resume -",
            "+more",
            "said more…",
            "end Cancelled",
            "is idle"
        ]
    );
}

#[test]
fn a_late_idle_ends_no_run_that_goes_on_and_one_without_an_end_ends_after_a_moment() {
    let mut translator = translator();
    let mut events = begun("one");
    events.push(ended("finished"));
    // The idle of the first run arrives after the next was sent.
    events.extend([status("idle"), status("running")]);
    events.extend(begun("two"));
    events.extend([status("idle"), text("text_delta", "on")]);
    let told = tell(&mut translator, &events);
    assert_eq!(told.iter().filter(|line| line.starts_with("end")).count(), 1, "{told:?}");
    assert!(!translator.is_quiet());
    tell(&mut translator, &[status("idle")]);
    assert!(translator.is_quiet());
    assert_eq!(short(&translator.settle(Timestamp::UNIX_EPOCH)), ["said on…", "end Interrupted", "is idle"]);
}

#[test]
fn thoughts_come_with_or_without_deltas_and_empty_ones_are_left_out() {
    let mut translator = translator();
    let mut events = begun("think");
    events.extend([("thinking_start", Value::Null), text("thinking_done", "whole")]);
    events.extend([("thinking_start", Value::Null), text("thinking_done", "")]);
    events.extend([("thinking_start", Value::Null), text("thinking_delta", "a"), text("thinking_done", "")]);
    assert_eq!(tell(&mut translator, &events)[3..], ["thought whole", "~a", "thought a"]);
}

#[test]
fn a_result_may_come_before_its_call_is_whole_or_without_any() {
    let mut translator = translator();
    let mut events = begun("call");
    let arguments = "{\"a\":1}";
    events.extend([
        ("tool_call_start", json!({ "id": "x", "name": "Bash" })),
        ("tool_call_args_delta", json!({ "id": "x", "json": arguments })),
        ("tool_result", json!({ "id": "x", "summary": "ok", "output": "out", "is_error": false })),
        ("tool_call_done", json!({ "id": "x", "name": "Bash", "arguments": arguments })),
        ("tool_result", json!({ "id": "y", "summary": "of nothing", "is_error": true })),
        // The same id again is another call.
        ("tool_call_start", json!({ "id": "x", "name": "Read" })),
        ("tool_call_done", json!({ "id": "x", "name": "Read", "arguments": "no json" })),
        ended("finished"),
    ]);
    assert_eq!(
        tell(&mut translator, &events)[3..],
        [
            "({\"a\":1}",
            "call Bash {\"a\":1}",
            "result ok Some(\"out\") false",
            "call unknown {}",
            "result of nothing None true",
            "call Read \"no json\"",
            "result it has no result: the run ended before None true",
            "end Completed",
            "is idle"
        ]
    );
}

#[test]
fn a_block_has_one_name_and_no_two_have_the_same() {
    let mut translator = translator();
    let mut blocks = Vec::new();
    let mut events = begun("x");
    events.extend([text("text_delta", "a"), text("text_done", "a"), text("text_delta", "b"), text("text_done", "b")]);
    for (name, data) in events {
        let Step::More(drafts) = translator.event(name, &data, Timestamp::UNIX_EPOCH) else { panic!("anew") };
        blocks.extend(drafts.into_iter().filter_map(|draft| match draft.event {
            Event::Turn(TurnEvent::TextChunk { block, .. } | TurnEvent::MessageFinished { block, .. }) => Some(block),
            _ => None,
        }));
    }
    assert_eq!((&blocks[0], &blocks[2]), (&blocks[1], &blocks[3]));
    assert_ne!(blocks[0], blocks[2]);
}

#[test]
fn a_log_becomes_records_of_its_own_time() {
    let mut translator = translator();
    let item = |item: Value| json!({ "kind": "assistant_item", "ts": 1_000, "item": item });
    let said =
        |text: &str| json!({ "kind": "message", "role": "assistant", "content": [{ "kind": "text", "text": text }] });
    let call = json!({ "kind": "tool_call", "call_id": "c", "name": "Bash", "arguments": "{}" });
    let result =
        json!({ "kind": "tool_result", "call_id": "c", "summary": "done", "content": "out", "is_error": false });
    let entries = json!([
        { "kind": "segment_start", "ts": 900, "history": [
            { "kind": "message", "role": "user", "content": [{ "kind": "text", "text": "before" }] }, said("yes")] },
        { "kind": "invoke", "ts": 1_000, "trigger": "user_send" },
        { "kind": "user_input", "ts": 1_000, "segments": [{ "kind": "text", "content": "do it" }] },
        item(json!({ "kind": "reasoning", "text": "hm" })),
        item(call),
        { "kind": "tool_result", "ts": 1_000, "item": result },
        item(said("done")),
        { "kind": "turn_end", "ts": 1_000, "turn_count": 1 },
        { "kind": "run_completed", "ts": 1_000, "interrupted": false, "result": "finished" },
        { "kind": "config_changed", "ts": 1_000, "config": {} },
        { "kind": "from_the_future", "ts": 1_000, "x": 1 },
        { "kind": "invoke", "ts": 2_000, "trigger": "notify" },
        { "kind": "system_item", "ts": 2_000, "item": { "kind": "notification", "message": "[Peer message from `bob`]\nhi\nada",
          "body": "[Notification]\n[Peer message from `bob`]\nhi\nada\n\nThis is a notification, not a blocking request. …" } },
    ]);
    let snapshot = json!({ "entries": entries, "status": "running", "greeting": {} });
    let Step::Anew(drafts) = translator.event("snapshot", &snapshot, Timestamp::now()) else { panic!("not anew") };
    let told = short(&drafts);
    assert!(told[0].starts_with("run Input older-") && told[4].starts_with("run Input older-"), "{told:?}");
    let rest: Vec<_> = told.iter().filter(|line| !line.starts_with("run Input")).map(String::as_str).collect();
    assert_eq!(
        rest,
        [
            "user before by operator",
            "said yes",
            "end Completed",
            "user do it by operator",
            "thought hm",
            "call Bash {}",
            "result done Some(\"out\") false",
            "said done",
            "end Completed",
            "from_the_future",
            "run Peer -",
            "peer bob: hi\nada",
            "is running"
        ]
    );
    assert_eq!(drafts[1].at, Timestamp::from_millisecond(900).unwrap());
    // Each of them is a record that any client can read.
    for (draft, seq) in drafts.into_iter().zip(1..) {
        let record = Record { seq: Seq(seq), at: draft.at, run_id: draft.run_id, event: draft.event, cut: None };
        let read: Record = serde_json::from_value(serde_json::to_value(&record).unwrap()).unwrap();
        assert_eq!(read, record);
    }
}

#[test]
fn a_rotation_and_a_rewind_begin_the_view_again() {
    let mut translator = translator();
    let mut events = begun("one");
    events.extend([text("text_done", "a"), ended("finished")]);
    tell(&mut translator, &events);
    let summary = json!({ "kind": "message", "role": "system", "content": [{ "kind": "text", "text": "so far" }] });
    let rotated = ("segment_rotated", json!({ "entry": { "kind": "segment_start", "history": [summary] } }));
    assert_eq!(tell(&mut translator, std::slice::from_ref(&rotated)), ["anew", "note so far", "is idle"]);
    let entries = json!([{ "kind": "user_input", "segments": [{ "kind": "text", "content": "first" }] }]);
    let told = tell(&mut translator, &[("rewind_applied", json!({ "entries": entries }))]);
    assert_eq!((told[0].as_str(), told.last().unwrap().as_str()), ("anew", "is idle"));
    assert!(told.contains(&"user first by operator".to_owned()), "{told:?}");
    // A run in progress when the view starts over continues in it.
    tell(&mut translator, &begun("two"));
    assert_eq!(tell(&mut translator, &[rotated])[2..], ["is running", "run Resume -"]);
}

#[test]
fn errors_are_of_the_run_or_of_another_clients_request() {
    let mut translator = translator();
    let error = |code: &str| ("error", json!({ "code": code, "message": "no, at /x/ada/sock" }));
    assert_eq!(tell(&mut translator, &[error("already_running"), error("not_paused")]), [""; 0]);
    assert_eq!(tell(&mut translator, &[error("tool_error")]), ["note no, at (a socket)"]);
    let mut events = begun("x");
    events.extend([error("provider_error"), status("idle")]);
    assert_eq!(tell(&mut translator, &events)[3..], ["end Error", "is idle"]);
    assert!(translator.face().has_failed);
    for (result, outcome) in [("limit_reached", Outcome::Limit), ("rolled_back", Outcome::RolledBack)] {
        let mut events = begun("x");
        events.push(ended(result));
        assert!(tell(&mut translator, &events).contains(&format!("end {outcome:?}")));
    }
}

#[test]
fn what_nobody_knows_is_shown_and_answers_to_others_are_not() {
    let mut translator = translator();
    let events = [
        ("pods_listed", json!({ "pods": [{ "live": { "socket_path": "/x/sock" } }] })),
        ("completions", json!({ "kind": "file", "entries": [] })),
        ("pod_restored", json!({})),
        ("memory_worker", json!({ "state": "idle" })),
        ("peer_registered", json!({ "result": { "source": "ada", "peer": "bob" } })),
        ("alert", json!({ "level": "warn", "source": "disk", "message": "full" })),
    ];
    assert_eq!(tell(&mut translator, &events), ["memory_worker", "peer_linked", "note full"]);
}

#[test]
fn nothing_that_a_pod_may_send_breaks_the_translation() {
    let names = [
        "snapshot",
        "invoke_start",
        "user_message",
        "turn_start",
        "text_delta",
        "text_done",
        "thinking_start",
        "thinking_delta",
        "thinking_done",
        "tool_call_start",
        "tool_call_args_delta",
        "tool_call_done",
        "tool_result",
        "usage",
        "llm_retry",
        "run_end",
        "status",
        "error",
        "alert",
        "segment_rotated",
        "rewind_applied",
        "system_item",
        "peer_registered",
        "compact_failed",
        "shutdown",
        "",
        "user_message",
    ];
    let odd = [
        Value::Null,
        json!([]),
        json!("text"),
        json!({ "text": 7, "segments": "x", "entries": {}, "id": null, "kind": [], "status": {}, "item": 3 }),
        json!({ "text": "t", "id": "x", "name": "n", "json": "{", "arguments": [1], "entries": [null, 3, {}],
                "segments": [null, { "kind": "new" }], "entry": { "history": [null, { "kind": "message" }] },
                "input_tokens": -1, "output_tokens": 1e300, "item": { "kind": "notification" } }),
    ];
    let mut translator = translator();
    for first in &names {
        for name in &names {
            for data in &odd {
                translator.event(first, data, Timestamp::UNIX_EPOCH);
                translator.event(name, data, Timestamp::UNIX_EPOCH);
            }
        }
    }
    translator.lost("it is gone", Timestamp::UNIX_EPOCH);
    assert_eq!(translator.face().state, PodState::Stopped, "it said `shutdown`");
    assert!(translator.runs.calls.open.len() <= 500);
}
