//! Messages of peers and news of children: when they enter the context, and which run they begin.

use pod::{Effect, Input};
use protocol::PodState;

use crate::journal::*;

const PSST: &str = "user: [peer message from bob] / psst";
const NEWS: &str = "user: [child event] / kid turn ended";

#[test]
fn an_idle_pod_begins_a_run_for_it_and_its_model_reads_all_of_it() {
    for (events, trigger) in [(vec![child()], "child"), (vec![child(), peer("psst")], "peer")] {
        let count = events.len();
        let mut journal = idle();
        assert_eq!(journal.take(mail(events)).unwrap(), [Effect::CallModel]);
        assert_eq!(journal.last("run_started")["trigger"], trigger);
        assert_eq!(journal.said()[2..], [NEWS, PSST][..count]);
        assert_eq!(journal.last_record("child_event").run_id, journal.pod.run_id());
        let journal = journal.all([text("ok"), finished()]);
        assert_eq!(journal.pod.state, PodState::Idle, "what was read begins no further run");
    }
}

#[test]
fn mail_that_does_not_wake_lies_before_the_next_message() {
    let mut journal = idle();
    let quiet = Input::Mail { events: vec![peer("psst")], wakes: false };
    assert_eq!(journal.take(quiet).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.last_record("peer_message").run_id, None);
    let journal = journal.all([ask("well?")]);
    assert_eq!(journal.said()[2..], [PSST, "user: well?"]);
}

#[test]
fn no_mail_is_no_run() {
    let mut journal = idle();
    let before = journal.records.len();
    assert_eq!(journal.take(mail([])).unwrap(), []);
    assert_eq!(journal.records.len(), before);
}

#[test]
fn mail_in_mid_answer_stands_behind_that_answer_and_is_read_in_a_run_at_once() {
    let mut journal = running().all([text("so")]);
    assert_eq!(journal.take(mail([peer("psst")])).unwrap(), []);
    journal.take(text(" far")).unwrap();
    journal.take(mail([child()])).unwrap();
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), ["user: hello", "model: so far", PSST, NEWS]);
    assert_eq!(journal.last("run_started")["trigger"], "child");
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(journal.states()[journal.states().len() - 2..], [PodState::Running, PodState::Running]);
    let journal = journal.all([text("I see"), finished()]);
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.said()[4..], ["model: I see"]);
}

#[test]
fn news_of_a_child_alone_begin_a_run_of_their_kind() {
    let mut journal = running().all([mail([child()]), text("hi")]);
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.last("run_started")["trigger"], "child");
}

#[test]
fn mail_among_calls_stands_behind_the_last_result_and_needs_no_run_of_its_own() {
    let journal = running().all([
        text("look"),
        call("Read"),
        mail([peer("psst")]),
        call("Grep"),
        finished(),
        ended("call-b3", "two"),
        mail([child()]),
        ended("call-b2", "one"),
    ]);
    assert_eq!(journal.said(), ["user: hello", "model: look [Read Grep]", "result: two", "result: one", PSST, NEWS]);
    let journal = journal.all([text("done"), finished()]);
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.said()[6..], ["model: done"]);
}

#[test]
fn mail_while_the_model_answers_to_results_stands_behind_that_answer() {
    let journal = running().all([call("Read"), finished(), ended("call-b1", "one"), mail([peer("psst")]), text("a")]);
    let journal = journal.all([call("Grep"), finished(), ended("call-b3", "two")]);
    assert_eq!(journal.said()[2..], ["result: one", "model: a [Grep]", "result: two", PSST]);
}

#[test]
fn mail_while_paused_is_there_and_read_when_the_pod_goes_on() {
    let mut journal = paused();
    assert_eq!(journal.take(mail([peer("psst")])).unwrap(), []);
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(journal.said(), ["user: hello", PSST]);
    assert_eq!(journal.take(resume()).unwrap(), [Effect::CallModel]);
    let journal = journal.all([text("ok"), finished()]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn mail_while_waiting_stands_behind_the_result_even_when_the_pod_was_paused_in_between() {
    let at_once = waiting().all([mail([peer("psst")]), allow("call-b1"), ended("call-b1", "done")]);
    let paused =
        waiting().all([Input::Pause, mail([peer("psst")]), resume(), allow("call-b1"), ended("call-b1", "done")]);
    let denied_in_between = waiting().all([mail([peer("psst")]), Input::Pause, deny("call-b1"), resume()]);
    for (journal, result) in [(at_once, "done"), (paused, "done"), (denied_in_between, "a person denied it")] {
        assert_eq!(journal.said()[1..], ["model:  [Bash]", &format!("result: {result}"), PSST]);
        assert_eq!(journal.pod.unread_mail, None);
    }
}

#[test]
fn mail_while_the_context_is_compacted_within_a_run_is_read_in_that_run() {
    let mut journal = full();
    assert_eq!(journal.take(ask("next")).unwrap(), [Effect::Summarise]);
    journal.take(mail([peer("psst")])).unwrap();
    let kept = journal.seq_of("user_message");
    assert_eq!(journal.take(summary("before", kept)).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), ["user: [summary of what came before] / before", "user: next", PSST]);
    let journal = journal.all([text("ok"), finished()]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn a_run_that_a_person_ended_leaves_the_mail_for_the_next_one() {
    let journal = running().all([mail([peer("psst")]), text("so"), Input::Cancel]);
    assert_eq!(journal.pod.state, PodState::Idle);
    let journal = journal.all([ask("next"), text("ok"), finished()]);
    assert_eq!(journal.said()[1..4], ["model: so", PSST, "user: next"]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn what_comes_in_before_the_answer_of_a_run_that_mail_began_is_behind_that_answer() {
    let mut journal = running().all([text("so")]);
    journal.take(mail([peer("psst")])).unwrap();
    // The run ends, and another one begins at once for the message.
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    journal.take(mail([child()])).unwrap();
    let journal = journal.all([text("I see"), finished()]);
    assert_eq!(journal.said(), ["user: hello", "model: so", PSST, "model: I see", NEWS]);
}
