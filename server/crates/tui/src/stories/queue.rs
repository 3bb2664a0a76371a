use protocol::{HeldDecision, QueuedInput, Segment};

use super::*;
use crate::model::Then;

fn queued(id: &str, text: &str, steer: bool) -> Value {
    json!({ "command_id": id, "segments": [{ "type": "text", "text": text }], "at": "2026-01-01T00:00:00Z",
        "steer": steer })
}

fn input(id: &str, text: &str) -> QueuedInput {
    serde_json::from_value(queued(id, text, false)).unwrap()
}

/// ada is running; two messages are queued, one is held.
fn waiting() -> Story {
    let mut story = Story::with_ada();
    story.looked(json!({ "queued": [queued("q1", "and the tests", false), queued("q2", "stop there", true)] }));
    let bob = json!({ "runtime_id": "local", "worker_id": "bob-1", "name": "bob" });
    story.records(vec![json!({ "kind": "message_receipt", "message_id": "m2", "peer": bob, "state": "held",
        "reason": "8 steps from a person" })]);
    story
}

#[test]
fn what_another_viewer_put_into_the_queue_is_asked_for() {
    let mut story = Story::with_ada_in("running");
    story.looked(json!({ "queued": [] }));
    let ada = PodSummary { queued_count: 1, ..pod("ada", "running") };
    story.pods(std::slice::from_ref(&ada));
    assert_eq!(story.effects, [Effect::Look(address("ada"))]);
    story.looked(json!({ "queued": [queued("q1", "and the tests", false)] }));
    story.shows("queued  and the tests");
    story.pods(&[ada]);
    assert_eq!(story.effects, [], "it is known");
}

fn chosen(story: &Story, then: Then, id: &str) {
    let (pod, act) = story.act();
    assert_eq!((pod, act), (address("ada"), Act::TakeBack { queued: protocol::CommandId::parse(id).unwrap(), then }));
}

#[test]
fn what_waits_is_listed_with_what_can_be_done_about_it() {
    let mut story = waiting();
    story.control('t');
    story.types("w");
    insta::assert_snapshot!("waiting", story.screen());
    story.types("s");
    chosen(&story, Then::Steer, "q1");
    story.types("jx");
    chosen(&story, Then::Forget, "q2");
    story.types("s");
    story.shows("it is already going into the current run");
    story.types("j");
    story.shows("r release · x drop");
    story.types("r");
    assert_eq!(story.act().1, Act::Held { message_id: "m2".into(), decision: HeldDecision::Release });
    story.done(Ok(Answer::Accepted));
    story.shows("released");
    story.types("j");
    story.key(KeyCode::Esc);
    story.shows("─ Message");
}

#[test]
fn a_message_that_is_taken_back_stands_behind_what_is_being_written() {
    let mut story = waiting();
    story.types("draft");
    story.control('t');
    story.types("w");
    story.key(KeyCode::Enter);
    chosen(&story, Then::Edit, "q1");
    story.done(Ok(Answer::Returned(input("q1", "and the tests"))));
    assert_eq!((story.composer().as_str(), focus(&story)), ("draft\nand the tests", Focus::Composer));
    story.shows("taken back; when sent again, it goes to the end of the queue");
    story.shows("─ Message");
}

#[test]
fn the_commands_do_the_same_and_say_when_there_is_nothing() {
    let mut story = waiting();
    story.enters(":unqueue");
    chosen(&story, Then::Edit, "q2");
    story.done(Err(refused(ErrorCode::AlreadyAnswered, "it has begun")));
    story.shows("too late: the model has already read it");
    story.enters(":drop");
    assert_eq!(story.act().1, Act::Held { message_id: "m2".into(), decision: HeldDecision::Drop });
    story.enters(":queue");
    story.shows("Queued and held messages");
    let mut story = Story::with_ada();
    for (line, sentence) in [(":unqueue", "the queue is empty"), (":release", "no messages are held")] {
        story.enters(line);
        assert_eq!(story.effects, []);
        story.shows(sentence);
    }
    story.enters(":queue");
    story.shows("No queued or held messages.");
}

#[test]
fn a_message_that_could_not_be_sent_again_is_in_the_composer() {
    let mut story = waiting();
    story.control('t');
    story.types("ws");
    story.done(Ok(Answer::NotSteered { input: input("q1", "and the tests"), why: no_server() }));
    story.shows("not sent; it is back in your message");
    assert_eq!(story.composer(), "and the tests");
}

#[test]
fn alt_enter_and_steer_send_into_the_current_run() {
    let mut story = Story::with_ada();
    story.types("not there");
    story.alt(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert!(message.steer && message.segments == [Segment::text("not there")], "{message:?}");
    let mut story = Story::with_ada();
    story.enters(":steer not there");
    let Act::Say(input) = story.act().1 else { panic!() };
    assert!(input.steer && input.queue);
}

#[test]
fn escape_ends_the_run_and_brings_back_what_was_queued() {
    let mut story = Story::with_ada_in("running");
    story.looked(json!({ "queued": [queued("q1", "and the tests", false), queued("q2", "stop there", true)] }));
    story.types("draft");
    story.key(KeyCode::Esc);
    assert_eq!(story.act(), (address("ada"), Act::StopRun));
    story.key(KeyCode::Esc);
    assert_eq!(story.effects, [], "a key that is held down asks once");
    let back = Answer::Stopped(vec![input("q1", "and the tests"), input("q2", "stop there")]);
    story.happens(Message::Done { pod: address("ada"), act: Act::StopRun, done: Ok(back) });
    assert_eq!((story.composer().as_str(), focus(&story)), ("draft\nand the tests\nstop there", Focus::Composer));
    story.shows("the run is stopped; queued messages are back in your message");
    story.control('t');
    assert_eq!(focus(&story), Focus::Transcript);
    story.enters(":cancel");
    assert_eq!(story.act().1, Act::StopRun, "the command does the same");
}

#[test]
fn escape_ends_the_run_also_while_a_question_waits() {
    let mut story = Story::with_ada_in("waiting");
    story.key(KeyCode::Esc);
    assert_eq!(story.act(), (address("ada"), Act::StopRun));
}
