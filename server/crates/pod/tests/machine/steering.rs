//! What a person writes: messages into the current run, and files that a message refers to.

use pod::{Effect, Input, Refusal};
use protocol::{CommandId, PodState, Segment};

use crate::journal::*;

/// A run that is about to call its model again: its only call has a result.
fn between() -> Journal {
    let mut journal = running().all([text("look"), call("Read"), finished()]);
    let effects = journal.take(ended("call-b2", "one")).unwrap();
    assert_eq!(effects, [Effect::CallModel], "the moment in which a message may be taken");
    journal
}

#[test]
fn it_stands_behind_the_results_and_begins_no_run() {
    let mut journal = between();
    assert_eq!(journal.take(steer("rather that")).unwrap(), [], "the model is asked once, with it");
    assert_eq!(journal.said(), ["user: hello", "model: look [Read]", "result: one", "user: rather that"]);
    assert_eq!(journal.last_record("user_message").run_id, journal.pod.run_id());
    assert_eq!(journal.kinds().iter().filter(|kind| **kind == "run_started").count(), 1);
    let journal = journal.all([text("that, then"), finished()]);
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.said()[4..], ["model: that, then"]);
}

#[test]
fn several_are_taken_in_their_order_with_what_others_have_said() {
    let journal = running().all([call("Read"), finished(), mail([peer("psst")]), ended("call-b1", "one")]);
    let journal = journal.all([steer("first"), steer("second"), text("ok"), finished()]);
    let said = ["user: [peer message from bob] / psst", "user: first", "user: second", "model: ok"];
    assert_eq!(journal.said()[3..], said);
}

#[test]
fn it_is_refused_where_it_would_stand_in_the_middle_of_something() {
    let refused = |mut journal: Journal| journal.take(steer("now")).unwrap_err();
    assert_eq!(refused(running().all([text("so far")])), Refusal::Busy);
    assert_eq!(refused(running().all([thought("hm")])), Refusal::Busy);
    assert_eq!(refused(running().all([call("Read"), finished()])), Refusal::Busy);
    assert_eq!(refused(waiting()), Refusal::Busy);
    assert_eq!(refused(idle()), Refusal::Busy, "there it begins a run as any message does");
    assert_eq!(refused(full().all([Input::Compact])), Refusal::Busy);
    assert_eq!(refused(stopped()), Refusal::NotLive);
}

#[test]
fn an_answer_of_nothing_takes_no_message_back_once_another_came_in() {
    let journal = running().all([steer("and this"), finished()]);
    assert!(!journal.kinds().contains(&"rewound"));
    assert_eq!(journal.said(), ["user: hello", "user: and this"]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn a_crash_behind_it_keeps_it_for_the_run_that_goes_on() {
    let mut journal = between().all([steer("rather that")]);
    journal.crash();
    assert_eq!(journal.take(resume()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said()[3..], ["user: rather that"]);
}

#[test]
fn a_model_is_told_of_a_file_and_that_it_has_not_seen_it() {
    let segments =
        vec![Segment::text("compare "), Segment::FileRef { path: "a.rs".into() }, Segment::text(" with the rest")];
    let command_id = CommandId::parse("k1").unwrap();
    let journal = Journal::default().all([Input::Submit {
        command_id,
        segments,
        by: "operator".into(),
        blobs: protocol::Blobs::default(),
    }]);
    let note = "[files that this message refers to; their contents are not in it] / a.rs";
    assert_eq!(journal.said(), [format!("user: compare @a.rs with the rest /  / {note}")]);
}

#[test]
fn a_picture_goes_with_its_message_and_a_result_has_its_own() {
    let view = |digit: &str, media_type: &str| protocol::BlobView {
        blob: protocol::BlobId::parse(&digit.repeat(64)).unwrap(),
        media_type: media_type.to_owned(),
        bytes: 7,
    };
    let (seen, lost, read) = (view("a", "image/png"), view("b", "text/plain"), view("c", "image/gif"));
    let segments = vec![
        Segment::text("what is in"),
        Segment::Image { blob: seen.blob.clone(), name: Some("cat.png".into()) },
        Segment::File { blob: lost.blob, name: "notes.txt".into() },
    ];
    let (command_id, by) = (CommandId::parse("k1").unwrap(), "operator".into());
    let submit = Input::Submit { command_id, segments, by, blobs: protocol::Blobs(vec![seen.clone()]) };
    let outcome = pod::ToolOutcome { blobs: protocol::Blobs(vec![read.clone()]), ..pod::ToolOutcome::done("read it") };
    let end = Input::ToolFinished { call_id: "call-b1".into(), outcome };
    let journal = Journal::default().all([submit, call("Read"), finished(), end, text("a cat"), finished()]);
    let messages = journal.context().messages();
    assert_eq!(messages[1].content, "what is in\n[image cat.png]\n[file notes.txt]");
    let attached = |message: &protocol::Message| {
        message.attachments.iter().map(|it| (it.blob.clone(), it.name.clone(), it.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(attached(&messages[1]), [(seen.blob, Some("cat.png".into()), 7)]);
    assert_eq!(attached(&messages[3]), [(read.blob, None, 7)]);
    let without = journal.context().size().said - 3_200;
    assert!(without < 100, "a picture counts as much as a model makes of it: {without}");
}
