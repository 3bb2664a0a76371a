//! Asking the model again after an answer was cut off or is missing.

use pod::{Effect, Failure, Input, ModelPiece, Refusal, ToolOutcome};
use protocol::{ErrorCode, PodState, Seen, Seq};

use crate::journal::*;

fn failed() -> Input {
    Input::Model(ModelPiece::Failed(Failure::new("provider_error", "no")))
}

/// Returns a Pod for each way in which an answer can be cut off.
fn cut_off(journal: &Journal) -> Vec<(&'static str, Journal)> {
    let mut killed = journal.clone();
    killed.crash();
    let by = |input: Input| journal.clone().all([input]);
    vec![
        ("failed", by(failed())),
        ("cancelled", by(Input::Cancel)),
        ("limit", by(Input::Model(ModelPiece::Limit))),
        ("paused", by(Input::Pause)),
        ("stopped", by(Input::Stop).all([Input::Restore])),
        ("killed", killed),
    ]
}

/// Retries, and checks that the model is asked and nothing else happens.
fn retried(mut journal: Journal) -> Journal {
    let is_unanswered = journal.context().is_unanswered();
    assert_eq!(journal.take(retry(is_unanswered)).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(journal.last("run_started")["command_id"], "k3");
    journal
}

fn refusal(journal: &Journal) -> Refusal {
    let is_unanswered = journal.context().is_unanswered();
    journal.clone().take(retry(is_unanswered)).unwrap_err()
}

#[test]
fn a_part_of_an_answer_leaves_the_context_and_stays_in_the_journal() {
    for (how, journal) in cut_off(&running().all([thought("hm"), text("half")])) {
        assert!(!journal.pod.has_nothing_to_retry(), "{how}");
        let head = journal.pod.head;
        let journal = retried(journal);
        assert_eq!(journal.said(), ["user: hello"], "{how}");
        assert_eq!(journal.kinds_after(head), ["rewound", "run_started", "status"], "{how}");
        assert_eq!(journal.last("message_finished")["text"], "half", "{how}");
        let journal = journal.all([text("whole"), finished()]);
        assert_eq!(journal.said(), ["user: hello", "model: whole"], "{how}");
        assert_eq!(refusal(&journal), Refusal::NothingToRetry, "{how}");
        assert!(journal.pod.has_nothing_to_retry(), "{how}");
    }
}

#[test]
fn calls_that_have_a_result_are_not_made_again() {
    let called = running().all([text("look"), call("Read"), finished(), ended("call-b2", "one")]);
    for (how, journal) in cut_off(&called.clone().all([text("half")])) {
        assert_eq!(retried(journal).said(), called.said(), "{how}");
    }
    for (how, journal) in cut_off(&called) {
        assert_eq!(retried(journal).said(), called.said(), "{how}: nothing had been said yet");
    }
}

#[test]
fn what_its_files_held_is_still_known_after_a_retry_and_not_after_a_rewind() {
    let seen = Seen::File { path: "/a".to_owned(), sha256: "0".to_owned() };
    let outcome = ToolOutcome { seen: Some(seen), ..ToolOutcome::done("read") };
    let read = Input::ToolFinished { call_id: "call-b1".to_owned(), outcome };
    let journal = running().all([call("Read"), finished(), read, text("half"), failed()]);
    assert_eq!(retried(journal.clone()).pod.seen_files.len(), 1);
    let back = rewind(&journal, journal.seq_of("user_message"));
    assert!(journal.all([back]).pod.seen_files.is_empty());
}

#[test]
fn a_message_that_a_rewind_left_without_its_answer_is_answered_again() {
    let journal = idle().all([ask("two"), text("2"), finished()]);
    let back = rewind(&journal, journal.seq_of("user_message"));
    let journal = retried(journal.all([back]));
    assert_eq!(journal.said(), ["user: hello", "model: hi", "user: two"]);
}

#[test]
fn mail_that_came_in_meanwhile_stays() {
    let half = running().all([text("half")]);
    let during = half.clone().all([mail([peer("psst"), child()]), failed()]);
    let after = half.all([failed(), Input::Mail { events: vec![peer("psst"), child()], wakes: false }]);
    for journal in [during, after] {
        assert!(!journal.pod.has_nothing_to_retry());
        let before = journal.said();
        assert!(before.iter().any(|said| said.contains("psst")), "{before:?}");
        let journal = retried(journal);
        assert_eq!(journal.said(), before);
        assert!(!journal.kinds().contains(&"rewound"));
    }
}

#[test]
fn where_there_is_nothing_to_retry_the_refusal_names_the_way_out() {
    for journal in [Journal::default(), idle()] {
        let refusal = refusal(&journal);
        assert_eq!((refusal, refusal.code()), (Refusal::NothingToRetry, ErrorCode::NothingToRetry));
        assert!(journal.pod.has_nothing_to_retry());
        assert!(refusal.to_string().contains("rewind"), "{refusal}");
    }
    let asks = waiting().all([Input::Pause]);
    assert_eq!((refusal(&asks), refusal(&asks).code()), (Refusal::CallsWait, ErrorCode::NothingToRetry));
    assert!(asks.pod.has_nothing_to_retry());
    for at_work in [running(), waiting()] {
        assert_eq!(refusal(&at_work), Refusal::InARun);
    }
    assert_eq!(refusal(&stopped()), Refusal::NotLive);
}

#[test]
fn a_message_that_was_too_long_is_not_sent_again() {
    let journal = running().all([failed()]);
    let back = rewind(&journal, Seq(journal.seq_of("user_message").0 - 1));
    assert_eq!(refusal(&journal.all([back])), Refusal::NothingToRetry);
}
