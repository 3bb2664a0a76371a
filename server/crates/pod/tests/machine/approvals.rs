//! Approvals, and what their answers do.

use pod::{Effect, Input, Refusal};
use protocol::PodState;
use serde_json::json;

use crate::journal::*;

#[test]
fn a_denied_call_is_answered_and_the_model_is_asked_again() {
    let mut journal = running().all([call("Rm")]);
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.last("tool_finished")["code"], "permission_denied");
}

#[test]
fn an_allowed_call_runs_and_the_first_answer_wins() {
    let mut journal = waiting();
    assert_eq!(journal.take(allow("call-b1")).unwrap(), [run_tool("call-b1", "Bash")]);
    assert_eq!(journal.take(deny("call-b1")).unwrap_err(), Refusal::AlreadyAnswered);
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(journal.take(ended("call-b1", "done")).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), ["user: hello", "model:  [Bash]", "result: done"]);
}

#[test]
fn a_person_who_denies_may_say_why() {
    let mut journal = waiting();
    let Input::Answer { id, decision, by, .. } = deny("call-b1") else { unreachable!() };
    let input = Input::Answer { id, decision, by, reason: Some("too loud".into()), content: None, option: None };
    assert_eq!(journal.take(input).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said()[2], "result: a person denied it: too loud");
    let answer = journal.last("approval_answered");
    assert_eq!((&answer["decision"], &answer["reason"]), (&json!("deny"), &json!("too loud")));
}

#[test]
fn the_model_is_asked_when_the_last_question_is_answered_and_the_last_call_has_ended() {
    // Calls that need no approval run meanwhile.
    let mut journal = running().all([call("Bash"), call("Read"), call("Write")]);
    assert_eq!(journal.take(finished()).unwrap(), [run_tool("call-b2", "Read")]);
    assert_eq!(journal.take(ended("call-b2", "read")).unwrap(), []);
    assert_eq!(journal.take(allow("call-b1")).unwrap(), [run_tool("call-b1", "Bash")]);
    assert_eq!(journal.take(ended("call-b1", "ran")).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Waiting);
    assert_eq!(journal.take(deny("call-b3")).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(
        journal.said()[1..],
        ["model:  [Bash Read Write]", "result: read", "result: ran", "result: a person denied it"]
    );
}

#[test]
fn a_pause_closes_what_runs_and_keeps_the_questions() {
    let mut journal = waiting_beside_a_call();
    assert_eq!(journal.take(Input::Pause).unwrap(), [Effect::Abort]);
    assert_eq!(journal.last("tool_finished")["call_id"], "call-b2");
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Paused, 2));
    assert!(journal.pod.needs_you(), "a question is open, so a person has to look");
    assert_eq!(journal.take(resume()).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Waiting);
}

#[test]
fn what_is_allowed_while_paused_runs_when_the_pod_goes_on() {
    let mut journal = waiting_beside_a_call().all([Input::Pause]);
    assert_eq!(journal.take(allow("call-b1")).unwrap(), []);
    assert_eq!(journal.take(allow("call-b1")).unwrap_err(), Refusal::AlreadyAnswered);
    assert_eq!(journal.pod.state, PodState::Paused);
    // Another approval is still open.
    assert_eq!(journal.take(resume()).unwrap(), [run_tool("call-b1", "Bash")]);
    assert_eq!(journal.pod.state, PodState::Waiting);
    assert_eq!(journal.take(deny("call-b3")).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(journal.take(ended("call-b1", "ran")).unwrap(), [Effect::CallModel]);
}

#[test]
fn output_of_a_call_that_has_not_begun_is_nothing() {
    let mut journal = waiting();
    let steps = |journal: &Journal| journal.records.len();
    let before = steps(&journal);
    assert_eq!(journal.take(output("call-b1", "so far")).unwrap(), []);
    assert_eq!(steps(&journal), before, "it waits for an answer");
    let mut journal = journal.all([Input::Pause, allow("call-b1")]);
    let before = steps(&journal);
    assert_eq!(journal.take(output("call-b1", "so far")).unwrap(), []);
    assert_eq!(steps(&journal), before, "it waits for the Pod to go on");
    let mut journal = journal.all([resume()]);
    journal.take(output("call-b1", "so far")).unwrap();
    assert_eq!(journal.last("tool_output_chunk")["text"], "so far");
}

#[test]
fn when_all_are_denied_while_paused_the_model_is_asked_at_resume() {
    let mut journal = waiting().all([Input::Pause]);
    assert_eq!(journal.take(deny("call-b1")).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(journal.take(resume()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said()[2], "result: a person denied it");
}

#[test]
fn an_answer_counts_while_a_paused_pod_is_compacting_and_waits_like_it() {
    for (answer, effects) in
        [(allow("call-b1"), vec![run_tool("call-b1", "Bash")]), (deny("call-b1"), vec![Effect::CallModel])]
    {
        let mut journal = waiting().all([Input::Pause, Input::Compact]);
        assert_eq!(journal.take(answer).unwrap(), []);
        assert_eq!(journal.take(no_summary()).unwrap(), []);
        assert_eq!((journal.pod.state, journal.pod.compacting_from), (PodState::Paused, None));
        assert_eq!(journal.take(resume()).unwrap(), effects);
    }
}

#[test]
fn a_question_is_void_once_its_run_is_discarded() {
    type Case = (&'static str, fn(&Journal) -> Input);
    let ways: [Case; 2] = [("cancel", |_| Input::Cancel), ("stop", |_| Input::Stop)];
    let after_pause: [Case; 4] =
        [ways[0], ways[1], ("submit", |_| submit()), ("rewind", |journal| rewind(journal, journal.pod.head))];
    let waiting_cases = ways.map(|way| (waiting_beside_a_call(), way));
    let paused_cases = after_pause.map(|way| (waiting_beside_a_call().all([Input::Pause, allow("call-b3")]), way));
    for (mut journal, (name, input)) in waiting_cases.into_iter().chain(paused_cases) {
        let input = input(&journal);
        journal.take(input).unwrap();
        assert_eq!(journal.take(allow("call-b1")).unwrap_err(), Refusal::AlreadyAnswered, "{name}");
        assert!(journal.pod.calls.is_empty(), "{name}: every call has a result");
        let answer = &journal.last("approval_answered");
        assert!(answer.get("decision").is_none() && answer["reason"].is_string(), "{name}: {answer}");
    }
}

#[test]
fn a_pod_that_was_stopped_while_it_was_paused_with_a_question_can_go_on() {
    let mut journal = waiting_beside_a_call().all([Input::Pause, allow("call-b1"), Input::Stop, Input::Restore]);
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(journal.take(resume()).unwrap(), [Effect::CallModel]);
}
