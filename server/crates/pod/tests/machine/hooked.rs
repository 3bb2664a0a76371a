//! Hooks at the end of a run: they judge a complete answer and may send the model on, a few times.

use pod::{Effect, HOOK, Input, PodSpec, decide};
use protocol::{Outcome, PodState};

use crate::journal::*;

fn take(journal: &mut Journal, input: Input) -> Vec<Effect> {
    let spec = PodSpec { has_run_end_hooks: true, ..spec() };
    let decision = decide(&journal.pod, &spec, input).unwrap();
    journal.write(decision)
}

fn hooked(journal: &Journal, words: Option<&str>) -> Input {
    Input::RunHooked { run_id: journal.pod.run_id().unwrap(), words: words.map(str::to_owned) }
}

/// A run whose answer is complete, so that its hooks run.
fn judged() -> Journal {
    let mut journal = running().all([text("done")]);
    assert_eq!(take(&mut journal, finished()), [Effect::RunEndHooks { outcome: Outcome::Completed }]);
    assert_eq!(journal.pod.state, PodState::Running, "the run goes on");
    journal
}

#[test]
fn a_run_ends_once_its_hooks_have_nothing_to_say() {
    let mut journal = judged();
    let input = hooked(&journal, None);
    assert_eq!(take(&mut journal, input), []);
    assert_eq!((journal.pod.state, &journal.last("run_finished")["outcome"]), (PodState::Idle, &"completed".into()));
    assert_eq!(journal.said(), ["user: hello", "model: done"]);
}

#[test]
fn the_words_of_a_hook_send_the_model_on_three_times_in_a_run() {
    let mut journal = judged();
    for turn in 1..=3 {
        let input = hooked(&journal, Some("2 tests fail"));
        assert_eq!(take(&mut journal, input), [Effect::CallModel], "{turn}");
        assert_eq!(journal.last("user_message")["by"], HOOK);
        assert_eq!(journal.said().last().unwrap(), "user: A hook at the end of the run says: / 2 tests fail");
        take(&mut journal, text("mended"));
        assert_eq!(take(&mut journal, finished()), [Effect::RunEndHooks { outcome: Outcome::Completed }]);
    }
    let input = hooked(&journal, Some("2 tests fail"));
    assert_eq!(take(&mut journal, input), []);
    assert_eq!(journal.pod.state, PodState::Idle);
    let alert = journal.last("alert");
    assert_eq!((&alert["source"], &alert["level"]), (&HOOK.into(), &"warn".into()));
    assert_eq!(alert["text"], "the hook at the end of the run failed after 3 more answers: 2 tests fail");
    assert_eq!(journal.kinds().iter().filter(|kind| **kind == "run_started").count(), 1);
}

#[test]
fn what_hooks_say_after_their_run_is_for_people() {
    let mut journal = judged();
    let late = hooked(&journal, Some("too late"));
    take(&mut journal, Input::Cancel);
    assert_eq!(journal.last("run_finished")["outcome"], "cancelled");
    assert_eq!(take(&mut journal, late.clone()), []);
    assert_eq!(journal.last("alert")["text"], "the hook at the end of the run failed: too late");
    assert_eq!(journal.pod.state, PodState::Idle);
    let mut journal = judged();
    take(&mut journal, Input::Stop);
    let head = journal.pod.head;
    assert_eq!((take(&mut journal, late), journal.pod.head), (vec![], head), "nobody listens to a stopped Pod");
}

#[test]
fn an_answer_of_nothing_and_a_crash_need_no_hook() {
    let mut journal = running();
    assert_eq!(take(&mut journal, finished()), [], "the message is taken back");
    assert_eq!(journal.last("run_finished")["outcome"], "rolled_back");
    let mut journal = judged();
    journal.crash();
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(take(&mut journal, resume()), [Effect::CallModel]);
}
