use protocol::{Candidate, PeerAnswer, PeerLink, PeerView, PodName};

use super::*;

fn introduces(done: Result<Answer, ClientError>) -> Story {
    let mut story = Story::with_ada();
    let before = story.screen().lines().count();
    story.enters(":peer bob");
    assert_eq!(story.act(), (address("ada"), Act::Introduce("bob".into())));
    story.done(done);
    assert!(story.model.open.as_ref().unwrap().transcript.blocks().is_empty(), "no block for what went wrong");
    assert_eq!(story.screen().lines().count(), before);
    story
}

fn linked(state: PeerLink) -> Result<Answer, ClientError> {
    Ok(Answer::Peer(PeerAnswer { source: address("ada"), peer: address("bob"), state, request_id: None }))
}

#[test]
fn adding_a_peer_is_reported_in_the_last_line() {
    introduces(linked(PeerLink::Linked)).shows("ada and bob are peers");
    introduces(linked(PeerLink::Pending)).shows("peer request sent to bob; it has to be accepted there");
    introduces(linked(PeerLink::OneSided)).shows("no messages get through");
}

#[test]
fn each_failure_is_a_sentence_of_its_own_in_the_last_line_and_no_block() {
    use ErrorCode as E;
    let candidate =
        |name: &str, pod: &str| Candidate { pod: pod.parse().unwrap(), name: PodName::parse(name).unwrap() };
    let several = vec![candidate("bob", "local/1"), candidate("bob", "gpu-box/7")];
    let near = vec![candidate("rob", "local/1")];
    let failures = [
        (E::PodNotFound, "no Pod", near, "no Pod is called \"bob\"; did you mean rob?"),
        (E::AmbiguousName, "two", several, "several Pods are called \"bob\": say which, bob@local or bob@gpu-box"),
        (E::PeerSelf, "no", vec![], "a Pod cannot be its own peer; choose another one"),
        (E::PeerRefused, "bob takes none", vec![], "refused, nothing was changed: bob takes none"),
        (E::NotRestorable, "bob is damaged", vec![], "unreadable, nothing was changed: bob is damaged"),
        (E::RuntimeUnavailable, "no answer", vec![], "unreachable, nothing was changed: no answer"),
        (E::NotVisible, "no such Pod", vec![], "not visible: no such Pod"),
    ];
    let mut seen = Vec::new();
    for (code, detail, candidates, sentence) in failures {
        let error = ClientError::Api(ApiError::new(code, detail).with_candidates(candidates));
        let mut story = introduces(Err(error));
        story.shows(sentence);
        // The sentence stays while the user continues typing.
        story.types("meanwhile");
        story.shows(sentence);
        seen.push(sentence);
    }
    seen.dedup();
    assert_eq!(seen.len(), 7);
}

#[test]
fn a_long_sentence_gets_the_lines_that_it_needs() {
    let candidates = (0..5)
        .map(|n| Candidate { pod: address("x"), name: PodName::parse(&format!("a-rather-long-name-{n}")).unwrap() });
    let error = ApiError::new(ErrorCode::PodNotFound, "none").with_candidates(candidates.collect());
    let story = introduces(Err(ClientError::Api(error)));
    insta::assert_snapshot!("long_sentence", story.screen());
    story.shows("or a-rather-long-name-4?");
}

#[test]
fn a_link_is_ended_by_name_and_only_peers_are_offered() {
    let mut story = Story::with_ada();
    story.enters(":unpeer bob");
    assert_eq!(story.effects, []);
    story.shows("it has no peer");
    let view: PeerView = serde_json::from_value(json!({ "pod": address("bob"), "name": "bob", "state": "idle",
        "link": "linked", "since": "2026-01-01T00:00:00Z", "by": "operator" }))
    .unwrap();
    story.model.open.as_mut().unwrap().peers = vec![view];
    story.types(":unpeer ");
    story.shows(":unpeer bob");
    story.key(KeyCode::Esc);
    story.types(":peer bob");
    story.shows("is a peer already");
    story.key(KeyCode::Esc);
    story.enters(":unpeer bob");
    assert_eq!(story.act().1, Act::Unlink("bob".into()));
    story.done(Ok(Answer::Accepted));
    story.shows("ada and bob are no longer peers");
    assert_eq!(story.effects, [Effect::Look(address("ada"))]);
}
