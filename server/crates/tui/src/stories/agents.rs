//! A Pod in which an agent answers: its plan, its modes and its own options.

use protocol::Decision;

use super::*;

fn offers() -> Value {
    json!({ "confined": false, "title": "Codex", "version": "1.2", "mode": "ask",
        "modes": [{ "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" }],
        "models": [{ "id": "small", "name": "Small" }], "model": "small",
        "commands": [{ "id": "review", "name": "review what", "description": "Looks at the changes" }],
        "plan": [{ "content": "look", "priority": "high", "status": "completed" },
            { "content": "mend", "priority": "high", "status": "in_progress" }],
        "beyond": ["It decides by itself what it asks you before it acts."] })
}

#[test]
fn what_an_agent_plans_offers_and_what_nobody_controls_is_one_sheet() {
    let mut story = Story::with_ada();
    story.enters(":agent");
    story.shows("no agent answers in this Pod");
    story.looked(json!({ "agent": "codex", "provider": "acp", "session": offers() }));
    story.shows("plan 1 of 2 done, now: mend");
    story.enters(":agent");
    for words in [
        "Codex · 1.2",
        "not confined",
        "✓ look",
        "▸ mend",
        "▸ ask",
        "/review  review what: Looks at the changes",
        "What yoi cannot control",
        "It decides by itself what it asks you before it acts.",
    ] {
        story.shows(words);
    }
    story.key(KeyCode::Esc);
    let done = json!([{ "content": "mend", "priority": "high", "status": "completed" }]);
    story.records(vec![json!({ "kind": "plan_updated", "entries": done })]);
    story.shows_not("now: mend");
}

#[test]
fn a_mode_is_completed_with_those_that_the_agent_offers() {
    let mut story = Story::with_ada();
    story.looked(json!({ "agent": "codex", "provider": "acp", "session": offers() }));
    story.types(":mode co");
    story.shows("Code");
    story.types("de");
    story.key(KeyCode::Enter);
    assert_eq!(story.act().1, Act::Mode("code".to_owned()));
}

#[test]
fn a_question_of_an_agent_is_answered_with_one_of_its_own_options() {
    let mut story = Story::with_ada_in("waiting");
    let option = |id: &str, kind: &str| json!({ "id": id, "name": id.to_uppercase(), "kind": kind });
    story.records(vec![
        json!({ "kind": "approval_asked", "id": "q1", "tool": "execute", "arguments": { "command": "rm x" },
        "options": [option("yes", "allow_once"), option("never", "reject_always")] }),
    ]);
    story.shows(":option never NEVER (reject_always)");
    story.enters(":option maybe");
    story.shows("it has no option \"maybe\"; there are yes, never");
    story.enters(":option never");
    let Act::Answer { approval, command } = story.act().1 else { panic!("{:?}", story.effects) };
    assert_eq!((approval.as_str(), command.decision, command.option.as_deref()), ("q1", Decision::Deny, Some("never")));
}

#[test]
fn an_agents_command_is_completed_after_a_slash_and_sent_as_a_message() {
    let mut story = Story::with_ada_in("idle");
    story.looked(json!({ "agent": "codex", "provider": "acp", "session": offers() }));
    story.types("/re");
    story.shows("/review what");
    story.shows("Looks at the changes");
    story.key(KeyCode::Enter);
    assert_eq!(story.composer(), "/review ");
    story.shows_not("Looks at the changes");
    story.types("all");
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!(message.segments, [protocol::Segment::text("/review all")]);

    let mut story = Story::with_ada_in("idle");
    story.looked(json!({ "agent": "codex", "provider": "acp", "session": offers() }));
    story.types("/review");
    story.key(KeyCode::Enter);
    assert!(matches!(&story.effects[..], [Effect::Send { .. }]), "what is complete is sent: {:?}", story.effects);
}
