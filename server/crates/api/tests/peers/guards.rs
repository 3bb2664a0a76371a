//! What holds messages, how it is shown, and how a person releases or drops them.

use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    address,
    common::{Server, answer, code},
    count, introduce, journal, pair, receipts, until, until_some, write,
};

async fn decide(server: &Server, pod: &str, id: &str, decision: &str) -> (u16, Value) {
    server.post(&format!("{pod}/messages/{id}"), json!({ "decision": decision })).await
}

/// A Pod that forwards to one other Pod only, whatever it is told.
async fn link_of_circle(server: &Server, pod: &str, not_to: &[&str]) {
    let rules: Vec<_> =
        not_to.iter().map(|name| json!({ "tool": "SendToPeerPod", "match": name, "decision": "deny" })).collect();
    assert_eq!(answer(server.request(Method::PATCH, pod).json(&json!({ "permissions": rules }))).await.0, 200);
}

/// `ada` writes to `bob`, `bob` to `carol`, `carol` to `ada`: each forwards everything it gets. Returns their paths.
async fn circle(server: &Server) -> [String; 3] {
    let pods = [server.pod("ada").await, server.pod("bob").await, server.pod("carol").await];
    for (pod, target) in [(&pods[0], "bob"), (&pods[1], "carol"), (&pods[2], "ada")] {
        assert_eq!(introduce(server, pod, target).await.0, 201);
    }
    link_of_circle(server, &pods[0], &["ada", "carol"]).await;
    link_of_circle(server, &pods[1], &["ada", "bob"]).await;
    link_of_circle(server, &pods[2], &["bob", "carol"]).await;
    pods
}

#[tokio::test]
async fn a_message_that_goes_round_in_a_circle_is_held_after_eight_steps_and_goes_on_when_it_is_released() {
    let server = Server::start().await;
    let [ada, bob, carol] = circle(&server).await;
    let text = "relay ada\nrelay bob\nrelay carol";
    assert_eq!(write(&server, &ada, "bob", text).await.1["state"], "stored");
    let held = until_some(&server, &ada, "message_receipt", |event| event["state"] == "held").await;
    let id = held["message_id"].as_str().unwrap();
    assert_eq!(held["peer"]["name"], "bob");
    until_some(&server, &bob, "message_receipt", |event| event["message_id"] == *id && event["state"] == "held").await;
    let mut hops = Vec::new();
    for pod in [&ada, &bob, &carol] {
        hops.extend(server.records(pod, "peer_message").await.iter().map(|event| event["hops"].as_u64().unwrap()));
    }
    hops.sort_unstable();
    assert_eq!(hops, [0, 1, 2, 3, 4, 5, 6, 7, 8], "one each, and none beyond");
    let told = |event: &Value| event["is_error"] == false && event["summary"].as_str().unwrap().contains("held");
    until_some(&server, &ada, "tool_finished", told).await;

    assert_eq!(decide(&server, &bob, id, "release").await, (200, json!({ "message_id": id, "state": "stored" })));
    until_some(&server, &bob, "peer_message", |event| event["message_id"] == *id && event["text"] == text).await;
    until_some(&server, &ada, "message_receipt", |event| event["message_id"] == *id && event["state"] == "answered")
        .await;
    assert_eq!(receipts(&server, &ada, id).await, ["held", "stored", "read", "answered"]);
    let next = until_some(&server, &carol, "message_receipt", |event| event["state"] == "held").await;
    assert_eq!(next["peer"]["name"], "bob", "the one that follows from it is held again");
    let next = next["message_id"].as_str().unwrap();
    assert_eq!(decide(&server, &bob, next, "drop").await, (200, json!({ "message_id": next, "state": "refused" })));
    for pod in [&bob, &carol] {
        assert_eq!(receipts(&server, pod, next).await, ["held", "refused"]);
    }
    assert_eq!(count(&server, &carol, "peer_message").await, 3);
    let decisions = server.audited("message_decide").await;
    assert_eq!(decisions, vec![("done".to_owned(), String::new()); 2]);
}

/// Writes until a message is held; returns its id, and how many were delivered.
async fn write_until_held(server: &Server, from: &str, to: &str) -> (String, usize) {
    for sent in 0..100 {
        let (status, answer) = write(server, from, to, &format!("say {sent}")).await;
        assert_eq!(status, 202, "{answer}");
        if answer["state"] == "held" {
            return (answer["message_id"].as_str().unwrap().to_owned(), sent);
        }
    }
    panic!("none of a hundred was held");
}

#[tokio::test]
async fn after_thirty_at_once_a_pair_waits_and_what_is_held_is_shown_on_both_sides() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let quiet = server.request(Method::PATCH, &bob).json(&json!({ "wake_on_peer": false }));
    assert_eq!(answer(quiet).await.0, 200);
    server.pod("carol").await;
    assert_eq!(introduce(&server, &ada, "carol").await.0, 201);
    let begun = Instant::now();
    let (id, sent) = write_until_held(&server, &ada, "bob").await;
    let regained = usize::try_from(begun.elapsed().as_secs()).unwrap() / 2 + 1;
    assert!((30..=30 + regained).contains(&sent), "{sent} went through");
    assert_eq!(count(&server, &bob, "peer_message").await, sent, "what is held is not delivered");
    for (pod, other) in [(&ada, "bob"), (&bob, "ada")] {
        assert_eq!(receipts(&server, pod, &id).await, ["held"]);
        let held = until_some(&server, pod, "message_receipt", |event| event["message_id"] == *id).await;
        assert_eq!(held["peer"]["name"], other);
    }
    let worker = address(&server, &bob).await["worker_id"].as_str().unwrap().to_owned();
    let newest = server.get(&format!("{ada}/peers/local/{worker}/messages?limit=1")).await.1["items"][0].clone();
    assert_eq!((&newest["message_id"], &newest["state"]), (&json!(id), &json!("held")));
    assert_eq!(write(&server, &ada, "carol", "say x").await.1["state"], "stored", "another pair has its own pace");

    let server = server.restart().await;
    assert_eq!(decide(&server, &ada, &id, "release").await.0, 200);
    until(&server, &bob, |events| {
        events.iter().any(|event| event["kind"] == "peer_message" && event["message_id"] == *id)
    })
    .await;
    assert_eq!(receipts(&server, &ada, &id).await, ["held", "stored"]);
    assert_eq!(code(&decide(&server, &ada, &id, "release").await), (409, "already_answered"));
    assert_eq!(code(&decide(&server, &bob, &id, "drop").await), (409, "already_answered"));
}

#[tokio::test]
async fn only_the_two_it_is_between_decide_about_a_held_message_and_a_repeat_decides_once() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let carol = server.pod("carol").await;
    let quiet = server.request(Method::PATCH, &bob).json(&json!({ "wake_on_peer": false }));
    assert_eq!(answer(quiet).await.0, 200);
    let (id, _) = write_until_held(&server, &ada, "bob").await;
    assert_eq!(code(&decide(&server, &carol, &id, "release").await), (404, "not_found"));
    assert_eq!(code(&decide(&server, &ada, "message-of-nobody", "drop").await), (404, "not_found"));
    assert_eq!(code(&decide(&server, &ada, &id, "keep").await), (400, "invalid_input"));
    assert_eq!(server.post(&format!("{bob}/stop"), json!({})).await.0, 202);
    server.until(&bob, "stopped").await;
    assert_eq!(code(&decide(&server, &ada, &id, "release").await), (409, "not_live"));
    let path = format!("{ada}/messages/{id}");
    let drop = |decision: &str| {
        let body = json!({ "decision": decision });
        answer(server.request(Method::POST, &path).header("Idempotency-Key", "d-1").json(&body))
    };
    let first = drop("drop").await;
    assert_eq!(first, (200, json!({ "message_id": id, "state": "refused" })), "also of a stopped Pod");
    assert_eq!(drop("drop").await, first);
    assert_eq!(code(&drop("release").await), (422, "key_reused"));
    let held: Vec<_> = journal(&server, &bob).await.into_iter().filter(|event| event["message_id"] == *id).collect();
    assert_eq!(held.len(), 2, "held, then refused, and never a message: {held:?}");
}

/// Has a Pod write to `bob` and waits until he has answered; returns whether it was delivered.
async fn ask_and_wait(server: &Server, from: &str, bob: &str) -> bool {
    let (_, sent) = write(server, from, "bob", "say ok").await;
    if sent["state"] == "held" {
        return false;
    }
    let exchange = format!("{from}/peers/{bob}/messages?limit=1");
    testkit::until_so(format!("{sent} is answered"), async || {
        let newest = server.get(&exchange).await.1["items"][0].clone();
        newest["message_id"] == sent["message_id"] && newest["state"] == "answered"
    })
    .await;
    true
}

#[tokio::test]
async fn a_receiver_that_was_woken_two_hundred_times_within_an_hour_is_left_alone() {
    let server = Server::start().await;
    let path = server.pod("bob").await;
    let bob = crate::text_of(&server, &path).await;
    let mut went = 0;
    for number in 0..7 {
        let sender = server.pod(&format!("sender-{number}")).await;
        assert_eq!(introduce(&server, &sender, "bob").await.0, 201);
        for _ in 0..29 {
            if !ask_and_wait(&server, &sender, &bob).await {
                break;
            }
            went += 1;
        }
    }
    assert_eq!(went, 200);
    server.say(&path, "say a person may").await;
}
