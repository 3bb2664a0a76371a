//! Each refusal has its own code and sentence, and changes nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    common::{Server, code},
    introduce, journal, known, pod_with, text_of,
};

#[tokio::test]
async fn each_refusal_is_told_apart_written_down_and_leaves_nothing() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    pod_with(&server, json!({ "name": "closed", "peer_policy": "closed" })).await;
    let before = (journal(&server, &ada).await, journal(&server, &bob).await);
    let own = text_of(&server, &ada).await;
    let table: [(&str, (u16, &str)); 7] = [
        ("bbo", (404, "pod_not_found")),
        ("nobody-at-all", (404, "pod_not_found")),
        ("bob@elsewhere", (404, "runtime_not_found")),
        ("b b", (400, "invalid_input")),
        ("ada", (422, "peer_self")),
        (&own, (422, "peer_self")),
        ("closed", (409, "peer_refused")),
    ];
    let mut sentences = BTreeSet::new();
    for (target, expected) in table {
        let answer = introduce(&server, &ada, target).await;
        assert_eq!(code(&answer), expected, "{target}: {}", answer.1);
        sentences.insert(answer.1["detail"].as_str().unwrap().to_owned());
    }
    assert_eq!(sentences.len(), 6, "one sentence for each, and one for being the same Pod: {sentences:#?}");
    assert_eq!((journal(&server, &ada).await, journal(&server, &bob).await), before);
    assert_eq!(known(&server, &ada).await, []);

    let mut codes: Vec<_> = table.iter().map(|(_, (_, code))| ("refused".to_owned(), (*code).to_owned())).collect();
    codes.reverse();
    assert_eq!(server.audited("peer").await, codes);
}

#[tokio::test]
async fn an_unknown_name_comes_with_those_that_are_near() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    let (_, problem) = introduce(&server, &ada, "bbo").await;
    let candidate = json!([{ "pod": crate::address(&server, &bob).await, "name": "bob" }]);
    assert_eq!(problem["candidates"], candidate);
    assert!(problem["detail"].as_str().unwrap().contains("did you mean \"bob\"?"), "{problem}");
    assert_eq!(introduce(&server, &ada, "nobody-at-all").await.1["candidates"], Value::Null);
}

#[tokio::test]
async fn a_pod_that_does_not_exist_adds_no_peers() {
    let server = Server::start().await;
    server.pod("bob").await;
    let nobody = "/api/v1/runtimes/local/workers/nobody";
    let elsewhere = "/api/v1/runtimes/elsewhere/workers/1";
    for (pod, expected) in [(nobody, (404, "pod_not_found")), (elsewhere, (404, "runtime_not_found"))] {
        assert_eq!(code(&introduce(&server, pod, "bob").await), expected);
        assert_eq!(code(&server.get(&format!("{pod}/peers")).await), expected);
        assert_eq!(code(&crate::write(&server, pod, "bob", "say x").await), expected);
        let exchange = format!("{pod}/peers/local/nobody/messages");
        assert_eq!(code(&server.get(&exchange).await), expected);
    }
    assert_eq!(server.audited("peer").await.len(), 2);
}

#[tokio::test]
async fn a_body_that_does_not_fit_adds_no_peer() {
    let server = Server::start().await;
    let (ada, _) = (server.pod("ada").await, server.pod("bob").await);
    let path = format!("{ada}/peers");
    for body in [json!({}), json!({ "target": "bob", "force": true }), json!({ "target": 1 }), json!(["bob"])] {
        assert_eq!(code(&server.post(&path, body.clone()).await), (400, "invalid_input"), "{body}");
    }
    let long = json!({ "target": "bob", "note": "x".repeat(1_001) });
    assert_eq!(code(&server.post(&path, long).await), (400, "invalid_input"));
    let fits = json!({ "target": "bob", "note": "é".repeat(1_000) });
    assert_eq!(server.post(&path, fits).await.0, 201);
}

#[tokio::test]
async fn a_closed_pod_can_still_add_peers_and_keeps_those_it_has() {
    let server = Server::start().await;
    let (ada, bob) = crate::pair(&server).await;
    let close = server.request(reqwest::Method::PATCH, &bob).json(&json!({ "peer_policy": "closed" }));
    assert_eq!(crate::answer(close).await.0, 200);
    assert_eq!(introduce(&server, &ada, "bob").await.0, 200, "it stood before");
    server.pod("carol").await;
    assert_eq!(introduce(&server, &bob, "carol").await.0, 201);
}
