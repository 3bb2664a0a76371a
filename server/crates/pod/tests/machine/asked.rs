//! What a tool's server asks while its call is running.

use pod::{Effect, Input, Refusal};
use protocol::{Decision, PodState};
use serde_json::{Value, json};

use crate::journal::*;

fn tell(call_id: &str, id: &str, content: Option<Value>) -> Effect {
    Effect::Tell { call_id: call_id.into(), id: id.into(), content }
}

fn given(id: &str, decision: Decision, content: Option<Value>) -> Input {
    Input::Answer { id: id.into(), decision, by: "operator".into(), reason: None, content, option: None }
}

/// Returns a Pod whose model's call is running while the server asks.
fn asking() -> (Journal, String) {
    let mut journal = waiting();
    journal.take(allow("call-b1")).unwrap();
    assert_eq!(journal.take(server_asks("call-b1", 1)).unwrap(), []);
    let id = journal.pod.approvals[0].id.clone();
    (journal, id)
}

#[test]
fn the_run_waits_and_only_the_server_gets_the_answer() {
    let content = Some(json!({ "name": "eve" }));
    for (decision, told) in [(Decision::Allow, content.clone()), (Decision::Deny, None)] {
        let (mut journal, id) = asking();
        assert_eq!((journal.pod.state, id.as_str()), (PodState::Waiting, "call-b1.ask1"));
        let open = &journal.pod.approvals[0];
        assert_eq!((open.asker(), open.form().unwrap()["type"].as_str()), (Some("call-b1"), Some("object")));
        assert_eq!(journal.last("approval_asked")["arguments"]["message"], "Who are you?");
        let effects = journal.take(given(&id, decision, content.clone())).unwrap();
        assert_eq!(effects, [tell("call-b1", &id, told)]);
        assert_eq!(journal.pod.state, PodState::Running);
        assert_eq!(journal.last("approval_answered").get("content"), None, "it is kept nowhere");
        assert_eq!(journal.take(allow(&id)).unwrap_err(), Refusal::AlreadyAnswered);
        assert_eq!(journal.take(ended("call-b1", "done")).unwrap(), [Effect::CallModel]);
    }
}

#[test]
fn a_call_that_ends_or_is_interrupted_withdraws_what_its_server_asked() {
    let (mut journal, id) = asking();
    assert_eq!(journal.take(server_asks("call-b1", 2)).unwrap(), []);
    assert_eq!(journal.pod.approvals.len(), 2);
    assert_eq!(journal.take(ended("call-b1", "gave up")).unwrap(), [Effect::CallModel]);
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Running, 0));
    assert_eq!(journal.take(allow(&id)).unwrap_err(), Refusal::AlreadyAnswered);
    for input in [Input::Pause, Input::Cancel, Input::Stop] {
        let (mut journal, _) = asking();
        journal.take(input).unwrap();
        assert!(journal.pod.approvals.is_empty() && journal.pod.calls.is_empty());
    }
    let (mut journal, _) = asking();
    journal.crash();
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Paused, 0));
}

#[test]
fn what_a_person_runs_asks_without_holding_a_run_up_and_nobody_asks_for_a_call_that_is_over() {
    let mut journal = running();
    journal.take(Input::OperatorCall { name: "files__read".into(), arguments: json!({}) }).unwrap();
    let call_id = journal.pod.operator_calls[0].call_id.clone();
    assert_eq!(journal.take(server_asks(&call_id, 1)).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Running);
    assert!(journal.pod.needs_you());
    let id = journal.pod.approvals[0].id.clone();
    let content = Some(json!({ "name": "eve" }));
    let effects = journal.take(given(&id, Decision::Allow, content.clone())).unwrap();
    assert_eq!(effects, [tell(&call_id, &id, content)]);
    journal.take(ended(&call_id, "done")).unwrap();
    assert_eq!(journal.take(server_asks(&call_id, 2)).unwrap(), []);
    assert!(journal.pod.approvals.is_empty());
}
