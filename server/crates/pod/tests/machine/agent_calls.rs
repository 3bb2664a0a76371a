//! Calls that the Pod's agent makes through our MCP server: outside its run, and decided by the Pod's rules.

use pod::{Effect, Input, Refusal};
use protocol::{PodState, ToolBy};
use serde_json::{Value, json};

use crate::journal::*;

fn agent_call(name: &str) -> Input {
    Input::AgentCall { name: name.to_owned(), arguments: json!({}) }
}

fn runs(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::RunTool { by: ToolBy::Agent, .. }])
}

/// An agent's call that waits for an approval, in the middle of a run.
fn asked() -> (Journal, String) {
    let mut journal = running();
    assert_eq!(journal.take(agent_call("Bash")).unwrap(), []);
    let id = journal.pod.approvals[0].id.clone();
    (journal, id)
}

#[test]
fn what_is_allowed_runs_beside_the_run_and_is_no_part_of_the_context() {
    let mut journal = running();
    let before = journal.said();
    assert!(runs(&journal.take(agent_call("Read")).unwrap()));
    let call_id = journal.last_call();
    assert_eq!(
        (&journal.last("tool_called")["by"], journal.last_record("tool_called").run_id.as_deref()),
        (&json!("agent"), None)
    );
    assert_eq!(journal.take(ended(&call_id, "seen")).unwrap(), [], "the model is not asked for it");
    assert_eq!(journal.last("tool_finished")["by"], "agent");
    assert_eq!((journal.said(), journal.pod.state), (before, PodState::Running));
    assert!(journal.pod.operator_calls.is_empty());
}

#[test]
fn what_is_asked_for_waits_for_a_person_and_holds_no_run_up() {
    let (journal, _) = asked();
    assert_eq!((journal.pod.state, journal.pod.needs_you()), (PodState::Running, true));
    let mut journal = journal.all([text("hi"), finished()]);
    assert_eq!((journal.pod.state, journal.pod.shown_state()), (PodState::Idle, PodState::Waiting));
    let id = journal.pod.approvals[0].id.clone();
    assert!(runs(&journal.take(allow(&id)).unwrap()));
    assert_eq!(journal.take(allow(&id)).unwrap_err(), Refusal::AlreadyAnswered);
    journal.take(ended(&id, "done")).unwrap();
    assert_eq!((journal.pod.shown_state(), journal.pod.operator_calls.len()), (PodState::Idle, 0));

    let (mut journal, id) = asked();
    assert_eq!(journal.take(deny(&id)).unwrap(), []);
    assert_eq!(journal.last("tool_finished")["code"], "permission_denied");
    assert_eq!(journal.pod.state, PodState::Running);
}

#[test]
fn what_a_rule_denies_does_not_run() {
    let journal = running();
    let rules = json!([{ "tool": "Read", "decision": "deny" }]);
    let spec = pod::PodSpec { permissions: serde_json::from_value(rules).unwrap(), ..spec() };
    let decision = pod::decide(&journal.pod, &spec, agent_call("Read")).unwrap();
    assert_eq!((decision.effects.len(), decision.steps.len()), (0, 2));
    assert_eq!(json!(decision.steps[1].event)["code"], "permission_denied");
}

#[test]
fn a_question_is_withdrawn_with_its_run_its_pod_and_the_server() {
    for (input, code) in [(Input::Cancel, "cancelled"), (Input::Stop, "cancelled")] {
        let (mut journal, id) = asked();
        journal.take(input).unwrap();
        assert_eq!(journal.last("approval_answered")["decision"], Value::Null);
        assert_eq!(journal.last("tool_finished")["code"], code);
        assert!(journal.pod.approvals.is_empty() && journal.pod.operator_calls.is_empty());
        assert!(journal.take(allow(&id)).is_err());
    }
    let (mut journal, _) = asked();
    journal.crash();
    assert!(journal.pod.approvals.is_empty() && journal.pod.operator_calls.is_empty());
    assert_eq!(journal.last("tool_finished")["by"], "agent");
}

#[test]
fn an_agents_call_is_as_far_from_a_person_as_its_pod() {
    let mut journal = running();
    journal.pod.hops = 3;
    journal.take(agent_call("Read")).unwrap();
    assert_eq!(journal.pod.hops_of_call(&journal.last_call()), 3);
    journal.take(operator_call("Read")).unwrap();
    assert_eq!(journal.pod.hops_of_call(&journal.last_call()), 0);
}

#[test]
fn no_more_calls_wait_at_once_than_a_person_could_look_at() {
    let mut journal = running();
    for _ in 0..64 {
        journal.take(agent_call("Bash")).unwrap();
    }
    assert_eq!(journal.take(agent_call("Read")).unwrap_err(), Refusal::Busy);
}
