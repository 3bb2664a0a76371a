//! A request that is longer than the model's context.

use pod::{Cause, Effect, Failure, Input, ModelPiece, Newest, NoSummary, QuestionSize, Room};
use protocol::{Message, PodState, Role, Seq, Usage};
use serde_json::Value;

use crate::journal::*;

const OVERFLOW: &str = "context_overflow";

fn failed(cause: Cause, asked: u64) -> Input {
    let code = if matches!(cause, Cause::Overflow { .. }) { OVERFLOW } else { "provider_error" };
    Input::Model(ModelPiece::Failed(Failure { cause, asked: size(asked), ..Failure::new(code, "no") }))
}

/// The size of a request without instructions and tools.
fn size(tokens: u64) -> QuestionSize {
    QuestionSize { whole: tokens, said: tokens }
}

fn told(limit: Option<u64>, asked: u64) -> Input {
    failed(Cause::Overflow { limit, used: None }, asked)
}

fn unexplained(asked: u64) -> Input {
    failed(Cause::Unexplained, asked)
}

fn nothing(is_limit: bool, asked: u64) -> Input {
    Input::Model(ModelPiece::Nothing { is_limit, asked: size(asked) })
}

fn nothing_to_drop(at: Option<Seq>) -> Input {
    Input::Summarised(Err(NoSummary::NothingToDrop(Newest { at, tokens: 50, always: 7, left: 9 })))
}

/// What a model reports that does not say how large its context is.
fn counted(context_used: u64) -> Input {
    let usage = Usage { input: context_used, context_used, ..Usage::default() };
    Input::Model(ModelPiece::Usage(usage))
}

fn asked() -> Journal {
    idle().all([ask("second"), text("2"), finished(), ask("third")])
}

fn kept(journal: &Journal) -> Seq {
    journal.seq_of("user_message")
}

fn ended_with(journal: &Journal) -> (Value, Value) {
    let end = journal.last("run_finished");
    (end["outcome"].clone(), end["code"].clone())
}

#[test]
fn the_context_is_summarised_and_the_question_asked_again() {
    let mut journal = asked();
    let run = journal.pod.run_id();
    assert_eq!(journal.take(told(Some(1000), 1200)).unwrap(), [Effect::Summarise]);
    let retry = journal.last("provider_retry");
    assert_eq!((retry["code"].as_str(), retry["attempt"].as_u64()), (Some(OVERFLOW), Some(1)));
    assert_eq!(journal.pod.state, PodState::Running);
    assert!(journal.pod.state_reason.as_deref().unwrap().contains("full"));
    assert_eq!((journal.pod.fits, journal.pod.usage.context_limit), (Some(1000), 1000));

    let kept = kept(&journal);
    assert_eq!(journal.take(summary("S", kept)).unwrap(), [Effect::CallModel]);
    assert!(journal.last("alert")["text"].as_str().unwrap().contains("called again"));
    assert_eq!((journal.pod.fits, &journal.pod.state_reason), (None, &None));
    assert_eq!(journal.said(), ["user: [summary of what came before] / S", "user: third"]);
    let journal = journal.all([text("3"), finished()]);
    assert_eq!(ended_with(&journal).0, "completed");
    assert_eq!(journal.pod.run_id(), run, "it is one run");
}

#[test]
fn what_was_said_before_the_error_stays_and_its_calls_have_results() {
    let mut journal = asked().all([text("so far"), call("Read")]);
    assert_eq!(journal.take(told(None, 500)).unwrap(), [Effect::Summarise]);
    let said = journal.said();
    assert!(said.contains(&"model: so far [Read]".to_owned()), "{said:?}");
    assert!(said.last().unwrap().starts_with("result: not run"), "{said:?}");
    assert_eq!(journal.pod.run.as_ref().unwrap().overflows, 1, "a call that was cut is no whole answer");
}

#[test]
fn it_is_not_asked_for_ever() {
    let mut journal = asked();
    let mut asked_again = 0;
    while journal.take(told(Some(1000), 1200)).unwrap() == [Effect::Summarise] {
        asked_again += 1;
        let kept = kept(&journal);
        journal.take(summary("S", kept)).unwrap();
    }
    assert_eq!(asked_again, 5);
    assert_eq!(ended_with(&journal), ("error".into(), OVERFLOW.into()));
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn after_each_whole_answer_it_may_happen_again() {
    let mut journal = asked();
    for _ in 0..20 {
        assert_eq!(journal.take(told(None, 500)).unwrap(), [Effect::Summarise]);
        let kept = kept(&journal);
        journal = journal.all([summary("S", kept), call("Read"), finished()]);
        let call = journal.last_call();
        assert_eq!(journal.take(ended(&call, "x")).unwrap(), [Effect::CallModel]);
    }
}

#[test]
fn a_message_that_is_too_long_by_itself_is_taken_back_and_a_shorter_one_is_asked() {
    let mut journal = asked().all([told(Some(1000), 1200)]);
    let newest = kept(&journal);
    assert_eq!(journal.take(nothing_to_drop(Some(newest))).unwrap(), []);
    assert_eq!(ended_with(&journal), ("error".into(), OVERFLOW.into()));
    let detail = journal.last("run_finished")["detail"].as_str().unwrap().to_owned();
    for words in ["1000 tokens", "about 50 tokens", "about 7", "send a shorter one", "larger context"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    assert_eq!(journal.last("rewound")["to_seq"], newest.0 - 1);
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.take(ask("short")).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said().last().unwrap(), "user: short");
    assert!(!journal.said().contains(&"user: third".to_owned()));
}

#[test]
fn instructions_that_are_too_long_by_themselves_are_told_as_that() {
    let journal = asked().all([told(None, 1200), nothing_to_drop(None)]);
    assert!(journal.last("run_finished")["detail"].as_str().unwrap().contains("instructions and tools alone"));
    assert!(!journal.kinds().contains(&"rewound"));
}

#[test]
fn a_summary_that_fails_for_another_reason_ends_the_run_and_the_next_one_begins_with_it() {
    let mut journal = asked().all([told(Some(1000), 1200)]);
    assert_eq!(journal.take(no_summary()).unwrap(), []);
    assert_eq!(ended_with(&journal), ("error".into(), "provider_error".into()));
    assert_eq!(journal.take(ask("again")).unwrap(), [Effect::Summarise]);
}

#[test]
fn a_crash_in_the_middle_forgets_neither_that_it_is_too_long_nor_the_limit() {
    for again in [resume(), ask("again")] {
        let mut journal = asked().all([told(Some(1000), 1200)]);
        journal.crash();
        assert_eq!(journal.pod.state, PodState::Paused);
        assert_eq!((journal.pod.fits, journal.pod.learnt_limit), (Some(1000), 1000));
        assert_eq!(journal.take(again).unwrap(), [Effect::Summarise]);
        let kept = kept(&journal);
        assert_eq!(journal.take(summary("S", kept)).unwrap(), [Effect::CallModel]);
    }
}

#[test]
fn killed_after_any_of_its_steps_it_comes_to_an_answer() {
    let kept = kept(&asked());
    let way = [ask("third"), told(Some(1000), 1200), summary("S", kept), told(Some(900), 950), summary("T", kept)];
    for steps in 1..=way.len() {
        let mut journal = idle().all([ask("second"), text("2"), finished()]).all(way[..steps].iter().cloned());
        journal.crash();
        let mut effects = journal.take(resume()).unwrap();
        if effects == [Effect::Summarise] {
            effects = journal.take(summary("U", kept)).unwrap();
        }
        assert_eq!(effects, [Effect::CallModel], "killed after {steps} steps");
        let journal = journal.all([text("3"), finished()]);
        assert_eq!(ended_with(&journal).0, "completed");
        assert!(journal.said().contains(&"user: third".to_owned()), "{:?}", journal.said());
    }
}

#[test]
fn the_limit_that_was_told_is_kept_to_from_then_on() {
    let mut journal = asked().all([told(Some(1000), 1200)]);
    let kept = kept(&journal);
    journal = journal.all([summary("S", kept), counted(799), text("3"), finished()]);
    assert_eq!(journal.pod.usage.context_limit, 1000);
    assert_eq!(journal.clone().take(ask("next")).unwrap(), [Effect::CallModel]);
    journal = journal.all([ask("next"), counted(800), text("4"), finished()]);
    assert_eq!(journal.take(ask("over 80 %")).unwrap(), [Effect::Summarise]);
    // A larger request that was answered shows that there is more room.
    let kept = self::kept(&journal);
    journal = journal.all([summary("S", kept), counted(5000), text("5"), finished()]);
    assert_eq!((journal.pod.learnt_limit, journal.pod.usage.context_limit), (0, 0));
}

#[test]
fn the_real_size_of_a_question_corrects_our_own_estimate() {
    for (cause, fits) in [
        (Cause::Overflow { limit: Some(1000), used: Some(4000) }, 300),
        (Cause::Overflow { limit: Some(1000), used: None }, 1000),
        (Cause::Overflow { limit: Some(9000), used: None }, 1200),
        (Cause::Overflow { limit: None, used: None }, 1200),
    ] {
        assert_eq!(asked().all([failed(cause, 1200)]).pod.fits, Some(fits), "{cause:?}");
    }
}

#[test]
fn an_unexplained_failure_is_taken_for_it_near_the_limit_or_the_second_time() {
    let known = || running().all([used(1), text("a"), finished(), ask("next")]);
    for (make, asked, expected) in [
        (known as fn() -> Journal, CONTEXT_LIMIT * 8 / 10, vec![Effect::Summarise]),
        (known, CONTEXT_LIMIT * 8 / 10 - 1, vec![]),
        (asked, 1_000_000, vec![]),
    ] {
        for input in [unexplained(asked), nothing(false, asked), nothing(true, asked)] {
            assert_eq!(make().take(input.clone()).unwrap(), expected, "{input:?}");
        }
    }
    for first in [unexplained(2_000), nothing(false, 2_000), nothing(true, 2_000)] {
        for second in [unexplained(2_000), nothing(false, 2_000), nothing(true, 2_000)] {
            let mut journal = asked().all([first.clone(), ask("again")]);
            assert_eq!(journal.take(second.clone()).unwrap(), [Effect::Summarise], "{first:?}, {second:?}");
            assert_eq!(journal.pod.learnt_limit, 0, "nobody told of a limit");
            let kept = kept(&journal);
            journal.take(summary("S", kept)).unwrap();
            assert_eq!(journal.take(unexplained(2_000)).unwrap(), [], "once in a run");
        }
    }
    let small = asked().all([unexplained(1_999), ask("again")]);
    assert_eq!(small.clone().take(unexplained(1_999)).unwrap(), []);
    let other = asked().all([unexplained(9_000), ask("again")]);
    assert_eq!(other.clone().take(failed(Cause::Other, 9_000)).unwrap(), [], "a wrong key is no matter of length");
    let answered = asked().all([unexplained(9_000), ask("again"), text("a"), finished(), ask("more")]);
    assert_eq!(answered.clone().take(unexplained(9_000)).unwrap(), [], "it was not the second time in a row");
}

#[test]
fn a_small_conversation_that_fails_again_and_again_is_no_overflow() {
    let mut journal = asked();
    for _ in 0..5 {
        let large_tools = QuestionSize { whole: 9_000, said: 1_999 };
        let failure = Failure { cause: Cause::Unexplained, asked: large_tools, ..Failure::new("provider_error", "no") };
        assert_eq!(journal.take(Input::Model(ModelPiece::Failed(failure))).unwrap(), []);
        assert_eq!(ended_with(&journal), ("error".into(), "provider_error".into()));
        assert_eq!(journal.take(ask("again")).unwrap(), [Effect::CallModel]);
    }
    assert!(!journal.kinds().contains(&"provider_retry"));
}

#[test]
fn a_suspicion_that_no_summary_can_follow_is_the_failure_that_it_was() {
    for reason in [nothing_to_drop(Some(Seq(3))), no_summary()] {
        let mut journal = asked().all([unexplained(9_000), ask("again"), unexplained(9_000)]);
        assert_eq!(journal.last("provider_retry")["code"], "context_overflow_suspected");
        let said = journal.said();
        assert_eq!(journal.take(reason).unwrap(), []);
        assert_eq!(ended_with(&journal), ("error".into(), "provider_error".into()));
        assert_eq!(journal.said(), said, "nothing is taken back");
        assert_eq!((journal.pod.fits, &journal.pod.suspicion), (None, &None));
        assert_eq!(journal.take(ask("again")).unwrap(), [Effect::CallModel], "it is asked as it is");
    }
}

#[test]
fn a_crash_forgets_no_suspicion_either() {
    let mut journal = asked().all([unexplained(9_000), ask("again"), unexplained(9_000)]);
    journal.crash();
    assert_eq!(journal.take(resume()).unwrap(), [Effect::Summarise]);
    let kept = kept(&journal);
    assert_eq!(journal.take(summary("S", kept)).unwrap(), [Effect::CallModel]);
    assert!(journal.last("alert")["text"].as_str().unwrap().contains("may have been full"));
}

#[test]
fn an_answer_that_reached_its_own_limit_is_no_overflow() {
    let mut journal = asked().all([text("half of it")]);
    assert_eq!(journal.take(Input::Model(ModelPiece::Limit)).unwrap(), []);
    assert_eq!(ended_with(&journal).0, "limit");
    assert!(!journal.kinds().contains(&"provider_retry"));
}

fn bytes(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.content.len()).sum()
}

/// A long conversation with a long result in it.
fn long() -> Journal {
    let mut journal = idle();
    for number in 0..20 {
        journal = journal.all([ask(&format!("question {number} {}", "x".repeat(400))), text("an answer"), finished()]);
    }
    let journal = journal.all([ask("read it"), call("Read"), finished()]);
    let call = journal.last_call();
    journal.clone().all([ended(&call, &"y".repeat(40_000)), text("done"), finished()])
}

#[test]
fn the_request_for_a_summary_keeps_to_the_room_there_is_and_is_halved() {
    let journal = long().all([ask("and now")]);
    let context = journal.context();
    let whole = context.cut(journal.pod.head, 0).unwrap();
    assert!(bytes(&whole.request) > 40_000);
    let mut last = usize::MAX;
    for halvings in 0..4 {
        let room = Room { limit: 4_000, fits: Some(4_000), tools: 500, halvings };
        let cut = context.cut_within(journal.pod.head, room).unwrap();
        assert_eq!(cut.kept_from_seq, journal.seq_of("user_message"), "the newest question stays");
        let size = bytes(&cut.request);
        assert!(size < 4_000 * 4 && size < last, "{size} bytes, before {last}");
        assert_eq!((cut.request[0].role, cut.request.len()), (Role::System, 2));
        assert!(cut.request[1].content.contains("left out"), "it says that it is not all");
        assert!(cut.within(&"s".repeat(100_000)).len() <= 4_000 * 4 / 5);
        assert!(cut.without_summary().contains("left out"));
        last = size;
    }
}

#[test]
fn a_long_result_is_summarised_even_when_it_is_the_newest_thing() {
    let journal = idle().all([ask("read it"), call("Read"), finished()]);
    let call = journal.last_call();
    let journal = journal.clone().all([ended(&call, &"y".repeat(400_000))]);
    let room = Room { fits: Some(10_000), ..Room::default() };
    let cut = journal.context().cut_within(journal.pod.head, room).unwrap();
    assert_eq!(cut.kept, 0);
    assert!(bytes(&cut.request) < 40_000, "{}", bytes(&cut.request));
    assert!(cut.tokens_after("a summary") < 2_000);
}

#[test]
fn of_several_messages_without_an_answer_only_the_newest_stays_when_they_are_too_long() {
    let journal = idle().all([ask(&"x".repeat(9_000)), Input::Pause, ask("short")]);
    let room = Room { fits: Some(2_000), ..Room::default() };
    let context = journal.context();
    let cut = context.cut_within(journal.pod.head, room).unwrap();
    assert_eq!(cut.kept_from_seq, journal.seq_of("user_message"));
    assert!(context.cut(journal.pod.head, 2_000).is_none_or(|cut| cut.kept > 1), "in one that fits both stay");
    let newest = context.newest(7);
    assert_eq!((newest.at, newest.tokens), (Some(cut.kept_from_seq), 1));
    assert_eq!((newest.always, newest.left), (context.newest(0).always + 7, context.tokens() - 1 + 7));
}

#[test]
fn when_nothing_but_the_newest_message_is_there_nothing_can_be_dropped() {
    let journal = Journal::default().all([ask(&"x".repeat(9_000))]);
    let room = Room { fits: Some(1_000), ..Room::default() };
    assert_eq!(journal.context().cut_within(journal.pod.head, room), None);
}

#[test]
fn a_summary_that_is_itself_too_long_is_shortened() {
    let mut journal = long().all([ask("and now")]);
    let kept = kept(&journal);
    journal = journal.all([Input::Pause, Input::Compact, summary(&"s".repeat(8_000), kept), resume()]);
    let cut = |fits| journal.context().cut_within(journal.pod.head, Room { fits: Some(fits), ..Room::default() });
    assert_eq!(cut(20_000), None, "it fits into its part");
    let cut = cut(2_000).unwrap();
    assert_eq!(cut.kept_from_seq, kept);
    assert!(cut.without_summary().len() < 2_000);
}
