//! Removing the end of a conversation from the context.

use pod::{Input, Refusal};
use protocol::{ErrorCode, PodState, Seq};

use crate::journal::*;

const SUMMARY: &str = "user: [summary of what came before] / S";

fn rewound(mut journal: Journal, to: Seq) -> Journal {
    let input = rewind(&journal, to);
    journal.take(input).unwrap();
    journal
}

#[test]
fn what_came_after_is_out_of_the_context_and_stays_in_the_journal() {
    let journal = idle();
    let to = journal.pod.head;
    let journal = journal.all([ask("two"), text("2"), finished()]);
    let before = journal.records.clone();
    let journal = rewound(journal, to);
    assert_eq!(journal.said(), ["user: hello", "model: hi"]);
    assert_eq!(journal.records[..before.len()], before);
    assert_eq!(journal.kinds_after(before.last().unwrap().seq), ["rewound", "usage"]);
    assert_eq!(journal.pod.usage.context_used, 7);
    let journal = journal.all([ask("other"), text("o"), finished()]);
    assert_eq!(journal.said()[2..], ["user: other", "model: o"]);
}

#[test]
fn a_caller_that_has_not_seen_the_newest_record_or_names_none_is_refused() {
    let mut journal = idle();
    let head = journal.pod.head;
    let to = |to_seq: i64, expected_head: Seq| Input::Rewind { to_seq: Seq(to_seq), expected_head, context_used: 0 };
    for expected in [Seq(0), Seq(head.0 - 1), head.next()] {
        assert_eq!(journal.take(to(1, expected)).unwrap_err(), Refusal::HeadMoved);
    }
    for outside in [-1, 0, head.0 + 1, i64::MAX] {
        assert_eq!(journal.take(to(outside, head)).unwrap_err(), Refusal::OutsideLog);
    }
    assert_eq!(journal.pod.head, head);
    journal.take(to(head.0, head)).unwrap();
    assert_eq!(journal.said(), ["user: hello", "model: hi"]);
}

#[test]
fn in_the_middle_of_a_run_the_refusal_names_a_way_out_that_exists() {
    for at_work in [running(), waiting()] {
        let back = Input::Rewind { to_seq: Seq(1), expected_head: at_work.pod.head, context_used: 0 };
        for input in [back, Input::Compact] {
            let refusal = at_work.clone().take(input).unwrap_err();
            assert_eq!((refusal.code(), refusal), (ErrorCode::Busy, Refusal::InARun));
            assert!(!refusal.to_string().contains("queue"), "neither waits in one: {refusal}");
        }
        assert_eq!(at_work.clone().all([Input::Cancel, Input::Compact]).pod.state, PodState::Running);
    }
}

#[test]
fn to_the_first_record_nothing_is_left() {
    let journal = rewound(idle(), Seq(1));
    assert_eq!(journal.said(), Vec::<String>::new());
    let journal = journal.all([ask("again"), text("a"), finished()]);
    assert_eq!(journal.said(), ["user: again", "model: a"]);
}

#[test]
fn into_the_middle_of_calls_none_is_left_without_its_result() {
    let journal = running().all([
        text("look"),
        call("Read"),
        call("Grep"),
        finished(),
        ended("call-b2", "one"),
        ended("call-b3", "two"),
        text("done"),
        finished(),
    ]);
    let seqs: Vec<Seq> = journal.records.iter().map(|record| record.seq).collect();
    let said = |to: Seq| rewound(journal.clone(), to).said().join(" | ");
    let mut seen: Vec<String> = seqs.iter().map(|to| said(*to)).collect();
    seen.dedup();
    assert_eq!(
        seen,
        [
            "",
            "user: hello",
            "user: hello | model: look",
            "user: hello | model: look [Read] | result: one",
            "user: hello | model: look [Read Grep] | result: one | result: two",
            "user: hello | model: look [Read Grep] | result: one | result: two | model: done",
        ]
    );
}

#[test]
fn before_a_compaction_what_it_dropped_is_back_and_after_it_the_summary_stays() {
    let journal = idle().all([ask("two"), text("2"), finished()]);
    let (whole, before) = (journal.said(), journal.pod.head);
    let kept = journal.seq_of("user_message");
    let journal = journal.all([Input::Compact, summary("S", kept)]);
    let after = journal.pod.head;
    let journal = journal.all([ask("three"), text("3"), finished()]);
    assert_eq!(rewound(journal.clone(), after).said(), [SUMMARY, "user: two", "model: 2"]);
    assert_eq!(rewound(journal.clone(), before).said(), whole);
    // The record of the summary itself is the boundary.
    let compacted = journal.seq_of("compacted");
    assert_eq!(rewound(journal.clone(), compacted).said()[0], SUMMARY);
    assert_eq!(rewound(journal.clone(), Seq(compacted.0 - 1)).said(), whole);
    assert_eq!(rewound(journal, kept).said(), ["user: hello", "model: hi", "user: two"]);
}

#[test]
fn past_two_compactions_everything_is_back_in_its_order() {
    let journal = idle().all([ask("two"), text("2"), finished()]);
    let (whole, before) = (journal.said(), journal.pod.head);
    let kept = journal.seq_of("user_message");
    let journal = journal.all([Input::Compact, summary("S", kept)]);
    let between = journal.pod.head;
    let journal = journal.all([ask("three"), text("3"), finished()]);
    let kept = journal.seq_of("user_message");
    let journal = journal.all([Input::Compact, summary("T", kept)]);
    assert_eq!(journal.said()[0], "user: [summary of what came before] / T");
    assert_eq!(rewound(journal.clone(), between).said(), [SUMMARY, "user: two", "model: 2"]);
    assert_eq!(rewound(journal, before).said(), whole);
}

#[test]
fn twice_it_goes_back_to_what_is_left_and_not_to_what_was_taken_out() {
    let journal = idle();
    let first = journal.pod.head;
    let journal = journal.all([ask("two"), text("2"), finished()]);
    let second = journal.pod.head;
    let journal = rewound(journal, first);
    assert_eq!(rewound(journal.clone(), second).said(), ["user: hello", "model: hi"]);
    let journal = journal.all([ask("three"), text("3"), finished()]);
    let third = journal.pod.head;
    let journal = rewound(journal.all([ask("four"), text("4"), finished()]), third);
    assert_eq!(journal.said()[2..], ["user: three", "model: 3"]);
    assert_eq!(rewound(journal, Seq(2)).said(), ["user: hello"]);
}

#[test]
fn a_paused_pod_is_idle_afterwards_and_stays_so_over_a_stop() {
    let journal = running().all([text("so"), Input::Pause]);
    let journal = rewound(journal, Seq(2));
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.said(), ["user: hello"]);
    let journal = journal.all([Input::Stop, Input::Restore]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn a_paused_question_is_void_and_its_call_is_gone() {
    let journal = waiting().all([Input::Pause]);
    let to = journal.pod.head;
    let journal = rewound(journal, to);
    assert!(journal.pod.approvals.is_empty() && journal.pod.calls.is_empty());
    assert_eq!(journal.said(), ["user: hello"]);
    assert!(journal.records.iter().rev().take(4).any(|record| record.event.kind() == "usage"));
}

#[test]
fn a_peer_message_goes_or_stays_by_its_own_position() {
    let journal = running().all([call("Read"), finished(), mail([peer("psst")]), ended("call-b1", "x"), finished()]);
    let journal = journal.all([text("done"), finished()]);
    let letter = journal.seq_of("peer_message");
    assert_eq!(rewound(journal.clone(), letter).said(), ["user: hello", "user: [peer message from bob] / psst"]);
    assert_eq!(rewound(journal, Seq(letter.0 - 1)).said(), ["user: hello"]);
}

#[test]
fn what_was_read_of_files_has_to_be_read_again() {
    let outcome = pod::ToolOutcome {
        seen: Some(protocol::Seen::File { path: "/a".into(), sha256: "0".repeat(64) }),
        ..pod::ToolOutcome::done("read")
    };
    let read = Input::ToolFinished { call_id: "call-b1".into(), outcome };
    let journal = running().all([call("Read"), finished(), read, text("ok"), finished()]);
    assert_eq!(journal.pod.seen_files.len(), 1);
    let head = journal.pod.head;
    assert!(journal.clone().all([Input::Compact, summary("S", head)]).pod.seen_files.is_empty());
    assert!(rewound(journal, head).pod.seen_files.is_empty());
}
