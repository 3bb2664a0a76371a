use protocol::Segment;

use super::*;

#[test]
fn the_composer_has_the_focus_and_clears_only_when_the_message_is_stored() {
    let mut story = Story::with_ada();
    story.enters("hello");
    let [Effect::Send { pod, message }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!((pod, &message.segments[..]), (&address("ada"), &[Segment::text("hello")][..]));
    let command_id = message.command_id.clone();
    assert_eq!(story.composer(), "hello");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [], "Enter again sends nothing while the message is on its way");

    story.happens(Message::Sent { command_id: command_id.clone(), done: Err(no_server()) });
    assert_eq!(story.composer(), "hello");
    story.shows("not sent; your text is kept: no yoi answers at http://x");
    story.shows("not sent, Enter tries again");
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!(message.command_id, command_id, "the same message again is the same command");

    story.happens(Message::Sent { command_id, done: Ok(receipt()) });
    assert_eq!(story.composer(), "");
    assert_eq!(story.effects, [Effect::Look(address("ada"))], "it may be in the queue");
}

#[test]
fn what_was_typed_while_a_message_was_on_its_way_stays() {
    let mut story = Story::with_ada();
    story.enters("one");
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    let command_id = message.command_id.clone();
    story.types(", two");
    story.happens(Message::Sent { command_id, done: Ok(receipt()) });
    assert_eq!(story.composer(), ", two");
    story.types(" three");
    assert_eq!(story.composer(), ", two three", "the cursor stays where it was");
}

#[test]
fn a_message_that_was_changed_while_it_was_on_its_way_stays_as_it_is() {
    let mut story = Story::with_ada();
    story.enters("one");
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    let command_id = message.command_id.clone();
    story.key(KeyCode::Backspace);
    story.happens(Message::Sent { command_id, done: Ok(receipt()) });
    assert_eq!(story.composer(), "on");
}

#[test]
fn a_message_has_lines_and_pasted_pieces_are_chips() {
    let mut story = Story::with_ada();
    story.types("why?");
    story.control('j');
    story.happens(Message::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::SHIFT)));
    story.happens(Message::Paste("1\n2\n3\n4\n5".into()));
    story.types(" end");
    insta::assert_snapshot!("composer", story.screen());
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    let paste = Segment::Paste { text: "1\n2\n3\n4\n5".into() };
    assert_eq!(message.segments, [Segment::text("why?"), paste, Segment::text(" end")]);
}

#[test]
fn escape_leaves_the_composer_then_the_pod_and_unsent_text_is_kept() {
    let mut story = Story::with_ada_in("idle");
    story.types("not yet ");
    story.happens(Message::Paste("1\n2\n3\n4".into()));
    story.key(KeyCode::Esc);
    assert_eq!(focus(&story), Focus::Transcript);
    story.key(KeyCode::Esc);
    assert!(story.model.open.is_none());
    assert_eq!(story.effects, [Effect::Unsubscribe("s2".into())]);
    story.key(KeyCode::Enter);
    assert_eq!(story.composer(), "not yet [pasted\u{a0}4\u{a0}lines]");
    assert_eq!(focus(&story), Focus::Composer);
}

#[test]
fn up_brings_earlier_messages_and_down_what_was_being_written() {
    let mut story = Story::with_ada();
    story.records(vec![user("first"), said(1), user("second\nline"), said(2)]);
    story.types("draft");
    story.key(KeyCode::Up);
    assert_eq!(story.composer(), "second\nline");
    story.key(KeyCode::Up);
    assert_eq!(story.composer(), "second\nline", "the cursor went to the line above");
    story.key(KeyCode::Up);
    story.key(KeyCode::Up);
    assert_eq!(story.composer(), "first");
    story.key(KeyCode::Down);
    story.key(KeyCode::Down);
    assert_eq!(story.composer(), "draft");
    story.key(KeyCode::Down);
    assert_eq!(story.composer(), "draft");
}

#[test]
fn a_stopped_pod_takes_no_message_and_keeps_the_text() {
    let mut story = Story::with_ada_in("stopped");
    story.enters("hello");
    assert_eq!(story.effects, []);
    story.shows("This Pod is stopped. Restore it to send; your draft is kept.");
    assert_eq!(story.composer(), "hello");
}

#[test]
fn a_colon_inside_a_message_is_text_and_a_paste_is_never_a_command() {
    let mut story = Story::with_ada();
    story.types("a:b");
    assert_eq!(story.composer(), "a:b");
    let mut story = Story::with_ada();
    story.happens(Message::Paste(":stop\n".into()));
    assert_eq!((story.composer().as_str(), story.model.line.is_none()), (":stop\n", true));
}

#[test]
fn quitting_over_an_unsent_message_is_asked_for_twice() {
    let mut story = Story::with_ada();
    story.types("unsent");
    story.control('c');
    story.shows("your message is not sent; Ctrl-C again quits");
    story.types("x");
    story.control('c');
    assert!(!story.model.has_quit);
    story.control('c');
    assert!(story.model.has_quit);
    let mut story = Story::with_ada();
    story.control('c');
    assert!(story.model.has_quit);
}
