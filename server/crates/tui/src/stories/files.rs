use protocol::{Listing, McpResource, Segment};

use super::*;
use crate::model::Choices;

fn answers(story: &mut Story, begun: &str, files: &[&str]) {
    let items = files.iter().map(|path| (*path).to_owned()).collect();
    story.happens(Message::Files {
        pod: address("ada"),
        begun: begun.into(),
        done: Ok(Listing { items, next: None }),
        resources: Vec::new(),
    });
}

fn asks_for(begun: &str) -> [Effect; 1] {
    [Effect::FindFiles { pod: address("ada"), begun: begun.into() }]
}

#[test]
fn a_file_is_named_by_a_few_letters_and_sent_as_a_file() {
    let mut story = Story::with_ada();
    story.types("look at @");
    assert_eq!(story.effects, asks_for(""));
    story.types("ma");
    assert_eq!(story.effects, [], "one question is under way at a time");
    answers(&mut story, "", &["Cargo.toml", "src/main.rs"]);
    assert_eq!(story.effects, asks_for("ma"), "the answer is of fewer letters than there are now");
    answers(&mut story, "ma", &["src/deep/main.rs", "Makefile", "my mail.txt"]);
    insta::assert_snapshot!("files", story.screen());
    story.key(KeyCode::Down);
    story.key(KeyCode::Tab);
    assert_eq!(story.composer(), "look at @Makefile ");
    story.shows_not("src/deep");
    story.types("and @m");
    answers(&mut story, "", &["Makefile"]);
    answers(&mut story, "m", &["my mail.txt"]);
    story.key(KeyCode::Enter);
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    let file = |path: &str| Segment::FileRef { path: path.into() };
    let expected = [Segment::text("look at "), file("Makefile"), Segment::text(" and "), file("my mail.txt")];
    assert_eq!(message.segments, expected);
}

#[test]
fn escape_closes_the_list_and_then_leaves_the_message() {
    let mut story = Story::with_ada_in("idle");
    story.types("@m");
    answers(&mut story, "", &["a"]);
    answers(&mut story, "m", &["Makefile"]);
    story.shows("@Makefile");
    story.key(KeyCode::Esc);
    story.shows_not("Makefile");
    assert_eq!((story.composer().as_str(), focus(&story)), ("@m", Focus::Composer));
    story.key(KeyCode::Esc);
    assert_eq!(focus(&story), Focus::Transcript);
}

#[test]
fn a_late_answer_and_one_for_another_name_change_nothing() {
    let mut story = Story::with_ada();
    story.types("@m ");
    answers(&mut story, "", &["Makefile"]);
    story.shows_not("Makefile");
    story.types("mail x@example");
    assert_eq!(story.effects, []);
    let mut story = Story::with_ada();
    story.types("@m");
    story.happens(Message::Files {
        pod: address("ada"),
        begun: String::new(),
        done: Err(no_server()),
        resources: Vec::new(),
    });
    story.shows_not("no yoi answers");
    assert_eq!(story.composer(), "@m");
}

#[test]
fn a_picture_is_attached_by_its_path_and_goes_with_the_message() {
    let mut story = Story::with_ada();
    story.types("look ");
    story.control('t');
    story.types(":attach /tmp/my cat.png");
    story.key(KeyCode::Enter);
    let [Effect::LoadChoices, Effect::Attach { path, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!(path, "/tmp/my cat.png");
    let blind = json!([{ "name": "rehearsal", "kind": "rehearsal", "default": true, "source": "built in",
        "models": [{ "name": "rehearsal", "images": false, "origin": { "images": "table" } }] }]);
    let choices = Choices { providers: serde_json::from_value(blind).unwrap(), ..Choices::default() };
    story.happens(Message::Choices(Ok(Box::new(choices))));
    let blob = protocol::BlobId::parse(&"0a".repeat(32)).unwrap();
    let kept = Segment::Image { blob, name: Some("my cat.png".into()) };
    story.happens(Message::Attached { pod: address("ada"), done: Ok(kept.clone()) });
    story.shows("rehearsal does not see pictures (table): it is only told that there is one");
    story.shows("[image my\u{a0}cat.png]".replace(' ', "\u{a0}").as_str());
    story.key(KeyCode::Char('i'));
    story.key(KeyCode::Enter);
    let [Effect::Send { message, .. }] = &story.effects[..] else { panic!("{:?}", story.effects) };
    assert_eq!(message.segments, [Segment::text("look "), kept]);

    let mut story = Story::with_ada();
    story.happens(Message::Attached { pod: address("ada"), done: Err(no_server()) });
    story.shows("not attached");
}

#[test]
fn a_resource_of_a_server_is_attached_in_place_of_what_was_typed() {
    let mut story = Story::with_ada();
    story.types("look at @no");
    let notes = McpResource {
        server: "files".into(),
        uri: "note://1".into(),
        name: "notes".into(),
        title: None,
        description: None,
        media_type: None,
        template: None,
    };
    for begun in ["", "no"] {
        let done = Ok(Listing { items: vec!["nothing.md".to_owned()], next: None });
        let resources = vec![notes.clone()];
        story.happens(Message::Files { pod: address("ada"), begun: begun.into(), done, resources });
    }
    story.shows("files: note://1");
    story.key(KeyCode::Down);
    story.key(KeyCode::Enter);
    assert_eq!(story.effects, [Effect::AttachResource { pod: address("ada"), resource: notes }]);
    assert_eq!(story.composer(), "look at ");
}

#[test]
fn the_beginning_of_an_address_is_typed_and_goes_on() {
    let mut story = Story::with_ada();
    story.types("look at @logs");
    let logs = McpResource {
        server: "files".into(),
        uri: "log://".into(),
        name: "logs".into(),
        title: None,
        description: None,
        media_type: None,
        template: Some("log://{day}".into()),
    };
    for begun in ["", "logs"] {
        let (done, resources) = (Ok(Listing { items: Vec::new(), next: None }), vec![logs.clone()]);
        story.happens(Message::Files { pod: address("ada"), begun: begun.into(), done, resources });
    }
    story.shows("files: log://{day}");
    story.key(KeyCode::Enter);
    assert_eq!(story.composer(), "look at @log://");
    assert_eq!(story.effects, [Effect::FindFiles { pod: address("ada"), begun: "log://".into() }]);
}
