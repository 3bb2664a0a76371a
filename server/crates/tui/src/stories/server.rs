use super::*;

#[test]
fn without_a_server_it_says_reconnecting_and_opens_the_wanted_pod_when_there_is_one() {
    let mut story = Story::fresh(Some("ada"));
    story.connection(Connection::Reconnecting { attempt: 3, cause: "connection refused".into() });
    insta::assert_snapshot!("no_server", story.screen());
    assert_eq!(story.effects, []);
    story.connection(Connection::Connected);
    assert_eq!(story.effects, [Effect::Resolve("ada".into())]);
    story.happens(Message::Resolved { target: "ada".into(), done: Err(no_server()) });
    story.connection(Connection::Connected);
    assert_eq!(story.effects, [Effect::Resolve("ada".into())], "it went away again and is asked again");
    story.happens(Message::Resolved { target: "ada".into(), done: Ok(address("ada")) });
    assert_eq!(story.effects, [Effect::Subscribe(address("ada")), Effect::Look(address("ada"))]);
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are_near() {
    let mut story = Story::connected();
    let near = protocol::Candidate { pod: address("ada"), name: protocol::PodName::parse("ada").unwrap() };
    let error = ApiError::new(ErrorCode::PodNotFound, "no Pod is called \"ado\"").with_candidates(vec![near]);
    story.happens(Message::Resolved { target: "ado".into(), done: Err(ClientError::Api(error)) });
    story.shows("no Pod is called \"ado\" (ada)");
}

#[test]
fn while_the_server_is_away_typing_goes_on_and_all_is_kept() {
    let mut story = Story::with_ada();
    story.records(vec![user("go"), json!({ "kind": "text_chunk", "block": "b", "text": "half an ans" })]);
    story.looked(json!({ "queued": [
        { "command_id": "q", "segments": [{ "type": "text", "text": "later" }], "at": "2026-01-01T00:00:00Z" }] }));
    story.connection(Connection::Reconnecting { attempt: 1, cause: "gone".into() });
    story.types("my draft");
    insta::assert_snapshot!("reconnecting", story.screen());
    story.connection(Connection::Connected);
    assert_eq!(story.effects, [Effect::Look(address("ada"))]);
    story.happens(Message::Looked { pod: address("ada"), done: Err(no_server()) });
    story.shows("queued  later");
    story.connection(Connection::CaughtUp { records: 34 });
    story.shows("caught up: 34 records");
    assert_eq!(story.composer(), "my draft");
    story.connection(Connection::Reloaded);
    story.shows("reloaded from a snapshot");
}

#[test]
fn records_that_come_twice_are_there_once() {
    let mut story = Story::with_ada();
    let chunk = |seq: i64, text: &str| {
        json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "run_id": "r1",
            "event": { "kind": "text_chunk", "block": "b", "text": text } })
    };
    let frame = json!({ "type": "records", "id": "s2", "after": "c", "cursor": "c", "records": [chunk(1, "one "), chunk(2, "two")] });
    story.frame(frame.clone());
    story.frame(frame);
    story.shows("one two▍");
    story.shows_not("one twoone");
}

#[test]
fn a_refused_token_says_where_it_comes_from_on_both_screens() {
    let mut story = Story::fresh(None);
    story.connection(Connection::Unauthorized);
    insta::assert_snapshot!("unauthorised", story.screen());
    let mut story = Story::with_ada();
    story.connection(Connection::Unauthorized);
    story.shows("token refused");
    story.enters(":pause");
    story.done(Err(refused(ErrorCode::Unauthorized, "this token is not the one of this server")));
    story.shows("this token is not the one of this server");
}

#[test]
fn a_pod_that_is_gone_leads_back_to_the_list_with_a_sentence() {
    let mut story = Story::with_ada();
    story.types("unsent");
    story.frame(json!({ "type": "diagnostic", "id": "s2", "code": "pod_gone", "detail": "it was deleted" }));
    assert!(story.model.open.is_none());
    story.shows("ada is gone: it was deleted");
    assert_eq!(story.effects, [Effect::Unsubscribe("s2".into())]);
}

#[test]
fn a_pod_that_cannot_be_reached_stays_open_and_is_tried_again() {
    let mut story = Story::with_ada();
    story.frame(json!({ "type": "diagnostic", "id": "s2", "code": "runtime_unavailable", "detail": "box is away" }));
    story.shows("ada is unreachable, retrying: box is away");
    assert!(story.model.open.is_some());
}

#[test]
fn the_queue_is_looked_at_when_a_run_begins_and_one_question_is_under_way_at_a_time() {
    let mut story = Story::with_ada();
    story.records(vec![json!({ "kind": "run_started", "trigger": "input" })]);
    assert_eq!(story.effects, [Effect::Look(address("ada"))]);
    story.records(vec![
        json!({ "kind": "run_finished", "outcome": "completed", "usage": { "input": 0, "cached": 0, "output": 0 } }),
    ]);
    assert_eq!(story.effects, []);
    let detail = Message::Looked { pod: address("bob"), done: Err(no_server()) };
    story.happens(detail);
    assert_eq!(story.effects, [], "of another Pod");
}
