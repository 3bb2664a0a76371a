//! If a Pod's policy is `ask`, somebody on its side answers.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    address,
    common::{Server, answer, code},
    count, history, introduce, known, linked, pod_with, un_peer,
};

/// `ada`, and `bob`, whose policy is `ask`; returns their paths.
async fn asking(server: &Server) -> (String, String) {
    let ada = server.pod("ada").await;
    (ada, pod_with(server, json!({ "name": "bob", "peer_policy": "ask" })).await)
}

/// Has `ada` send `bob` a peer request; returns the request's id.
async fn request(server: &Server, ada: &str) -> String {
    let (status, answer) = introduce(server, ada, "bob").await;
    assert_eq!((status, &answer["state"]), (202, &json!("pending")), "{answer}");
    answer["request_id"].as_str().unwrap().to_owned()
}

async fn decide(server: &Server, pod: &str, id: &str, decision: &str) -> (u16, Value) {
    server.post(&format!("{pod}/peers/requests/{id}"), json!({ "decision": decision })).await
}

#[tokio::test]
async fn a_request_is_pending_on_both_sides_until_it_is_accepted() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let before = (history(&server, &ada).await, history(&server, &bob).await);
    let asked = json!({ "target": "bob", "note": "about the report" });
    let (status, pending) = server.post(&format!("{ada}/peers"), asked.clone()).await;
    let id = pending["request_id"].as_str().unwrap().to_owned();
    let (a, b) = (address(&server, &ada).await, address(&server, &bob).await);
    assert_eq!((status, &pending), (202, &json!({ "source": a, "peer": b, "state": "pending", "request_id": id })));
    assert_eq!(server.post(&format!("{ada}/peers"), asked).await, (202, pending), "asked again it is the same one");

    for (own, other, is_asked) in [(&ada, "bob", false), (&bob, "ada", true)] {
        let item = &server.get(&format!("{own}/peers")).await.1["items"][0];
        let told = (&item["name"], &item["link"], &item["request_id"], &item["is_asked"], &item["note"]);
        let note = json!("about the report");
        assert_eq!(told, (&json!(other), &json!("pending"), &json!(id), &json!(is_asked), &note));
        let record = server.records(own, "peer_requested").await;
        assert_eq!(
            (record.len(), &record[0]["peer"]["name"], &record[0]["request_id"]),
            (1, &json!(other), &json!(id))
        );
        assert_eq!(server.get(&format!("{own}/visible")).await.1["items"].as_array().unwrap().len(), 1);
    }
    let open = server.get("/api/v1/requests").await.1["items"].clone();
    assert_eq!((open.as_array().unwrap().len(), &open[0]["request_id"]), (1, &json!(id)));
    assert_eq!((&open[0]["from"], &open[0]["to"], &open[0]["from_name"]), (&a, &b, &json!("ada")));

    let (status, accepted) = decide(&server, &bob, &id, "accept").await;
    assert_eq!((status, accepted), (200, json!({ "source": b, "peer": a, "state": "linked", "request_id": id })));
    for (own, other) in [(&ada, "bob"), (&bob, "ada")] {
        assert_eq!(known(&server, own).await, linked(other));
        assert_eq!(server.records(own, "peer_linked").await[0]["request_id"], json!(id));
    }
    assert_eq!(server.get("/api/v1/requests").await.1["items"], json!([]));
    assert_eq!((history(&server, &ada).await, history(&server, &bob).await), before);
    assert_eq!(count(&server, &bob, "run_started").await, 0);
    assert_eq!(server.audited("peer_decide").await, [("done".to_owned(), String::new())]);
}

#[tokio::test]
async fn of_two_answers_the_first_counts_and_a_repeat_of_it_is_no_second_one() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let id = request(&server, &ada).await;
    let path = format!("{bob}/peers/requests/{id}");
    let answered = |decision: &str| {
        let body = json!({ "decision": decision });
        answer(server.request(Method::POST, &path).header("Idempotency-Key", "k-1").json(&body))
    };
    let first = answered("decline").await;
    assert_eq!(first.0, 200);
    assert_eq!(answered("decline").await, first);
    assert_eq!(code(&answered("accept").await), (422, "key_reused"));
    assert_eq!(code(&decide(&server, &bob, &id, "accept").await), (409, "already_answered"));
    for (own, other) in [(&ada, "bob"), (&bob, "ada")] {
        assert_eq!(known(&server, own).await, []);
        let told = server.records(own, "peer_declined").await;
        assert_eq!((told.len(), &told[0]["peer"]["name"], &told[0]["request_id"]), (1, &json!(other), &json!(id)));
    }
    assert_ne!(request(&server, &ada).await, id, "one may ask again");
}

#[tokio::test]
async fn a_request_that_is_withdrawn_cannot_be_answered() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let id = request(&server, &ada).await;
    assert_eq!(un_peer(&server, &ada, &bob).await, 204);
    assert_eq!(code(&decide(&server, &bob, &id, "accept").await), (409, "already_answered"));
    for own in [&ada, &bob] {
        assert_eq!(known(&server, own).await, []);
        assert_eq!(server.records(own, "peer_declined").await[0]["note"], "withdrawn");
    }
}

#[tokio::test]
async fn only_the_side_that_was_asked_answers_and_only_what_was_asked() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let carol = server.pod("carol").await;
    let id = request(&server, &ada).await;
    assert_eq!(code(&decide(&server, &ada, &id, "accept").await), (403, "permission_denied"));
    assert_eq!(code(&decide(&server, &carol, &id, "accept").await), (404, "not_found"));
    assert_eq!(code(&decide(&server, &bob, "request-of-nobody", "accept").await), (404, "not_found"));
    assert_eq!(code(&decide(&server, &bob, &id, "perhaps").await), (400, "invalid_input"));
    assert_eq!(known(&server, &bob).await, [("ada".to_owned(), "pending".to_owned())]);
}

#[tokio::test]
async fn that_the_other_side_asks_too_is_an_answer() {
    let server = Server::start().await;
    let ada = pod_with(&server, json!({ "name": "ada", "peer_policy": "ask" })).await;
    let bob = pod_with(&server, json!({ "name": "bob", "peer_policy": "ask" })).await;
    let id = request(&server, &ada).await;
    let (status, linked_now) = introduce(&server, &bob, "ada").await;
    assert_eq!((status, &linked_now["state"]), (201, &json!("linked")), "{linked_now}");
    assert_eq!((known(&server, &ada).await, known(&server, &bob).await), (linked("bob"), linked("ada")));
    assert_eq!(code(&decide(&server, &bob, &id, "accept").await), (409, "already_answered"));
    assert_eq!(code(&decide(&server, &bob, &id, "decline").await), (409, "already_answered"));
}

#[tokio::test]
async fn a_request_survives_a_restart_and_a_change_of_mind_about_who_may_ask() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let id = request(&server, &ada).await;
    let patch = server.request(Method::PATCH, &bob).json(&json!({ "peer_policy": "open" }));
    assert_eq!(answer(patch).await.0, 200);
    let server = server.restart().await;
    assert_eq!(server.get("/api/v1/requests").await.1["items"][0]["request_id"], json!(id));
    assert_eq!(decide(&server, &bob, &id, "accept").await.0, 200);
    assert_eq!((known(&server, &ada).await, known(&server, &bob).await), (linked("bob"), linked("ada")));
}

#[tokio::test]
async fn a_request_ends_with_either_pod_and_the_other_one_is_told() {
    let server = Server::start().await;
    let (ada, bob) = asking(&server).await;
    let id = request(&server, &ada).await;
    let gone = server.request(Method::DELETE, &format!("{ada}?confirm=ada"));
    assert_eq!(answer(gone).await.0, 204);
    assert_eq!(known(&server, &bob).await, []);
    let told = &server.records(&bob, "peer_declined").await[0];
    assert_eq!((&told["request_id"], &told["note"]), (&json!(id), &json!("deleted")));
    assert_eq!(code(&decide(&server, &bob, &id, "accept").await), (409, "already_answered"));
}
