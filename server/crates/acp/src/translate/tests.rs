use serde_json::json;

use super::*;

/// Translates these updates one after the other.
fn said(updates: &[Value]) -> Vec<Said> {
    let (mut translator, mut offered) = (Translator::default(), Offered::default());
    let mut said = Vec::new();
    for raw in updates {
        let update = serde_json::from_value(raw.clone()).unwrap();
        said.extend(translator.update(update, raw, &mut offered));
    }
    said
}

fn piece(piece: AgentPiece) -> Said {
    piece.into()
}

/// Returns the pieces that are neither text nor thoughts.
fn pieces(said: Vec<Said>) -> Vec<AgentPiece> {
    said.into_iter().filter_map(|said| if let Said::Piece(piece) = said { Some(*piece) } else { None }).collect()
}

#[test]
fn text_thoughts_plans_and_modes_are_pieces_and_what_the_person_said_is_none() {
    let text = |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    let plan = json!({ "sessionUpdate": "plan", "entries": [
        { "content": "look", "priority": "high", "status": "completed" },
        { "content": "mend", "priority": "low", "status": "in_progress" },
    ] });
    let entries = json!([
        { "content": "look", "priority": "high", "status": "completed" },
        { "content": "mend", "priority": "low", "status": "in_progress" },
    ]);
    let said = said(&[
        text("user_message_chunk", "do it"),
        text("agent_thought_chunk", "hm"),
        text("agent_message_chunk", "yes"),
        plan,
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" }),
    ]);
    assert_eq!(
        said,
        [
            Said::Thought("hm".to_owned()),
            Said::Text("yes".to_owned()),
            piece(AgentPiece::Plan(entries)),
            piece(AgentPiece::Mode("code".to_owned())),
        ]
    );
}

#[test]
fn a_call_begins_when_something_is_known_of_it_grows_and_ends_with_its_diff() {
    let said = said(&[
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Edit a.txt", "kind": "edit", "status": "pending" }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress",
            "rawInput": { "file_path": "/w/a.txt" }, "locations": [{ "path": "/w/a.txt", "line": 3 }] }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1",
            "content": [{ "type": "content", "content": { "type": "text", "text": "one" } }] }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1",
            "content": [{ "type": "content", "content": { "type": "text", "text": "one two" } }] }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed",
            "content": [{ "type": "diff", "path": "/w/a.txt", "oldText": "a\n", "newText": "b\n" }] }),
    ]);
    let id = || "t1".to_owned();
    let arguments = json!({ "file_path": "/w/a.txt", "path": "/w/a.txt", "title": "Edit a.txt",
        "locations": [{ "path": "/w/a.txt", "line": 3 }] });
    let diff = "--- a//w/a.txt\n+++ b//w/a.txt\n@@ -1 +1 @@\n-a\n+b\n".to_owned();
    let outcome = pod::ToolOutcome { diff: Some(diff), ..pod::ToolOutcome::done("Edit a.txt") };
    assert_eq!(
        said,
        [
            piece(AgentPiece::Called { id: id(), name: "edit".to_owned(), arguments }),
            piece(AgentPiece::Output { id: id(), text: "one".to_owned() }),
            piece(AgentPiece::Output { id: id(), text: " two".to_owned() }),
            piece(AgentPiece::Finished { id: id(), outcome }),
        ]
    );
}

#[test]
fn a_command_is_told_by_its_line_wherever_the_agent_has_it_and_its_own_terminal_grows() {
    let table = [
        (json!({ "command": "ls -l" }), "run", "ls -l"),
        (json!({ "command": ["ls", "-l"] }), "run", "ls -l"),
        (json!({ "x": 1 }), "`ls -l`", "ls -l"),
    ];
    for (input, title, line) in table {
        let said = pieces(said(&[
            json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": title, "kind": "execute",
                "status": "in_progress", "rawInput": input }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t",
                "_meta": { "terminal_output": { "terminal_id": "t", "data": "total 0\n" } } }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed" }),
        ]));
        let [AgentPiece::Called { arguments, .. }, output, AgentPiece::Finished { outcome, .. }] = &said[..] else {
            panic!("{said:?}")
        };
        assert_eq!(arguments["command"], line);
        assert_eq!(output, &AgentPiece::Output { id: "t".to_owned(), text: "total 0\n".to_owned() });
        assert!(outcome.is_error);
        assert_eq!(outcome.content.as_deref(), Some("total 0\n"));
    }
}

#[test]
fn a_question_comes_behind_its_call_and_has_the_agents_own_options() {
    let mut translator = Translator::default();
    let params = json!({ "sessionId": "s",
        "toolCall": { "toolCallId": "t", "title": "rm -rf", "kind": "execute", "rawInput": { "command": "rm -rf /" } },
        "options": [
            { "optionId": "y", "name": "Yes", "kind": "allow_once" },
            { "optionId": "n", "name": "No", "kind": "reject_once" },
            { "optionId": "?", "name": "What", "kind": "perhaps" },
        ] });
    let said = translator.asked("4", &params).unwrap();
    let arguments = json!({ "command": "rm -rf /", "title": "rm -rf" });
    let option = |id: &str, name: &str, kind: &str| AgentOption {
        id: id.to_owned(),
        name: name.to_owned(),
        kind: kind.to_owned(),
    };
    assert_eq!(
        said,
        [
            piece(AgentPiece::Called { id: "t".to_owned(), name: "execute".to_owned(), arguments: arguments.clone() }),
            piece(AgentPiece::Asked {
                ask: "4".to_owned(),
                id: "t".to_owned(),
                tool: "execute".to_owned(),
                arguments,
                options: vec![option("y", "Yes", "allow_once"), option("n", "No", "reject_once")],
            }),
        ]
    );
    assert!(translator.asked("5", &json!({ "toolCall": { "toolCallId": "t" }, "options": [] })).is_err());
    assert!(translator.asked("6", &json!({ "toolCall": 3, "options": params["options"] })).is_err());
}

#[test]
fn an_agent_has_no_call_with_an_id_of_yois_own_and_a_flood_of_calls_ends() {
    let call = |id: &str| json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "x", "kind": "other", "status": "in_progress" });
    let one = pieces(said(&[call("yoi-1")]));
    assert!(matches!(&one[..], [AgentPiece::Called { id, .. }] if id == "agent-yoi-1"));
    let many: Vec<_> = (0..1_000).map(|at| call(&format!("t{at}"))).collect();
    assert_eq!(said(&many).len(), 64);
}

#[test]
fn what_a_session_cost_is_told_as_what_came_to_it() {
    let (mut translator, mut offered) = (Translator::default(), Offered::default());
    let mut turn = |amount: f64| {
        translator.begin_turn();
        let raw = json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100,
            "cost": { "amount": amount, "currency": "USD" } });
        translator.update(serde_json::from_value(raw.clone()).unwrap(), &raw, &mut offered);
        translator.end_turn(&json!({ "usage": { "inputTokens": 5, "outputTokens": 2, "cachedReadTokens": 3 } }))
    };
    let usage = |cost: &str| Usage {
        input: 8,
        cached: 3,
        output: 2,
        context_used: 10,
        context_limit: 100,
        cost: Some(cost.parse().unwrap()),
        ..Usage::default()
    };
    assert_eq!(turn(0.5), [piece(AgentPiece::Usage(usage("0.5")))]);
    assert_eq!(turn(0.75), [piece(AgentPiece::Usage(usage("0.25")))]);
    assert_eq!(turn(0.1), [piece(AgentPiece::Usage(usage("0.1")))], "a sum that is smaller begins anew");
}

#[test]
fn a_session_that_is_gone_on_with_is_not_paid_for_twice_and_money_keeps_its_currency() {
    let update = |amount: f64, currency: &str| json!({ "sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": { "amount": amount, "currency": currency } });
    let cost = |spent: Priced, raw: Value| {
        let (mut translator, mut offered) = (Translator::new(spent), Offered::default());
        translator.update(serde_json::from_value(raw.clone()).unwrap(), &raw, &mut offered);
        let said = pieces(translator.end_turn(&Value::Null));
        let [AgentPiece::Usage(usage)] = &said[..] else { panic!("{said:?}") };
        (usage.cost.map(|cost| cost.to_string()), usage.currency.map(|currency| currency.to_string()))
    };
    let two = (Some("2".parse().unwrap()), None);
    assert_eq!(cost(two, update(2.5, "USD")), (Some("0.5".to_owned()), None));
    assert_eq!(cost(two, update(2.5, "EUR")), (Some("2.5".to_owned()), Some("EUR".to_owned())));
    for nonsense in [update(2.5, "credits"), update(-1.0, "USD"), update(1e300, "USD")] {
        assert_eq!(cost(two, nonsense), (None, None));
    }
}

#[test]
fn what_is_kept_of_a_call_is_bounded_and_says_what_is_missing() {
    let text = |bytes: usize| json!({ "type": "content", "content": { "type": "text", "text": "x".repeat(bytes) } });
    let said = pieces(said(&[
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "kind": "other", "status": "in_progress",
            "rawInput": { "much": "y".repeat(1_000_000) } }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed",
            "content": [text(1_000_000), text(1_000_000), text(1_000_000), text(1_000_000)] }),
    ]));
    let [AgentPiece::Called { arguments, .. }, AgentPiece::Finished { outcome, .. }] = &said[..] else {
        panic!("{} pieces", said.len())
    };
    assert!(arguments.to_string().len() < 70_000);
    let content = outcome.content.as_ref().unwrap();
    assert!(content.len() < 300_000 && content.ends_with("bytes left out]"), "{}", content.len());
}
