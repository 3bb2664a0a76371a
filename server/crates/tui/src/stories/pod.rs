use super::*;

/// A run with everything that a run can have.
fn a_run() -> Vec<Value> {
    let usage = json!({ "input": 1200, "cached": 0, "output": 340, "cost": 0.0042 });
    vec![
        user("list the files and fix the test"),
        json!({ "kind": "run_started", "trigger": "input", "command_id": "c" }),
        json!({ "kind": "reasoning_finished", "block": "t1", "text": "First I look around.\nThen I fix it.", "interrupted": false }),
        json!({ "kind": "reasoning_finished", "block": "t2", "text": "A second thought.", "interrupted": false }),
        json!({ "kind": "tool_called", "call_id": "1", "block": "b1", "name": "Read", "arguments": { "path": "src/a.rs" }, "by": "model" }),
        json!({ "kind": "tool_finished", "call_id": "1", "block": "b1", "summary": "12 lines", "content": "fn a() {}", "is_error": false, "duration_ms": 3, "by": "model" }),
        json!({ "kind": "tool_called", "call_id": "2", "block": "b2", "name": "Read", "arguments": { "path": "src/b.rs" }, "by": "model" }),
        json!({ "kind": "tool_finished", "call_id": "2", "block": "b2", "summary": "7 lines", "content": "fn b() {}", "is_error": false, "duration_ms": 3, "by": "model" }),
        json!({ "kind": "tool_called", "call_id": "3", "block": "b3", "name": "Edit", "arguments": { "path": "src/a.rs", "old": "1", "new": "2" }, "by": "model" }),
        json!({ "kind": "tool_finished", "call_id": "3", "block": "b3", "summary": "1 replacement", "is_error": false,
            "diff": "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n", "duration_ms": 12, "by": "model" }),
        json!({ "kind": "tool_called", "call_id": "4", "block": "b4", "name": "Bash", "arguments": { "command": "cargo test" }, "by": "model" }),
        json!({ "kind": "tool_finished", "call_id": "4", "block": "b4", "summary": "exit 101", "is_error": true, "code": "exit_status",
            "content": "running 2 tests\n\u{1b}[31mFAILED\u{1b}[0m\n", "duration_ms": 124_000, "by": "model" }),
        json!({ "kind": "message_finished", "block": "b5", "text": "# Done\n\nThere are **two** files:\n\n- `a.rs`\n- `b.rs`\n", "interrupted": false }),
        json!({ "kind": "run_finished", "outcome": "completed", "usage": usage }),
    ]
}

#[test]
fn a_run_is_drawn_from_question_to_end_in_three_details() {
    let mut story = Story::with_ada_in("idle");
    story.records(a_run());
    story.happens(Message::Resize(80, 34));
    insta::assert_snapshot!("run_normal", story.screen());
    story.key(KeyCode::Esc);
    story.key(KeyCode::Char('v'));
    story.shows("detail: full");
    story.happens(Message::Resize(120, 50));
    insta::assert_snapshot!("run_full_120", story.screen());
    story.key(KeyCode::Char('v'));
    story.happens(Message::Resize(80, 24));
    insta::assert_snapshot!("run_brief", story.screen());
    story.key(KeyCode::Char('v'));
    assert_eq!(story.model.detail, crate::model::Detail::Normal);
}

#[test]
fn what_is_unfinished_is_drawn_as_unfinished() {
    let mut story = Story::with_ada();
    story.records(vec![
        user("go"),
        json!({ "kind": "run_started", "trigger": "input", "command_id": "c" }),
        json!({ "kind": "tool_called", "call_id": "1", "block": "b1", "name": "Bash", "arguments": { "command": "make" }, "by": "model" }),
        json!({ "kind": "tool_output_chunk", "block": "b1", "text": "compiling a\ncompiling b\n" }),
        json!({ "kind": "reasoning_chunk", "block": "t1", "text": "it takes\nlong" }),
        json!({ "kind": "text_chunk", "block": "b2", "text": "While it runs: " }),
        json!({ "kind": "text_chunk", "block": "b2", "text": "three\u{1b}[31m files" }),
    ]);
    insta::assert_snapshot!("unfinished", story.screen());
    story.records(vec![json!({ "kind": "run_finished", "outcome": "interrupted", "code": "killed",
        "detail": "the server was killed", "usage": { "input": 0, "cached": 0, "output": 0 } })]);
    story.shows("interrupted");
    story.shows("■ interrupted: the server was killed (killed)");
    story.shows_not("▍");
}

#[test]
fn peers_children_and_alerts_are_cards_and_lines() {
    let mut story = Story::with_ada();
    let bob = json!({ "runtime_id": "local", "worker_id": "bob-1", "name": "bob" });
    let child = json!({ "pod": address("kid"), "name": "kid" });
    story.records(vec![
        json!({ "kind": "peer_linked", "peer": bob, "by": "operator" }),
        json!({ "kind": "peer_message", "message_id": "m1", "text": "hello **ada**", "from": bob, "hops": 1 }),
        json!({ "kind": "message_receipt", "message_id": "m1", "peer": bob, "state": "read", "turn": 4 }),
        json!({ "kind": "message_receipt", "message_id": "m2", "peer": bob, "state": "held" }),
        json!({ "kind": "child_spawned", "child": child, "scope": [] }),
        json!({ "kind": "child_event", "what": "turn_ended", "child": child, "detail": "all green" }),
        json!({ "kind": "compacted", "summary": "They talked.", "kept_from_seq": 2 }),
        json!({ "kind": "alert", "level": "warn", "source": "store", "text": "the disk is nearly full" }),
        json!({ "kind": "someday", "what": "new" }),
    ]);
    insta::assert_snapshot!("cards", story.screen());
}

#[test]
fn what_was_rewound_is_dimmed_and_stays() {
    let mut story = Story::with_ada_in("idle");
    story.records(vec![user("first"), said(1), user("second"), said(2)]);
    let dims = |story: &Story| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| view::draw(&story.model, Colours::Sixteen, frame)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        (0..24)
            .filter(|row| buffer[(2, *row)].modifier.contains(ratatui::style::Modifier::DIM))
            .filter(|row| buffer[(2, *row)].symbol() == "l")
            .count()
    };
    assert_eq!(dims(&story), 0);
    story.records(vec![json!({ "kind": "rewound", "to_seq": 2 })]);
    assert_eq!(dims(&story), 1, "line 2 and not line 1");
    story.shows("rewound to 2");
}

#[test]
fn a_retry_is_told_in_the_last_line_until_it_is_over() {
    let mut story = Story::with_ada();
    story.records(vec![
        json!({ "kind": "run_started", "trigger": "input" }),
        json!({ "kind": "provider_retry", "attempt": 2, "wait_ms": 4000, "code": "503", "detail": "overloaded" }),
    ]);
    let last = |story: &Story| story.screen().lines().last().unwrap().to_owned();
    assert!(last(&story).starts_with("Retrying in 4 s (attempt 2): overloaded"), "{}", last(&story));
    story.records(vec![json!({ "kind": "text_chunk", "block": "b", "text": "now" })]);
    assert!(last(&story).starts_with("Enter send"), "{}", last(&story));
}

#[test]
fn the_last_line_says_command_before_queue_before_notice_before_retry() {
    let mut story = Story::with_ada();
    story.records(vec![
        json!({ "kind": "run_started", "trigger": "input" }),
        json!({ "kind": "provider_retry", "attempt": 2, "wait_ms": 4000, "code": "503", "detail": "busy" }),
    ]);
    story.looked(json!({ "queued": [
        { "command_id": "q1", "segments": [{ "type": "text", "text": "and then this" }], "at": "2026-01-01T00:00:00Z" },
        { "command_id": "q2", "segments": [{ "type": "text", "text": "and that" }], "at": "2026-01-01T00:00:00Z" }] }));
    story.model.tell("a notice");
    story.shows("2 queued · a notice · Retrying in 4 s (attempt 2): busy");
    insta::assert_snapshot!("queue", story.screen());
    story.types(":");
    let screen = story.screen();
    assert!(screen.lines().last().unwrap().starts_with(":   "), "{screen}");
}

#[test]
fn a_late_frame_of_another_pod_changes_nothing() {
    let mut story = Story::with_ada();
    story.frame(json!({ "type": "records", "id": "s9", "after": "c", "cursor": "c", "records": [
        { "seq": 1, "at": "2026-01-01T00:00:00Z", "event": { "kind": "text_chunk", "block": "b", "text": "late" } }] }));
    assert!(story.model.open.as_ref().unwrap().transcript.blocks().is_empty());
    story.happens(Message::Subscribed { pod: address("bob"), id: "s8".into() });
    assert_eq!(story.effects, [Effect::Unsubscribe("s8".into())]);
}

#[test]
fn on_a_narrow_screen_the_figures_give_way_to_the_name_and_the_state() {
    let mut story = Story::with_ada_in("idle");
    let mut ada = pod("ada", "idle");
    (ada.relations.peers, ada.usage.input, ada.usage.context_used, ada.usage.context_limit) = (2, 41_300, 900, 200_000);
    story.pods(&[ada]);
    let heading = |story: &mut Story, columns| {
        story.happens(Message::Resize(columns, 12));
        story.screen().lines().next().unwrap().to_owned()
    };
    assert_eq!(heading(&mut story, 70), "ada  ○ idle  rehearsal · /work         ⇄2 41k tokens  context 900/200k");
    assert_eq!(heading(&mut story, 32), "ada  ○ idle  rehearsal ·… ⇄2 41k");
    assert_eq!(heading(&mut story, 20), "ada  ○ idle  rehea…");
}
