use serde_json::{Value, json};

use super::*;

fn spec() -> PodSpec {
    serde_json::from_value(json!({
        "provider": "rehearsal", "model": "rehearsal", "cwd": "/", "scope": [], "wake_on_peer": true
    }))
    .unwrap()
}

fn line(seq: i64, event: &Value) -> String {
    json!({ "seq": seq, "at": "2026-11-21T10:00:00Z", "run_id": "run-1", "event": event }).to_string()
}

fn read(lines: &[String]) -> Result<History, ApiError> {
    History::read(&lines.join("\n"), &spec(), Timestamp::UNIX_EPOCH)
}

/// The history that these events result in.
fn of(events: &[Value]) -> History {
    read(&(1..).zip(events).map(|(seq, event)| line(seq, event)).collect::<Vec<_>>()).unwrap()
}

fn refusal(lines: &[String]) -> String {
    match read(lines) {
        Ok(_) => panic!("{lines:?} was taken"),
        Err(error) => {
            assert_eq!(error.code, ErrorCode::InvalidInput);
            error.detail
        }
    }
}

fn added(history: &History, after: usize) -> Vec<Value> {
    let bodies = history.records[after..].iter().map(|record| serde_json::from_slice::<Value>(&record.body).unwrap());
    bodies.map(|body| body["event"].clone()).collect()
}

fn started(trigger: &str) -> Value {
    json!({ "kind": "run_started", "trigger": trigger })
}

fn status(state: &str) -> Value {
    json!({ "kind": "status", "state": state })
}

fn call(id: &str, by: &str) -> Value {
    json!({ "kind": "tool_called", "call_id": id, "block": "b1", "name": "Bash", "arguments": {}, "by": by })
}

fn asked(id: &str) -> Value {
    json!({ "kind": "approval_asked", "id": id, "tool": "Bash", "arguments": {} })
}

#[test]
fn a_bad_line_is_named_and_nothing_is_taken() {
    let good = line(3, &status("idle"));
    let bad = |text: &str| refusal(&[good.clone(), text.to_owned(), line(99, &status("idle"))]);
    for (text, expected) in [
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("{", "this is not a record"),
        ("[]", "this is not a record"),
        ("null", "this is not a record"),
        (r#"[4,"2026-11-21T10:00:00Z",null,{"kind":"status","state":"idle"}]"#, "an object, not an array"),
        (r#"{"seq":4}"#, "this is not a record"),
        (r#"{"seq":4,"at":"yesterday","event":{"kind":"status","state":"idle"}}"#, "this is not a record"),
        (r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":7}"#, "this is not a record"),
        (r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{}}"#, "no kind"),
        (r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{"kind":7}}"#, "no kind"),
        (r#"{"seq":1e30,"at":"2026-11-21T10:00:00Z","event":{"kind":"x"}}"#, "this is not a record"),
        (r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{"kind":"status","state":"idle"}} x"#, "this is not a record"),
        (
            r#"{"seq":4,"seq":5,"at":"2026-11-21T10:00:00Z","event":{"kind":"status","state":"idle"}}"#,
            "duplicate field `seq` (column 14)",
        ),
        (
            r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{"kind":"status","state":"idle","state":"paused"}}"#,
            "duplicate field `state`",
        ),
        (
            r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{"kind":"x","kind":"status","state":"idle"}}"#,
            "duplicate field `kind`",
        ),
        (
            r#"{"seq":4,"at":"2026-11-21T10:00:00Z","event":{"kind":"later","of":{"a":[{"b":1,"b":2}]}}}"#,
            "duplicate field `b`",
        ),
    ] {
        let detail = bad(text);
        assert!(detail.starts_with("line 2: ") && detail.contains(expected), "{text}: {detail}");
    }
    let from = json!(["local", "1", "eve"]);
    let peer = json!({ "kind": "peer_message", "message_id": "m", "text": "hi", "from": from, "hops": 1 });
    assert!(bad(&line(4, &peer)).contains("`event.from` has to be an object, not an array"));
    for seq in [3, 2, 0, -1, i64::MIN] {
        assert!(bad(&line(seq, &status("idle"))).contains("does not rise"), "{seq}");
    }
    assert!(bad(&line(i64::MAX, &status("idle"))).contains("more than a journal can hold"));
    assert!(refusal(&[]).contains("nothing to import"));
    assert!(refusal(&[String::new(), String::new()]).contains("nothing to import"));
    assert!(refusal(&[good.clone(), String::new(), String::new()]).starts_with("line 2: it is empty"));
    assert!(refusal(&["\u{feff}".to_owned() + good.as_str()]).starts_with("line 1: this is not a record"));
}

#[test]
fn what_no_journal_holds_is_refused() {
    let usage = |input: u64| json!({ "input": input, "cached": 0, "output": 0, "context_used": 0, "context_limit": 0 });
    let mut beyond = usage(u64::MAX);
    beyond["kind"] = "usage".into();
    let mut negative = usage(1);
    negative["kind"] = "usage".into();
    negative["cost"] = (-1.0).into();
    let peer = json!({ "runtime_id": "local", "worker_id": "1", "name": "eve" });
    for event in [
        json!({ "kind": "user_message", "segments": [], "by": "x" }),
        json!({ "kind": "status", "state": "dancing" }),
        status("broken"),
        status("unreachable"),
        beyond,
        negative,
        json!({ "kind": "run_finished", "outcome": "completed", "usage": usage(1 << 41) }),
        json!({ "kind": "peer_message", "message_id": "m", "text": "hi", "from": peer, "hops": u32::MAX }),
        json!({ "kind": "compacted", "summary": "s", "kept_from_seq": 2 }),
        json!({ "kind": "compacted", "summary": "s", "kept_from_seq": -1 }),
        json!({ "kind": "rewound", "to_seq": 1 }),
        json!({ "kind": "text_chunk", "block": format!("b{}", u64::MAX), "text": "x" }),
        json!({ "kind": "tool_finished", "call_id": "c1", "block": "b1", "summary": "s", "is_error": false,
            "duration_ms": 1, "by": "model" }),
        json!({ "kind": "k".repeat(65) }),
    ] {
        assert!(refusal(&[line(1, &event)]).starts_with("line 1: "), "{event}");
    }
    let twice = [line(1, &call("c1", "model")), line(2, &call("c1", "model"))];
    assert!(refusal(&twice).contains("already waiting for its result"));
    let open: Vec<_> =
        (1..=2_000).map(|n| line(n, &json!({ "kind": "text_chunk", "block": format!("x{n}"), "text": "x" }))).collect();
    assert!(refusal(&open).contains("too much is open at once"));
}

#[test]
fn the_end_of_a_file_and_gaps_are_as_an_export_has_them() {
    let lines = [line(3, &started("input")), line(9, &status("idle"))].join("\n");
    for text in [lines.clone(), format!("{lines}\n"), lines.replace('\n', "\r\n")] {
        let history = History::read(&text, &spec(), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(history.records[..2].iter().map(|record| record.seq.0).collect::<Vec<_>>(), [3, 9]);
        assert!(history.records[2..].iter().zip(10..).all(|(record, seq)| record.seq.0 == seq));
    }
}

#[test]
fn whatever_is_left_open_is_closed() {
    let chunk = json!({ "kind": "text_chunk", "block": "b2", "text": "half" });
    let table: [(&[Value], &[&str]); 6] = [
        (
            &[started("input"), status("running"), chunk.clone()],
            &["message_finished", "run_finished", "status", "status"],
        ),
        (
            &[started("input"), status("running"), call("c1", "model"), asked("c1"), status("waiting")],
            &["approval_answered", "tool_finished", "run_finished", "status"],
        ),
        (
            &[started("input"), status("running"), call("c1", "model"), asked("c1"), status("idle")],
            &["tool_finished", "run_finished", "status", "approval_answered", "status"],
        ),
        // What no Pod leaves behind: an approval without a call, and one of a stopped Pod.
        (&[asked("c9")], &["status", "approval_answered", "status"]),
        (
            &[call("c1", "model"), asked("c1"), status("stopped")],
            &["status", "approval_answered", "tool_finished", "status"],
        ),
        (&[status("running"), call("c1", "operator")], &["tool_finished", "status", "status"]),
    ];
    for (events, expected) in table {
        let history = of(events);
        let added = added(&history, events.len());
        let (note, closing) = added.split_last().unwrap();
        let kinds: Vec<_> = closing.iter().map(|event| event["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, expected, "{events:?}");
        assert_eq!((&note["kind"], &note["source"]), (&json!("alert"), &json!("import")));
        for event in closing.iter().filter(|event| event["kind"] == "approval_answered") {
            assert!(event.get("decision").is_none(), "a question is void, not answered: {event}");
        }
        let pod = &history.pod;
        assert_eq!(pod.state, PodState::Stopped);
        assert!(!pod.is_open() && !pod.needs_you(), "{pod:?}");
        assert!(pod.calls.is_empty() && pod.approvals.is_empty() && pod.open_blocks.is_empty(), "{pod:?}");
    }
}

#[test]
fn a_record_brings_nothing_about() {
    let peer = json!({ "runtime_id": "local", "worker_id": "1", "name": "eve" });
    let child = json!({ "pod": { "runtime_id": "local", "worker_id": "1" }, "name": "eve" });
    let scope = json!([{ "path": "/", "access": "write" }]);
    let history = of(&[
        json!({ "kind": "peer_linked", "peer": peer, "by": "x" }),
        json!({ "kind": "peer_requested", "peer": peer, "by": "x", "request_id": "r" }),
        json!({ "kind": "child_spawned", "child": child, "scope": scope }),
        json!({ "kind": "scope_changed", "child": child, "scope": scope }),
        json!({ "kind": "peer_message", "message_id": "m", "text": "hi", "from": peer, "hops": 7 }),
        started("peer"),
        json!({ "kind": "message_receipt", "message_id": "m", "peer": peer, "state": "read" }),
        json!({ "kind": "usage", "input": 5, "cached": 1, "output": 2, "context_used": 7, "context_limit": 9, "cost": 1.0 }),
        call("c1", "model"),
        json!({ "kind": "tool_finished", "call_id": "c1", "block": "b1", "summary": "s", "is_error": false,
            "duration_ms": 1, "by": "model", "seen": { "path": "/etc/passwd", "sha256": "0".repeat(64) } }),
        json!({ "kind": "from_the_future", "grants": "everything" }),
    ]);
    let pod = history.pod;
    assert!(pod.unread_messages.is_empty() && pod.read_messages.is_empty());
    assert!(pod.seen_files.is_empty() && pod.read_outputs.is_empty());
    assert_eq!((pod.hops, pod.unread_mail, pod.failure), (0, None, None));
    let used = Usage { context_used: 7, context_limit: 9, ..Usage::default() };
    assert_eq!(pod.usage, used, "it was used elsewhere");
}

/// Every sequence of up to four of these, which is what a hostile file could contain.
#[test]
fn no_order_of_records_leaves_anything_that_a_restore_would_go_on_with() {
    let usage = json!({ "input": 0, "cached": 0, "output": 0, "context_used": 0, "context_limit": 0 });
    let answer = json!({ "kind": "approval_answered", "id": "c1", "tool": "Bash", "arguments": {}, "decision": "allow", "by": "x" });
    let alphabet = [
        started("input"),
        status("running"),
        status("waiting"),
        status("paused"),
        status("stopped"),
        call("c1", "model"),
        asked("c1"),
        answer,
        json!({ "kind": "run_finished", "outcome": "interrupted", "usage": usage }),
    ];
    let size = alphabet.len();
    for number in 0..size.pow(4) {
        let events: Vec<_> = (0..4).map(|place| alphabet[number / size.pow(place) % size].clone()).collect();
        let lines: Vec<_> = (1..).zip(&events).map(|(seq, event)| line(seq, event)).collect();
        let Ok(History { mut pod, records }) = read(&lines) else { continue };
        let is_at_rest = |pod: &Pod| {
            pod.calls.is_empty() && pod.operator_calls.is_empty() && pod.approvals.is_empty() && !pod.is_open()
        };
        assert!(pod.state == PodState::Stopped && is_at_rest(&pod), "{events:?}: {pod:?}");
        let mut told = Pod::default();
        records.iter().for_each(|record| told.apply(&serde_json::from_slice(&record.body).unwrap()));
        let is_told = told.calls.is_empty() && told.operator_calls.is_empty() && told.approvals.is_empty();
        assert!(is_told, "whoever reads it sees nothing open: {events:?}: {told:?}");
        let restored = decide(&pod, &spec(), Input::Restore).unwrap();
        assert!(restored.effects.is_empty(), "{events:?}: {:?}", restored.effects);
        for step in restored.steps {
            pod.evolve(pod.head.next(), &step.event);
        }
        assert!(matches!(pod.state, PodState::Idle | PodState::Paused) && is_at_rest(&pod), "{events:?}: {pod:?}");
    }
}
