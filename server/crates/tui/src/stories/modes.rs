//! Walking through the modes with Shift-Tab.

use super::*;

#[test]
fn a_mode_that_is_only_passed_on_the_way_never_holds() {
    let mut story = Story::with_ada();
    story.key(KeyCode::BackTab);
    assert_eq!(story.effects, [Effect::Rest(1)]);
    story.shows("accept edits in a moment");
    story.key(KeyCode::BackTab);
    assert_eq!(story.effects, [Effect::Rest(2)]);
    story.shows("plan in a moment");
    story.happens(Message::Rested(1));
    assert_eq!(story.effects, []);
    story.happens(Message::Rested(2));
    assert_eq!(story.act(), (address("ada"), Act::Mode("plan".to_owned())));
    story.shows_not("in a moment");
}

#[test]
fn walking_all_the_way_round_changes_nothing() {
    let mut story = Story::with_ada();
    (1..=4).for_each(|_| story.key(KeyCode::BackTab));
    story.happens(Message::Rested(4));
    assert_eq!(story.effects, []);
    story.shows_not("in a moment");
}

#[test]
fn enter_and_leaving_the_pod_make_it_hold_at_once() {
    let mut story = Story::with_ada_in("idle");
    story.key(KeyCode::BackTab);
    story.key(KeyCode::Enter);
    assert_eq!(story.act().1, Act::Mode("accept_edits".to_owned()));
    story.key(KeyCode::Esc);
    story.key(KeyCode::BackTab);
    story.key(KeyCode::Esc);
    assert!(
        matches!(&story.effects[0], Effect::Do { act: Act::Mode(mode), .. } if mode == "plan"),
        "{:?}",
        story.effects
    );
}
