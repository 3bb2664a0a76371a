use super::*;

fn many() -> Vec<PodSummary> {
    let mut pods = vec![
        pod("ada", "running"),
        pod("bob", "idle"),
        pod("carol", "waiting"),
        pod("dora", "stopped"),
        pod("eve", "broken"),
        pod("finn", "unreachable"),
        pod("gus", "paused"),
        pod("hal", "idle"),
    ];
    pods[0].activity = Some("running `cargo test --workspace`".into());
    pods[0].relations.peers = 2;
    pods[0].usage.input = 41_300;
    pods[1].unread = 3;
    pods[2].activity = Some("asks: Bash rm -rf target".into());
    pods[4].state_reason = Some("record 17 cannot be read".into());
    pods[5].state_reason = Some("gpu-box does not answer".into());
    pods[6].relations.children = 1;
    pods[7].needs_you = true;
    pods
}

#[test]
fn the_dashboard_groups_pods_by_what_they_want_and_q_quits() {
    let mut story = Story::connected();
    story.pods(&many());
    insta::assert_snapshot!("dashboard_80", story.screen());
    story.happens(Message::Resize(120, 30));
    insta::assert_snapshot!("dashboard_120", story.screen());
    story.key(KeyCode::Char('q'));
    assert!(story.model.has_quit);
}

#[test]
fn the_choice_moves_over_groups_and_stays_with_its_pod_when_they_change() {
    let mut story = Story::connected();
    story.pods(&many());
    story.model.selected = Some(address("ada"));
    story.key(KeyCode::Char('j'));
    assert_eq!(story.model.selected, Some(address("bob")));
    story.types("gg");
    assert_eq!(story.model.selected, Some(address("carol")));
    story.happens(Message::Wheel(-1));
    story.key(KeyCode::Char('G'));
    let last = story.model.selected.clone();
    story.pods(&[pod("ada", "running"), pod("zoe", "stopped")]);
    assert_ne!(story.model.selected, last, "it is not in the list any more");
    assert_eq!(story.model.selected, Some(address("ada")));
}

#[test]
fn a_child_stands_below_its_parent_and_the_keys_follow_the_rows() {
    let child = |name: &str, state: &str, parent: &str| {
        let mut child = pod(name, state);
        child.relations.parent = Some(address(parent));
        child
    };
    let mut story = Story::connected();
    story.pods(&[
        pod("zoe", "idle"),
        child("ann", "idle", "zoe"),
        child("bea", "idle", "ann"),
        pod("mia", "idle"),
        child("asks", "waiting", "zoe"),
    ]);
    let screen = story.screen();
    let rows: Vec<_> = screen.lines().filter(|line| line.contains('○') || line.contains('?')).collect();
    let begins = ["asks ", "mia ", "zoe ", "└ ann ", "  └ bea "];
    for (row, begin) in rows.iter().zip(begins) {
        assert!(row[row.char_indices().nth(2).unwrap().0..].starts_with(begin), "{begin:?} in\n{screen}");
    }
    story.shows("of zoe · rehearsal");
    story.types("gg");
    for name in ["asks", "mia", "zoe", "ann", "bea", "bea"] {
        assert_eq!(story.model.selected, Some(address(name)));
        story.key(KeyCode::Char('j'));
    }
    story.types("/ann");
    story.shows_not("└");
    story.key(KeyCode::Enter);
    story.types("i");
    assert_eq!((story.model.open.as_ref().unwrap().pod.clone(), focus(&story)), (address("ann"), Focus::Composer));
}

#[test]
fn a_filter_is_typed_and_esc_takes_it_away() {
    let mut story = Story::connected();
    story.pods(&many());
    story.types("/paused");
    story.shows("gus");
    story.shows_not("carol");
    assert_eq!(story.model.selected, Some(address("gus")));
    story.key(KeyCode::Enter);
    story.shows("filter: paused");
    story.key(KeyCode::Esc);
    story.shows("carol");
    story.types("/nothing like it");
    story.shows("No Pods match");
}

#[test]
fn an_empty_list_says_what_to_do_and_one_that_has_not_come_says_so() {
    let mut story = Story::fresh(None);
    story.shows("Loading Pods …");
    story.connection(Connection::Connected);
    story.pods(&[]);
    assert_eq!(story.effects, [Effect::LoadChoices], "which model a Pod would have is asked for");
    story.shows("No Pods yet.");
    story.shows("Enter creates ada, which uses the rehearsal model: no key, no network");
    story.shows(":key openai takes a key");
    story.enters("neve");
    assert!(
        matches!(&story.effects[..], [Effect::Create { create, .. }] if create.name.as_str() == "eve"),
        "{:?}",
        story.effects
    );
    story.happens(Message::Created(Err(refused(ErrorCode::NameTaken, "the name \"eve\" is taken"))));
    story.shows("is taken");
}

#[test]
fn a_failing_list_keeps_what_is_there_and_says_so() {
    let mut story = Story::connected();
    story.frame(
        json!({ "type": "diagnostic", "id": "s1", "code": "runtime_unavailable", "detail": "the store is away" }),
    );
    story.shows("list of Pods: the store is away");
    story.shows("ada");
    story.frame(json!({ "type": "closed", "id": "s1", "reason": "gone" }));
    story.frame(json!({ "type": "diagnostic", "id": null, "code": "lagged", "detail": "too slow" }));
    story.shows("too slow");
}

#[test]
fn a_screen_that_is_too_small_is_drawn_all_the_same() {
    for mut story in [Story::connected(), Story::with_ada()] {
        story.types("some words that do not fit");
        for size in [(1, 1), (2, 2), (3, 5), (10, 3), (24, 7), (400, 2)] {
            story.happens(Message::Resize(size.0, size.1));
            story.key(KeyCode::PageUp);
            story.screen();
            story.types(":");
            story.screen();
            story.key(KeyCode::Esc);
        }
    }
}

#[test]
fn without_colours_nothing_is_coloured_and_everything_is_told() {
    let mut story = Story::connected();
    story.pods(&many());
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| view::draw(&story.model, Colours::None, frame)).unwrap();
    let is_plain = |cell: &ratatui::buffer::Cell| {
        (cell.fg, cell.bg) == (ratatui::style::Color::Reset, ratatui::style::Color::Reset)
    };
    assert!(terminal.backend().buffer().content.iter().all(is_plain));
    terminal.draw(|frame| view::draw(&story.model, Colours::Sixteen, frame)).unwrap();
    assert!(!terminal.backend().buffer().content.iter().all(is_plain));
}
