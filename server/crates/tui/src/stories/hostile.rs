//! Hostile text from models, tools, peers and servers.

use protocol::SearchHit;

use super::*;
use crate::model::Asked;

/// Sets the title, clears the screen (twice, once with a C1 control character), rings the bell, and reverses the rest
/// of the line.
const HOSTILE: &str = "evil\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}2J\u{202e}txt.sh\u{2066}\r\u{8}\u{7f}";

#[track_caller]
fn is_harmless(story: &Story) {
    let screen = story.screen();
    let harms = |letter: char| {
        (letter.is_control() && letter != '\n') || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!screen.contains(harms), "{screen:?}");
    assert!(screen.contains("evil"), "it is shown all the same:\n{screen}");
}

fn hostile_pod(name: &str) -> PodSummary {
    PodSummary {
        activity: Some(HOSTILE.to_owned()),
        state_reason: Some(HOSTILE.to_owned()),
        model: HOSTILE.to_owned(),
        cwd: HOSTILE.to_owned(),
        ..pod(name, "waiting")
    }
}

#[test]
fn no_block_of_a_transcript_reaches_the_terminal_as_a_command() {
    let peer = json!({ "runtime_id": "local", "worker_id": "1", "name": "eve" });
    let events = [
        user(HOSTILE),
        json!({ "kind": "message_finished", "block": "b1", "interrupted": false,
            "text": format!("{HOSTILE} `{HOSTILE}` [{HOSTILE}](https://evil/{HOSTILE})\n\n```sh\n{HOSTILE}\n```\n\n|{HOSTILE}|b|\n|-|-|\n|{HOSTILE}|c|") }),
        json!({ "kind": "reasoning_finished", "block": "b2", "text": HOSTILE, "interrupted": false }),
        json!({ "kind": "tool_called", "call_id": "c1", "block": "b3", "name": HOSTILE, "by": "model",
            "arguments": { "command": HOSTILE, (HOSTILE): HOSTILE } }),
        json!({ "kind": "tool_finished", "call_id": "c1", "block": "b3", "by": "model", "summary": HOSTILE, "content": HOSTILE,
            "is_error": true, "code": HOSTILE, "duration_ms": 1, "diff": format!("@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}") }),
        json!({ "kind": "peer_message", "message_id": "m", "text": HOSTILE, "from": peer, "hops": 1 }),
        json!({ "kind": "alert", "level": "error", "source": HOSTILE, "text": HOSTILE }),
        json!({ "kind": "compacted", "summary": HOSTILE, "kept_from_seq": 1 }),
        json!({ "kind": HOSTILE, "field": HOSTILE }),
        json!({ "kind": "approval_asked", "id": "q1", "tool": HOSTILE, "arguments": { (HOSTILE): HOSTILE } }),
        json!({ "kind": "approval_answered", "id": "q1", "tool": HOSTILE, "arguments": {}, "decision": "deny",
            "by": HOSTILE, "reason": HOSTILE }),
        json!({ "kind": "run_finished", "outcome": "error", "detail": HOSTILE,
            "usage": { "input": 1, "cached": 0, "output": 1 } }),
        json!({ "kind": "provider_retry", "attempt": 1, "wait_ms": 9, "code": HOSTILE, "detail": HOSTILE }),
    ];
    for event in events {
        for detail in 0..3 {
            let mut story = Story::with_ada_in("waiting");
            story.pods(&[hostile_pod("ada")]);
            story.records(vec![event.clone()]);
            story.control('t');
            (0..detail).for_each(|_| story.key(KeyCode::Char('v')));
            is_harmless(&story);
        }
    }
}

#[test]
fn no_list_and_no_sentence_reaches_the_terminal_as_a_command() {
    let mut story = Story::connected();
    story.pods(&[hostile_pod("ada"), hostile_pod("bob")]);
    is_harmless(&story);
    story.happens(Message::Resolved { target: HOSTILE.into(), done: Err(refused(ErrorCode::PodNotFound, HOSTILE)) });
    is_harmless(&story);
    story.connection(Connection::Reconnecting { attempt: 1, cause: HOSTILE.into() });
    is_harmless(&story);
    story.connection(Connection::Connected);
    story.enters(":approvals");
    let approval = json!({ "id": "q1", "tool": HOSTILE, "arguments": { "path": HOSTILE, "new": HOSTILE, (HOSTILE): 1 },
        "asked_at": "2026-01-01T00:00:00Z" });
    let asked = Asked::Tool { pod: address("ada"), approval: serde_json::from_value(approval).unwrap() };
    story.happens(Message::Inbox(Ok(vec![asked])));
    is_harmless(&story);
}

#[test]
fn no_hit_of_a_search_reaches_the_terminal_as_a_command() {
    let mut story = Story::connected();
    story.enters(":search evil");
    let hit: SearchHit = serde_json::from_value(json!({ "pod": address("ada"), "name": "ada", "seq": 1,
        "kind": "message_finished", "snippet": HOSTILE }))
    .unwrap();
    story.happens(Message::Found { words: "evil".into(), done: Ok(vec![hit]) });
    is_harmless(&story);
}
