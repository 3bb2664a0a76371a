//! What a restart adds to a journal that a crash left open.

use pod::{Decision, Effect, Input, recover};
use protocol::PodState;

use crate::journal::*;

#[test]
fn a_crash_closes_the_block_with_its_text_and_pauses() {
    let mut journal = running().all([text("half an")]);
    let (run_id, head) = (journal.pod.run_id(), journal.pod.head);
    journal.crash();
    assert_eq!(journal.kinds_after(head), ["message_finished", "run_finished", "status"]);
    let closed = journal.records.iter().filter(|record| record.seq > head);
    assert!(closed.into_iter().all(|record| record.run_id == run_id));
    assert_eq!(journal.last("message_finished")["interrupted"], true);
    assert_eq!(journal.last("run_finished")["outcome"], "interrupted");
    assert_eq!(journal.pod.state, PodState::Paused);
    assert!(journal.pod.needs_you());
    assert_eq!(recover(&journal.pod, |_| None, |_| None), Decision::default());
    assert_eq!(journal.take(resume()).unwrap(), [Effect::CallModel]);
}

#[test]
fn a_pod_at_rest_needs_nothing() {
    for mut journal in [Journal::default(), idle(), paused(), stopped(), waiting(), waiting().all([Input::Pause])] {
        let head = journal.pod.head;
        journal.crash();
        assert_eq!(journal.pod.head, head);
    }
}

#[test]
fn an_open_question_survives_and_an_answer_goes_on() {
    let mut journal = waiting();
    journal.crash();
    assert_eq!(journal.pod.state, PodState::Waiting);
    let run_id = journal.pod.run_id();
    assert_eq!(journal.take(allow("call-b1")).unwrap(), [run_tool("call-b1", "Bash")]);
    assert_eq!(journal.take(ended("call-b1", "ran")).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.last_record("tool_finished").run_id, run_id);
}

#[test]
fn what_ran_beside_a_question_is_unknown_and_the_question_stays() {
    let mut journal = waiting_beside_a_call().all([allow("call-b3")]);
    let head = journal.pod.head;
    journal.crash();
    assert_eq!(journal.kinds_after(head), ["tool_finished", "tool_finished"]);
    assert_eq!(journal.last("tool_finished")["code"], "unknown");
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Waiting, 1));
    assert_eq!(journal.take(deny("call-b1")).unwrap(), [Effect::CallModel]);
}

#[test]
fn what_was_allowed_while_paused_still_runs_when_the_pod_goes_on() {
    let mut journal = waiting().all([Input::Pause, allow("call-b1")]);
    journal.crash();
    assert_eq!(journal.take(resume()).unwrap(), [run_tool("call-b1", "Bash")]);
}

#[test]
fn a_call_that_ran_is_unknown_and_so_is_a_persons() {
    let mut journal = running().all([call("Read"), finished(), operator_call("Bash"), output("call-b2", "half")]);
    let head = journal.pod.head;
    journal.crash();
    assert_eq!(journal.kinds_after(head), ["tool_finished", "tool_finished", "run_finished", "status"]);
    let codes = journal.records.iter().filter(|record| record.event.kind() == "tool_finished");
    assert!(codes.into_iter().all(|record| serde_json::to_value(&record.event).unwrap()["code"] == "unknown"));
    assert!(journal.pod.calls.is_empty() && journal.pod.operator_calls.is_empty());
    assert_eq!(journal.pod.state, PodState::Paused);
}

#[test]
fn a_persons_call_is_closed_where_nothing_else_went_on_and_the_state_stays() {
    for journal in [idle(), paused(), waiting()] {
        let state = journal.pod.state;
        let mut journal = journal.all([operator_call("Bash")]);
        assert!(journal.pod.is_open());
        journal.crash();
        assert_eq!(journal.pod.state, state);
        assert!(journal.pod.operator_calls.is_empty());
        assert_eq!(journal.last_record("tool_finished").run_id, None);
    }
}

#[test]
fn a_summary_that_was_being_made_is_given_up() {
    for (make, state) in [(idle(), PodState::Idle), (waiting().all([Input::Pause]), PodState::Paused)] {
        let mut journal = make.all([Input::Compact]);
        assert!(journal.pod.is_open());
        journal.crash();
        assert_eq!((journal.pod.state, journal.pod.compacting_from), (state, None));
    }
    let mut journal = full().all([ask("next")]);
    journal.crash();
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(journal.take(resume()).unwrap(), [Effect::Summarise]);
}
