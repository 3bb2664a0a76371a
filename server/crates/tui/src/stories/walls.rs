use protocol::WallItem;

use super::*;

fn items(details: [&str; 2]) -> Vec<WallItem> {
    let [namespaces, cgroup] = details;
    serde_json::from_value(json!([
        { "wall": "namespaces", "state": "on", "detail": namespaces },
        { "wall": "landlock", "state": "on" },
        { "wall": "cgroup", "state": "off", "detail": cgroup },
    ]))
    .unwrap()
}

#[test]
fn the_walls_are_listed_with_their_reasons_from_every_screen() {
    for mut story in [Story::connected(), Story::with_ada()] {
        story.key(KeyCode::Esc);
        story.enters(":walls");
        assert_eq!(story.effects, [Effect::LoadWalls]);
        story.shows("Command sandbox");
        story.shows("Looking …");
        let long = "systemd has not handed over the group that yoi was started in; limits per process apply instead";
        story.happens(Message::Walls(Ok(items(["a room for each command, built by yoi itself", long]))));
        story.shows("namespaces on a room for each command, built by yoi itself");
        story.shows("cgroup off systemd has not handed over");
        story.shows("limits per process apply instead");
        story.key(KeyCode::Esc);
        story.shows_not("Command sandbox");
    }
}

#[test]
fn a_list_of_walls() {
    let mut story = Story::connected();
    story.enters(":walls");
    let long = "systemd has not handed over the group that yoi was started in; limits per process apply instead";
    story.happens(Message::Walls(Ok(items(["a room for each command, built by yoi itself", long]))));
    insta::assert_snapshot!("walls", story.screen());
}

#[test]
fn walls_that_do_not_fit_are_scrolled() {
    let mut story = Story::connected();
    story.happens(Message::Resize(80, 9));
    story.enters(":walls");
    story.happens(Message::Walls(Ok(items(["first", &"many words ".repeat(60)]))));
    story.shows("namespaces on first");
    (0..20).for_each(|_| story.key(KeyCode::Char('j')));
    story.shows_not("namespaces on first");
}

#[test]
fn walls_that_cannot_be_read_are_told_of_and_late_ones_open_nothing() {
    let mut story = Story::connected();
    story.enters(":walls");
    story.happens(Message::Walls(Err(refused(ErrorCode::Unauthorized, "this token is not the one of this server"))));
    story.shows("this token is not the one of this server");
    story.happens(Message::Walls(Ok(items(["late", "late"]))));
    story.shows_not("late");
}

#[test]
fn what_a_server_says_of_its_walls_drives_no_terminal() {
    let mut story = Story::connected();
    story.enters(":walls");
    story.happens(Message::Walls(Ok(items(["\u{1b}[2Jgone", "turned \u{202e}around"]))));
    let screen = story.screen();
    assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'), "{screen}");
}
