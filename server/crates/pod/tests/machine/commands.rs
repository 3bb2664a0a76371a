//! Which command is accepted in which state.

use pod::Input;
use protocol::Seq;

use crate::journal::*;

#[test]
fn every_command_is_taken_or_refused_by_state() {
    type Make = fn() -> Journal;
    let states: [(&str, Make); 6] = [
        ("idle", idle),
        ("running", running),
        ("paused", paused),
        ("waiting", waiting),
        ("stopped", stopped),
        ("compacting", || idle().all([Input::Compact])),
    ];
    let outcome = |make: Make, input: fn(&Journal) -> Input| {
        let mut journal = make();
        let input = input(&journal);
        match journal.take(input) {
            Ok(_) => journal.pod.state.as_str().to_owned(),
            Err(refusal) => refusal.code().as_str().to_owned(),
        }
    };
    type Command = (&'static str, fn(&Journal) -> Input, [&'static str; 6]);
    let commands: [Command; 10] = [
        ("submit", |_| submit(), ["running", "busy", "running", "busy", "not_live", "busy"]),
        ("pause", |_| Input::Pause, ["not_running", "paused", "paused", "paused", "not_live", "idle"]),
        ("resume", |_| resume(), ["not_paused", "not_paused", "running", "not_paused", "not_live", "not_paused"]),
        ("cancel", |_| Input::Cancel, ["not_running", "idle", "idle", "idle", "not_live", "idle"]),
        ("stop", |_| Input::Stop, ["stopped", "stopped", "stopped", "stopped", "stopped", "stopped"]),
        ("restore", |_| Input::Restore, ["idle", "running", "paused", "waiting", "idle", "running"]),
        ("compact", |_| Input::Compact, ["running", "busy", "running", "busy", "not_live", "busy"]),
        ("rewind", |journal| rewind(journal, Seq(1)), ["idle", "busy", "idle", "busy", "not_live", "busy"]),
        ("mail", |_| mail([peer("x")]), ["running", "running", "paused", "waiting", "not_live", "running"]),
        ("tool", |_| operator_call("Read"), ["idle", "running", "paused", "waiting", "not_live", "running"]),
    ];
    for (name, input, expected) in commands {
        for ((state, make), expected) in states.into_iter().zip(expected) {
            assert_eq!(outcome(make, input), expected, "{name} while {state}");
        }
    }
}

#[test]
fn a_refused_command_leaves_no_trace() {
    for (mut journal, input) in [(running(), submit()), (waiting(), Input::Compact), (stopped(), Input::Pause)] {
        let before = journal.clone();
        journal.take(input).unwrap_err();
        assert_eq!((journal.pod, journal.records), (before.pod, before.records));
    }
}

#[test]
fn a_pod_that_was_stopped_in_mid_run_is_paused_when_it_is_back_and_else_idle() {
    for (journal, expected) in
        [(idle(), "idle"), (running(), "paused"), (paused(), "paused"), (waiting(), "paused"), (stopped(), "idle")]
    {
        let journal = journal.all([Input::Stop, Input::Restore]);
        assert_eq!(journal.pod.state.as_str(), expected);
        assert!(journal.pod.calls.is_empty() && journal.pod.approvals.is_empty());
    }
}
