use protocol::{Access, ControlVerb, RewindCommand, ScopeRule, Seq};

use super::*;

#[test]
fn commands_act_on_the_open_pod_and_say_not_attached_without_one() {
    for line in
        [":pause", ":peer bob", ":unpeer bob", ":send hi", ":compact", ":rewind", ":allow", ":rename x", ":fork x"]
    {
        let mut story = Story::connected();
        story.enters(line);
        assert_eq!(story.effects, [], "{line} asks nobody");
        story.shows("not attached");
    }
    let mut story = Story::with_ada();
    story.types(":pau");
    story.key(KeyCode::Tab);
    story.key(KeyCode::Enter);
    assert_eq!(story.act(), (address("ada"), Act::Control(ControlVerb::Pause)));
    story.done(Ok(Answer::Accepted));
    story.shows("ada: pause accepted");
    story.enters(":nonsense x");
    let own = Act::Own { name: "nonsense".to_owned(), arguments: "x".to_owned() };
    assert_eq!(story.act(), (address("ada"), own), "it may be one of the person's own");
    story.done(Err(refused(ErrorCode::NotFound, "no command is called \"nonsense\"")));
    story.shows("no command is called");
    story.enters(":quit");
    assert!(story.model.has_quit);
}

#[test]
fn what_fits_is_offered_with_the_reason_where_it_does_nothing_now() {
    let mut story = Story::with_ada();
    story.types(":");
    insta::assert_snapshot!("completion", story.screen());
    story.shows_not("▸");
    story.key(KeyCode::Tab);
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [], "nothing is chosen before a letter");
    story.shows("type a command or choose one with the arrow keys");
    story.types(":");
    story.types("re");
    insta::assert_snapshot!("completion_re", story.screen());
    story.shows("it is not paused");
    story.key(KeyCode::Esc);
    story.types(":peer b");
    story.shows(":peer bob");
    story.key(KeyCode::Tab);
    story.key(KeyCode::Enter);
    assert_eq!(story.act(), (address("ada"), Act::Introduce("bob".into())));
}

#[test]
fn the_arrows_choose_and_enter_takes_the_choice() {
    let mut story = Story::with_ada();
    story.types(":sto");
    story.key(KeyCode::Down);
    story.key(KeyCode::Enter);
    assert_eq!(story.act().1, Act::Control(ControlVerb::Stop));
    story.types(":pee");
    story.key(KeyCode::Down);
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [], "a name is still to come");
    story.types("bob");
    story.key(KeyCode::Enter);
    assert_eq!(story.act().1, Act::Introduce("bob".into()));
}

#[test]
fn a_fork_is_asked_for_with_its_name() {
    let mut story = Story::with_ada_in("idle");
    story.enters(":fork not a name");
    assert_eq!(story.effects, []);
    story.enters(":fork eve");
    let [Effect::Fork { pod, name, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!((pod, name.as_str()), (&address("ada"), "eve"));
}

#[test]
fn a_retry_says_what_it_does() {
    let mut story = Story::with_ada_in("idle");
    story.enters(":retry");
    assert_eq!(story.act().1, Act::Control(ControlVerb::Retry));
    story.done(Ok(Answer::Accepted));
    story.shows("asking the model of ada again");
}

#[test]
fn a_rewind_wants_a_y_and_a_second_enter_is_none_and_carries_the_head_that_was_seen() {
    let mut story = Story::with_ada_in("idle");
    story.records(vec![user("first"), said(1), user("fix all the tests"), said(2)]);
    story.enters(":rewind");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, []);
    story.shows("rewind to before \"fix all the tests\"? y confirms");
    // More records arrive while the confirmation is open: the head that was shown is what counts.
    story.records(vec![said(3)]);
    story.key(KeyCode::Char('y'));
    let expected = RewindCommand::context(Seq(2), Seq(4));
    assert_eq!(story.act(), (address("ada"), Act::Rewind(expected)));
    story.done(Err(refused(ErrorCode::HeadMoved, "the head is 5")));
    story.shows("ada has moved on since you looked, so nothing was rewound");
    story.enters(":rewind");
    story.key(KeyCode::Char('x'));
    assert_eq!(story.effects, []);
    story.shows("cancelled");
    story.key(KeyCode::Char('y'));
    assert_eq!((story.effects.len(), story.composer().as_str()), (0, "y"));
}

#[test]
fn compacting_says_first_what_it_drops() {
    let mut story = Story::with_ada_in("idle");
    story.enters(":compact");
    assert_eq!(story.effects, [Effect::Preview(address("ada"))]);
    story.happens(Message::Preview { pod: address("ada"), done: Ok(None) });
    story.shows("nothing to compact yet");
    let preview = json!({ "dropped": 12, "kept": 4, "kept_from_seq": 9, "tokens_now": 41_000, "tokens_kept": 3_000 });
    story.happens(Message::Preview { pod: address("ada"), done: Ok(Some(serde_json::from_value(preview).unwrap())) });
    story.shows("replace 12 messages with a summary and keep 4 (41k to about 3k tokens)? y confirms");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, []);
    story.key(KeyCode::Char('y'));
    assert_eq!(story.act().1, Act::Control(ControlVerb::Compact));
}

#[test]
fn a_child_gets_a_task_and_the_paths_that_are_named_or_its_parents_folder_to_read() {
    let mut story = Story::with_ada();
    let spawn = |story: &Story| match story.act().1 {
        Act::Spawn(spawn) => spawn,
        act => panic!("{act:?}"),
    };
    story.enters(":spawn kid run the tests");
    let rule = |path: &str, access| ScopeRule { path: path.into(), access, recursive: true };
    assert_eq!(
        (spawn(&story).task.as_str(), spawn(&story).scope),
        ("run the tests", vec![rule("/work", Access::Read)])
    );
    story.enters(":spawn kid write=/work/a read=/work/b x=1 it");
    let scope = vec![rule("/work/a", Access::Write), rule("/work/b", Access::Read)];
    assert_eq!((spawn(&story).task.as_str(), spawn(&story).scope), ("x=1 it", scope));
    let answer = json!({ "summary": "outside the scope that is held", "is_error": true, "code": "scope_not_held" });
    story.done(Ok(Answer::Tool(serde_json::from_value(answer).unwrap())));
    story.shows("failed: outside the scope that is held");
    story.enters(":spawn kid");
    assert_eq!(story.effects, []);
    story.shows(":spawn also needs a task");
}

#[test]
fn deleting_wants_the_pods_own_name_and_a_y_and_renaming_a_good_one() {
    let mut story = Story::with_ada();
    story.enters(":delete bob");
    assert_eq!(story.effects, []);
    story.shows("this Pod is ada; `:delete ada` asks whether to delete it");
    story.enters(":delete ada");
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [], "a second Enter is no answer");
    story.shows("delete ada with its whole transcript? This cannot be undone.");
    story.key(KeyCode::Char('n'));
    story.shows("cancelled");
    story.enters(":delete ada");
    story.key(KeyCode::Char('y'));
    assert_eq!(story.act().1, Act::Delete("ada".into()));
    story.enters(":rename a b");
    assert_eq!(story.effects, []);
    story.shows("a name is 1 to 64 characters");
    story.enters(":rename eve");
    assert!(matches!(story.act().1, Act::Rename(_)));
}

#[test]
fn help_is_made_from_the_table_and_knows_what_a_peer_is() {
    let mut story = Story::connected();
    story.key(KeyCode::Char('?'));
    insta::assert_snapshot!("help", story.screen());
    story.happens(Message::Resize(100, 120));
    for entry in ::commands::TABLE.iter().filter(|entry| entry.place != ::commands::Where::Browser) {
        story.shows(&format!(":{} {}", entry.word, entry.argument));
    }
    story.shows("not attached");
    story.key(KeyCode::Esc);
    story.enters(":help peer");
    story.happens(Message::Resize(80, 24));
    insta::assert_snapshot!("help_peer", story.screen());
    for _ in 0..200 {
        story.key(KeyCode::Char('j'));
    }
    story.key(KeyCode::Char('q'));
    story.shows("Working");
}

#[test]
fn an_error_stays_until_it_was_read_and_a_success_until_the_next_key() {
    let mut story = Story::with_ada();
    story.enters(":resume");
    story.types("goes on typing");
    story.shows("it is not paused");
    story.key(KeyCode::Esc);
    story.shows_not("it is not paused");
    story.key(KeyCode::Char('i'));
    story.model.tell("done");
    story.types("x");
    story.shows_not("done");
}

#[test]
fn g_goes_to_the_pages_that_the_browser_has_too() {
    let mut story = Story::with_ada();
    story.control('t');
    story.types("ga");
    assert_eq!(story.effects, [Effect::LoadInbox(Vec::new())]);
    story.key(KeyCode::Esc);
    story.types("gp");
    assert!(story.model.open.is_none());
    story.enters(":open ada");
    assert_eq!(story.effects, [Effect::Resolve("ada".into())]);
}
