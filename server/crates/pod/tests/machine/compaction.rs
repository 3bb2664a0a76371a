//! A summary that replaces the beginning of the context.

use pod::{Effect, Input, Reach};
use protocol::{PodState, Role, Seq};

use crate::journal::*;

const SUMMARY: &str = "user: [summary of what came before] / S";

/// Three turns; the context is full according to the model.
fn three_turns() -> Journal {
    let turn = |ask_: &str, answer: &str| [ask(ask_), text(answer), finished()];
    let mut journal = Journal::default().all(turn("one", "1")).all(turn("two", "2")).all(turn("three", "3"));
    journal.take(ask("four")).unwrap();
    journal.all([text("4"), used(80), finished()])
}

fn kept_from(journal: &Journal) -> Seq {
    journal.context().cut(journal.pod.head, CONTEXT_LIMIT).unwrap().kept_from_seq
}

#[test]
fn a_nearly_full_context_is_compacted_before_the_model_is_asked() {
    for (used_tokens, expected) in [(79, [Effect::CallModel]), (80, [Effect::Summarise])] {
        let mut journal = running().all([used(used_tokens), text("a"), finished()]);
        assert_eq!(journal.take(ask("next")).unwrap(), expected);
        let mut journal = running().all([call("Read"), used(used_tokens), finished()]);
        assert_eq!(journal.take(ended("call-b1", "x")).unwrap(), expected);
        let mut journal = running().all([used(used_tokens), Input::Pause]);
        assert_eq!(journal.take(resume()).unwrap(), expected);
        let mut journal = running().all([used(used_tokens), text("a"), finished()]);
        assert_eq!(journal.take(mail([peer("psst")])).unwrap(), expected);
    }
}

#[test]
fn the_summary_is_the_new_beginning_and_the_run_goes_on() {
    let mut journal = three_turns();
    assert_eq!(journal.take(ask("five")).unwrap(), [Effect::Summarise]);
    let kept = kept_from(&journal);
    assert_eq!(journal.take(summary("S", kept)).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), [SUMMARY, "user: four", "model: 4", "user: five"]);
    assert_eq!(journal.pod.usage.context_used, 1);
    assert_eq!(journal.pod.state, PodState::Running);
    let journal = journal.all([text("5"), finished()]);
    assert_eq!(journal.said()[4..], ["model: 5"]);
}

#[test]
fn a_summary_that_failed_is_told_and_the_run_goes_on() {
    let mut journal = three_turns().all([ask("five")]);
    let before = journal.said();
    assert_eq!(journal.take(no_summary()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), before);
    assert_eq!(journal.last("alert")["source"], "compaction");
}

#[test]
fn by_hand_the_pod_is_afterwards_what_it_was_before() {
    for (make, state) in
        [(three_turns(), PodState::Idle), (three_turns().all([ask("five"), Input::Pause]), PodState::Paused)]
    {
        for result in [summary("S", kept_from(&make)), no_summary()] {
            let mut journal = make.clone();
            assert_eq!(journal.take(Input::Compact).unwrap(), [Effect::Summarise]);
            assert_eq!(journal.pod.state, PodState::Running);
            assert_eq!(journal.pod.state_reason.as_deref(), Some("compacting its context"));
            assert_eq!(journal.take(result).unwrap(), []);
            assert_eq!((journal.pod.state, journal.pod.compacting_from), (state, None));
            assert_eq!(journal.pod.state_reason, None);
        }
    }
}

#[test]
fn stopping_a_compaction_leaves_the_pod_as_it_was() {
    for (make, before) in
        [(three_turns(), PodState::Idle), (three_turns().all([ask("x"), Input::Pause]), PodState::Paused)]
    {
        for (input, state) in [(Input::Pause, before), (Input::Cancel, before), (Input::Stop, PodState::Stopped)] {
            let mut journal = make.clone().all([Input::Compact]);
            assert_eq!(journal.take(input).unwrap()[0], Effect::Abort);
            assert_eq!((journal.pod.state, journal.pod.compacting_from), (state, None));
            let head = journal.pod.head;
            assert_eq!(journal.take(summary("late", Seq(1))).unwrap(), []);
            assert_eq!(journal.pod.head, head, "a summary that comes too late is no record");
        }
    }
}

#[test]
fn within_a_run_pause_cancel_and_stop_end_the_run() {
    for (input, outcome) in [(Input::Pause, "paused"), (Input::Cancel, "cancelled"), (Input::Stop, "interrupted")] {
        let mut journal = three_turns().all([ask("five")]);
        assert_eq!(journal.take(input).unwrap()[0], Effect::Abort);
        assert_eq!(journal.last("run_finished")["outcome"], outcome);
        assert_eq!(journal.take(summary("late", Seq(1))).unwrap(), []);
        assert!(!journal.kinds().contains(&"compacted"));
    }
}

#[test]
fn there_is_nothing_to_drop_in_an_empty_or_a_fresh_context() {
    for journal in [Journal::default(), running(), paused(), three_turns().all([Input::Compact, summary("S", Seq(99))])]
    {
        assert_eq!(journal.context().cut(journal.pod.head, 0), None);
    }
}

#[test]
fn a_message_that_has_no_answer_yet_is_never_dropped() {
    let long = "a long message ".repeat(40);
    let journal = three_turns().all([ask(&long)]);
    let cut = journal.context().cut(journal.pod.head, CONTEXT_LIMIT).unwrap();
    assert_eq!(cut.kept_from_seq, journal.seq_of("user_message"));
    assert_eq!((cut.dropped, cut.kept), (8, 1));
}

#[test]
fn a_call_that_waits_for_a_person_is_never_dropped() {
    let journal = three_turns().all([ask("five"), call("Bash"), finished(), Input::Pause, mail([peer("psst")])]);
    let cut = journal.context().cut(journal.pod.head, CONTEXT_LIMIT).unwrap();
    assert!(cut.request.iter().all(|message| message.tool_calls.is_empty()), "{:?}", cut.request);
    let call_id = journal.last_call();
    let mut journal = journal.all([Input::Compact, summary("S", cut.kept_from_seq), resume(), allow(&call_id)]);
    assert_eq!(journal.take(ended(&call_id, "ran")).unwrap(), [Effect::CallModel]);
    let said = journal.said();
    assert_eq!(said[0], SUMMARY);
    assert_eq!(said[said.len() - 3..], ["model:  [Bash]", "result: ran", "user: [peer message from bob] / psst"]);
}

#[test]
fn mail_that_came_during_an_answer_stays_or_goes_with_its_place_in_the_conversation() {
    // In the journal: the call, the message, the result. In the context: the call, the result, the message.
    let journal = running().all([
        call("Read"),
        finished(),
        mail([peer("psst")]),
        ended("call-b1", "a result that is long enough to be dropped"),
        text("done"),
        finished(),
    ]);
    let letter = journal.seq_of("peer_message");
    assert!(letter < journal.seq_of("tool_finished"));
    let from_letter = journal.clone().all([Input::Compact, summary("S", letter)]);
    assert_eq!(from_letter.said(), [SUMMARY, "user: [peer message from bob] / psst", "model: done"]);
    let from_call = journal.clone().all([Input::Compact, summary("S", journal.seq_of("tool_called"))]);
    assert_eq!(
        from_call.said()[1..],
        [
            "model:  [Read]",
            "result: a result that is long enough to be dropped",
            "user: [peer message from bob] / psst",
            "model: done"
        ]
    );
    // What a rewind brings back is where it was.
    let before = journal.said();
    let head = journal.pod.head;
    let back = from_letter.clone().all([rewind(&from_letter, head)]);
    assert_eq!(back.said(), before);
}

#[test]
fn a_message_that_was_late_for_its_answer_is_not_lost_when_that_answer_is_kept() {
    let journal = idle().all([ask("two"), mail([peer("psst")]), text("2"), finished(), text("I see"), finished()]);
    let answer = journal.records.iter().rfind(|record| {
        serde_json::to_value(&record.event).unwrap()["text"] == "2" && record.event.kind() == "message_finished"
    });
    let kept = answer.unwrap().seq;
    let journal = journal.all([Input::Compact, summary("S", kept)]);
    assert_eq!(journal.said(), [SUMMARY, "model: 2", "user: [peer message from bob] / psst", "model: I see"]);
}

#[test]
fn the_request_for_a_summary_is_a_conversation_too() {
    let journal = three_turns().all([ask("five"), call("Read"), finished()]);
    let journal = journal.clone().all([ended(&journal.last_call(), "x")]);
    let cut = journal.context().cut(journal.pod.head, CONTEXT_LIMIT).unwrap();
    assert_eq!(cut.request[0].role, Role::System);
    assert_eq!(cut.request.last().unwrap().role, Role::User);
    assert_eq!(cut.dropped + 2, cut.request.len());
    assert_eq!(cut.dropped + cut.kept + 1, journal.context().messages().len());
    assert_eq!(cut.tokens_now, journal.context().tokens());
}

#[test]
fn after_a_compaction_an_answer_of_nothing_does_not_bring_back_what_was_dropped() {
    let mut journal = three_turns().all([ask("five")]);
    let kept = kept_from(&journal);
    journal.take(summary("S", kept)).unwrap();
    let before = journal.said();
    let journal = journal.all([finished()]);
    assert_eq!(journal.said(), before);
    assert_eq!(journal.last("run_finished")["outcome"], "completed");
}

#[test]
fn after_a_compaction_the_context_is_read_from_what_it_kept_on() {
    let mut journal = idle();
    for _ in 0..50 {
        journal = journal.all([submit(), text("hi"), finished()]);
    }
    let (_, read) = journal.context_within(Reach::default());
    assert_eq!(read, journal.context_within(Reach::after_rewind(Seq(1))).1, "without a compaction everything is read");

    let kept_from = journal.records.iter().rev().find(|record| record.event.kind() == "user_message").unwrap().seq;
    let compacted = journal.clone().all([Input::Compact, summary("S", kept_from)]);
    let (context, read) = compacted.context_within(Reach::default());
    assert_eq!(context.messages(), compacted.context().messages());
    assert!(read <= 4, "the compaction and the newest turn, not {read} events");

    // A rewind to before it restores everything.
    let rewound = rewind(&compacted, Seq(kept_from.0 - 1));
    let rewound = compacted.all([rewound]);
    let (context, _) = rewound.context_within(Reach::default());
    assert_eq!(context.messages(), rewound.context().messages());
}
