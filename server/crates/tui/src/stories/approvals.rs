use protocol::{Decision, RequestDecision};

use super::*;
use crate::model::Asked;

fn decision(story: &Story) -> (Decision, bool) {
    match story.act().1 {
        Act::Answer { command, .. } => (command.decision, command.remember),
        act => panic!("{act:?}"),
    }
}

/// "Always" asks what is meant; Enter alone means exactly this call.
fn chosen(story: &mut Story, key: char) {
    if key == 'A' {
        story.key(KeyCode::Enter);
    }
}

#[test]
fn a_question_is_answered_in_the_transcript_by_one_key() {
    let mut story = Story::with_ada_in("waiting");
    story.records(vec![user("go"), asks("q1", "rm -rf target"), asks("q2", "ls")]);
    insta::assert_snapshot!("question", story.screen());
    for (key, expected) in
        [('a', (Decision::Allow, false)), ('A', (Decision::Allow, true)), ('d', (Decision::Deny, false))]
    {
        story.alt(KeyCode::Char(key));
        chosen(&mut story, key);
        assert_eq!((decision(&story), focus(&story)), (expected, Focus::Composer), "while writing");
        story.key(KeyCode::Char(key));
        assert_eq!((story.effects.len(), story.composer()), (0, key.to_string()), "a letter is text");
        story.key(KeyCode::Backspace);
    }
    story.control('t');
    story.shows("a allow · A always · d deny: Bash rm -rf target");
    for (key, expected) in
        [('a', (Decision::Allow, false)), ('A', (Decision::Allow, true)), ('d', (Decision::Deny, false))]
    {
        story.key(KeyCode::Char(key));
        chosen(&mut story, key);
        assert_eq!(decision(&story), expected);
    }
    let (_, act) = story.act();
    assert!(matches!(act, Act::Answer { approval, .. } if approval == "q1"), "the oldest first");
    story.done(Err(refused(ErrorCode::AlreadyAnswered, "it was answered in the browser")));
    story.shows("it was answered in the browser");
    story.records(vec![json!({ "kind": "approval_answered", "id": "q1", "tool": "Bash",
        "arguments": { "command": "rm -rf target" }, "decision": "deny", "by": "kim", "reason": "no" })]);
    story.shows("? Bash rm -rf target: denied by kim: no");
    story.enters(":deny not now");
    assert!(matches!(story.act().1, Act::Answer { approval, command }
        if approval == "q2" && command.reason.as_deref() == Some("not now")));
}

#[test]
fn what_is_asked_can_be_judged_by_what_it_would_do() {
    let mut story = Story::with_ada_in("waiting");
    let edit = json!({ "path": "src/a.rs", "old": "let a = 1;\n", "new": "let a = 2;\nlet b = 3;\n" });
    story.records(vec![
        json!({ "kind": "approval_asked", "id": "q1", "tool": "Edit", "arguments": edit }),
        json!({ "kind": "approval_asked", "id": "q2", "tool": "Write", "arguments": { "path": "b", "content": "1\n2\n3\n4\n5\n6\n7\n8" } }),
    ]);
    insta::assert_snapshot!("question_of_an_edit", story.screen());
}

#[test]
fn a_write_shows_what_the_file_would_lose() {
    let mut story = Story::with_ada_in("waiting");
    let arguments = json!({ "path": "notes.md", "content": "new\n" });
    story.records(vec![json!({ "kind": "approval_asked", "id": "q1", "tool": "Write", "arguments": arguments })]);
    assert!(matches!(story.effects[..], [Effect::Look(_)]), "{:?}", story.effects);
    let diff = "--- a/notes.md\n+++ b/notes.md\n@@ -1,2 +1 @@\n-one\n-two\n+new\n";
    story.looked(json!({ "asked": [{ "id": "q1", "tool": "Write", "arguments": arguments,
        "asked_at": "2026-01-01T00:00:00Z", "diff": diff, "effect": "+1 −2" }] }));
    story.shows("notes.md +1 −2 @@ -1,2 +1 @@ -one -two +new");
    story.looked(json!({ "asked": [{ "id": "q1", "tool": "Write", "arguments": arguments,
        "asked_at": "2026-01-01T00:00:00Z", "effect": "it would fail: notes.md is a folder" }] }));
    story.shows("it would fail: notes.md is a folder");
}

#[test]
fn a_call_that_waits_for_an_answer_does_not_say_that_it_runs() {
    let mut story = Story::with_ada_in("waiting");
    let command = json!({ "command": "make" });
    story.records(vec![
        json!({ "kind": "run_started", "trigger": "input" }),
        json!({ "kind": "tool_called", "call_id": "1", "block": "b1", "name": "Bash", "arguments": command, "by": "model" }),
        asks("q1", "make"),
    ]);
    story.shows("⚙ Bash make asks for permission");
    story.records(vec![json!({ "kind": "approval_answered", "id": "q1", "tool": "Bash", "arguments": command,
        "decision": "allow", "by": "kim" })]);
    story.shows("⚙ Bash make running …");
}

#[test]
fn without_a_question_the_keys_do_nothing_but_say_so() {
    let mut story = Story::with_ada();
    story.control('t');
    story.key(KeyCode::Char('a'));
    assert_eq!(story.effects, []);
    story.shows("it has no pending approval");
}

#[test]
fn all_questions_are_one_list_and_each_is_answered_there() {
    let mut story = Story::connected();
    story.pods(&[pod("ada", "waiting"), pod("bob", "idle")]);
    story.enters(":approvals");
    assert_eq!(story.effects, [Effect::LoadInbox(vec![address("ada")])]);
    story.shows("Loading approvals");
    let asked = vec![
        Asked::Tool {
            pod: address("ada"),
            approval: serde_json::from_value(json!({ "id": "q1", "tool": "Bash", "arguments": { "command": "make" },
                "asked_at": "2026-01-01T00:00:00Z",
                "patterns": [{ "pattern": "make *", "label": "make with any arguments", "would_have_allowed": 0 }] }))
            .unwrap(),
        },
        Asked::Peer(
            serde_json::from_value(json!({ "request_id": "r1", "from": address("ada"), "from_name": "ada",
                "to": address("bob"), "to_name": "bob", "note": "about the report",
                "at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z" }))
            .unwrap(),
        ),
    ];
    story.happens(Message::Inbox(Ok(asked.clone())));
    insta::assert_snapshot!("inbox", story.screen());
    story.key(KeyCode::Char('A'));
    assert_eq!(story.effects, [], "nothing is chosen at first");
    story.shows("always for ada (Enter: exactly this):");
    story.shows("make * make with any arguments");
    story.key(KeyCode::Esc);
    assert_eq!((story.effects.len(), story.model.always_of.is_none()), (0, true));
    story.shows("Approvals");
    story.key(KeyCode::Char('A'));
    story.key(KeyCode::Down);
    // What comes and goes in the list meanwhile is not what is answered.
    story.happens(Message::Inbox(Ok(asked[1..].to_vec())));
    story.key(KeyCode::Enter);
    let (pod, act) = story.act();
    let Act::Answer { approval, command } = &act else { panic!("{act:?}") };
    assert_eq!((pod, approval.as_str()), (address("ada"), "q1"));
    assert_eq!((command.decision, command.remember), (Decision::Allow, true));
    assert_eq!((command.scope, command.pattern.as_deref()), (None, Some("make *")));
    story.done(Ok(Answer::Accepted));
    story.shows("ada: allowed, and always from now on: make *, in this Pod");
    assert_eq!(story.effects, [Effect::LoadInbox(vec![address("ada")])], "it is asked anew");
    story.happens(Message::Inbox(Ok(asked)));
    story.key(KeyCode::Char('A'));
    story.key(KeyCode::Enter);
    assert_eq!(decision(&story), (Decision::Allow, true));
    story.done(Ok(Answer::Accepted));
    story.shows("ada: allowed, and always from now on: exactly this call, in this Pod");
    assert_eq!(story.effects, [Effect::LoadInbox(vec![address("ada")])], "it is asked anew");
    story.key(KeyCode::Char('j'));
    story.key(KeyCode::Char('a'));
    let expected = Act::Decide { request_id: "r1".into(), decision: RequestDecision::Accept };
    assert_eq!(story.act(), (address("bob"), expected));
    story.key(KeyCode::Enter);
    assert_eq!(story.model.open.as_ref().unwrap().pod, address("bob"));
    assert!(story.model.sheet.is_none());
}

#[test]
fn a_question_that_is_longer_than_the_screen_says_that_there_is_more_of_it() {
    let mut story = Story::connected();
    story.pods(&[pod("ada", "waiting")]);
    story.enters(":approvals");
    let command = "echo fine\n".repeat(60) + "rm -rf ~";
    let approval = json!({ "id": "q1", "tool": "Bash", "arguments": { "command": command },
        "asked_at": "2026-01-01T00:00:00Z" });
    let asked = Asked::Tool { pod: address("ada"), approval: serde_json::from_value(approval).unwrap() };
    story.happens(Message::Inbox(Ok(vec![asked])));
    story.shows("more lines: Enter opens its Pod");
}

#[test]
fn an_empty_inbox_says_so_and_follows_the_pods() {
    let mut story = Story::connected();
    story.types("ga");
    story.happens(Message::Inbox(Ok(Vec::new())));
    story.shows("No approvals pending.");
    story.pods(&[pod("ada", "waiting")]);
    assert_eq!(story.effects, [Effect::LoadInbox(vec![address("ada")])]);
    story.pods(&[pod("ada", "waiting"), pod("bob", "waiting")]);
    assert_eq!(story.effects, [], "one question at a time");
    story.happens(Message::Inbox(Ok(Vec::new())));
    assert_eq!(story.effects, [Effect::LoadInbox(vec![address("ada"), address("bob")])]);
    story.happens(Message::Inbox(Err(no_server())));
    story.shows("no yoi answers");
}
