//! Network access that commands request while they run.

use pod::{Effect, Input, Refusal};
use protocol::{NetworkPolicy, PodState};
use serde_json::json;

use crate::journal::*;

fn wish(call_id: &str) -> Input {
    Input::WayOut { call_id: call_id.into(), host: "crates.io".into(), port: 443 }
}

fn let_out(call_id: &str, is_allowed: bool) -> Effect {
    Effect::LetOut { call_id: call_id.into(), host: "crates.io".into(), port: 443, is_allowed }
}

/// The model's command runs, and asks.
fn asking() -> (Journal, String) {
    let mut journal = waiting();
    journal.take(allow("call-b1")).unwrap();
    assert_eq!(journal.take(wish("call-b1")).unwrap(), []);
    let id = journal.pod.approvals[0].id.clone();
    (journal, id)
}

#[test]
fn a_command_that_wants_out_makes_the_run_wait_and_goes_on_with_the_answer() {
    for (answer, is_allowed) in [(allow as fn(&str) -> Input, true), (deny, false)] {
        let (mut journal, id) = asking();
        assert_eq!(journal.pod.state, PodState::Waiting);
        assert_eq!(journal.pod.approvals[0].asker(), Some("call-b1"));
        assert_eq!(journal.last("approval_asked")["tool"], "Network");
        let asked = &journal.last("approval_asked")["arguments"];
        assert_eq!((&asked["host"], &asked["port"]), (&json!("crates.io"), &json!(443)));
        assert_eq!(journal.take(answer(&id)).unwrap(), [let_out("call-b1", is_allowed)]);
        assert_eq!(journal.pod.state, PodState::Running);
        assert_eq!(journal.take(answer(&id)).unwrap_err(), Refusal::AlreadyAnswered);
        assert_eq!(journal.take(ended("call-b1", "done")).unwrap(), [Effect::CallModel]);
    }
}

#[test]
fn a_command_that_ends_withdraws_what_it_asked() {
    let (mut journal, id) = asking();
    assert_eq!(journal.take(ended("call-b1", "timed out")).unwrap(), [Effect::CallModel]);
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Running, 0));
    assert_eq!(journal.last("approval_answered")["decision"], json!(null));
    assert_eq!(journal.take(allow(&id)).unwrap_err(), Refusal::AlreadyAnswered);
    for input in [Input::Pause, Input::Cancel, Input::Stop] {
        let (mut journal, _) = asking();
        journal.take(input).unwrap();
        assert!(journal.pod.approvals.is_empty() && journal.pod.calls.is_empty());
    }
}

#[test]
fn a_restart_withdraws_it_and_interrupts_the_run() {
    let (mut journal, _) = asking();
    journal.crash();
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Paused, 0));
    assert!(journal.pod.run.is_none());
}

#[test]
fn what_a_person_runs_asks_without_holding_a_run_up() {
    let mut journal = running();
    let by_hand = Input::OperatorCall { name: "Bash".into(), arguments: json!({ "command": "curl" }) };
    journal.take(by_hand).unwrap();
    let call_id = journal.pod.operator_calls[0].call_id.clone();
    assert_eq!(journal.take(wish(&call_id)).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Running);
    assert!(journal.pod.needs_you());
    let id = journal.pod.approvals[0].id.clone();
    // The run ends normally, and another begins.
    journal = journal.all([text("hi"), finished()]);
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Idle, 1));
    assert_eq!(journal.take(allow(&id)).unwrap(), [let_out(&call_id, true)]);
    assert_eq!(journal.pod.state, PodState::Idle);
    // A finished call sends nothing.
    journal.take(ended(&call_id, "done")).unwrap();
    assert_eq!(journal.take(wish(&call_id)).unwrap(), []);
    assert!(journal.pod.approvals.is_empty());
}

#[test]
fn of_all_up_the_line_the_least_network_counts() {
    use NetworkPolicy::{Ask, None, Open};
    let mut spec = pod::PodSpec { network: Open, ..crate::journal::spec() };
    assert_eq!(spec.network_now(), Open);
    let leader = |network| pod::Leader { cwd: "/".into(), permissions: Vec::new(), network, mode: protocol::Mode::Ask };
    spec.leaders = Some(vec![leader(Open), leader(Ask)]);
    assert_eq!(spec.network_now(), Ask);
    spec.leaders = Some(vec![leader(None), leader(Open)]);
    assert_eq!(spec.network_now(), None);
}
