//! How long a relation lasts: across restarts and renames, until either side or a deletion ends it.

use reqwest::Method;
use serde_json::json;

use crate::{
    address,
    common::{Server, answer, code},
    count, history, introduce, known, linked, pair, receipts, seen, tool, un_peer, until_some, write,
};

#[tokio::test]
async fn it_survives_a_restart_of_the_server_and_a_restore_of_either_side() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    for pod in [&ada, &bob] {
        assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    }
    let server = server.restart().await;
    for (pod, other) in [(&ada, "bob"), (&bob, "ada")] {
        assert_eq!(known(&server, pod).await, linked(other));
        assert_eq!(server.post(&format!("{pod}/restore"), json!({})).await.0, 202);
        server.until(pod, "idle").await;
        assert_eq!((known(&server, pod).await, count(&server, pod, "peer_linked").await), (linked(other), 1));
    }
    let (status, sent) = write(&server, &ada, "bob", "say still here").await;
    assert_eq!(status, 202, "{sent}");
    until_some(&server, &bob, "message_finished", |event| event["text"] == "still here").await;
}

#[tokio::test]
async fn a_new_name_keeps_it_and_is_what_the_other_side_sees() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let rename = server.request(Method::PATCH, &bob).json(&json!({ "name": "robert" }));
    assert_eq!(answer(rename).await.0, 200);
    assert_eq!(known(&server, &ada).await, linked("robert"));
    assert_eq!(seen(&server, &ada).await[1].0, "robert");
    assert_eq!(code(&write(&server, &ada, "bob", "say x").await), (404, "pod_not_found"));
    assert_eq!(write(&server, &ada, "robert", "say x").await.0, 202);
}

#[tokio::test]
async fn either_side_ends_it_for_both_without_a_trace_in_what_the_models_read() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    server.say(&ada, "say hello").await;
    let before = (history(&server, &ada).await, history(&server, &bob).await);
    for (own, other) in [(&ada, &bob), (&bob, &ada)] {
        assert_eq!(un_peer(&server, own, other).await, 204);
        assert_eq!((known(&server, &ada).await, known(&server, &bob).await), (vec![], vec![]));
        assert_eq!((seen(&server, &ada).await.len(), seen(&server, &bob).await.len()), (1, 1));
        assert_eq!(code(&write(&server, &ada, "bob", "say x").await), (403, "not_visible"));
        assert_eq!(un_peer(&server, own, other).await, 204, "what is not there needs no end");
        assert_eq!(introduce(&server, own, server.get(other).await.1["name"].as_str().unwrap()).await.0, 201);
    }
    assert_eq!((history(&server, &ada).await, history(&server, &bob).await), before);
    for (pod, other) in [(&ada, "bob"), (&bob, "ada")] {
        let told = server.records(pod, "peer_unlinked").await;
        assert_eq!((told.len(), &told[0]["peer"]["name"], &told[0]["by"]), (2, &json!(other), &json!("operator")));
    }
}

#[tokio::test]
async fn an_end_of_what_never_was_is_an_end_and_touches_nobody_else() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let worker = address(&server, &bob).await["worker_id"].as_str().unwrap().to_owned();
    for peer in ["local/nobody".to_owned(), format!("elsewhere/{worker}"), "elsewhere/1".to_owned()] {
        assert_eq!(answer(server.request(Method::DELETE, &format!("{ada}/peers/{peer}"))).await.0, 204, "{peer}");
    }
    assert_eq!(known(&server, &ada).await, linked("bob"));
    let nobody = server.request(Method::DELETE, "/api/v1/runtimes/local/workers/nobody/peers/local/1");
    assert_eq!(code(&answer(nobody).await), (404, "pod_not_found"));
    let malformed = server.request(Method::DELETE, &format!("{ada}/peers/LOCAL/1"));
    assert_eq!(code(&answer(malformed).await), (400, "invalid_input"));
}

#[tokio::test]
async fn the_end_of_a_pod_ends_it_and_the_other_side_is_told() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let gone = server.request(Method::DELETE, &format!("{bob}?confirm=bob"));
    assert_eq!(answer(gone).await.0, 204);
    assert_eq!(known(&server, &ada).await, []);
    assert_eq!(server.get(&ada).await.1["relations"]["peers"], 0);
    let told = &server.records(&ada, "peer_unlinked").await[0];
    assert_eq!((&told["peer"]["name"], &told["note"]), (&json!("bob"), &json!("deleted")));
    server.pod("bob").await;
    assert_eq!(known(&server, &ada).await, [], "another Pod of this name is another Pod");
    assert_eq!(code(&write(&server, &ada, "bob", "say x").await), (403, "not_visible"));
}

#[tokio::test]
async fn a_child_that_is_a_peer_too_shows_both_and_keeps_both_rights() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let spawned = tool(&server, &ada, "SpawnPod", json!({ "name": "kid", "task": "say ready", "scope": [] })).await;
    assert_eq!(spawned["is_error"], false, "{spawned}");
    let to_it = json!({ "name": "kid", "message": "say heard" });
    assert_eq!(tool(&server, &ada, "SendToPeerPod", to_it.clone()).await["code"], "permission_denied");
    let kid = crate::common::pod_path(&server.get(&ada).await.1["children"][0]["pod"]);
    server.until(&kid, "idle").await;

    assert_eq!(introduce(&server, &ada, "kid").await.0, 201);
    let both = ("kid".to_owned(), json!(["spawned_child", "peer"]));
    assert_eq!(seen(&server, &ada).await, [("ada".to_owned(), json!(["self"])), both]);
    assert_eq!(seen(&server, &kid).await[1], ("ada".to_owned(), json!(["peer"])));
    let relations = &server.get(&ada).await.1["relations"];
    assert_eq!((&relations["children"], &relations["peers"]), (&json!(1), &json!(1)));

    let sent = tool(&server, &ada, "SendToPeerPod", to_it.clone()).await;
    assert_eq!(sent["is_error"], false, "{sent}");
    until_some(&server, &kid, "message_finished", |event| event["text"] == "heard").await;
    server.until(&kid, "idle").await;
    assert_eq!(tool(&server, &ada, "SendToPod", to_it).await["is_error"], false);
    server.until(&kid, "idle").await;
    assert_eq!(un_peer(&server, &kid, &ada).await, 204);
    assert_eq!(seen(&server, &ada).await[1], ("kid".to_owned(), json!(["spawned_child"])));
    assert_eq!(tool(&server, &ada, "StopPod", json!({ "name": "kid" })).await["is_error"], false);
}

#[tokio::test]
async fn what_is_on_its_way_when_it_ends_still_has_its_receipts() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    server.say_until(&bob, "wait 300", "running").await;
    let (_, sent) = write(&server, &ada, "bob", "say late").await;
    let id = sent["message_id"].as_str().unwrap();
    assert_eq!(un_peer(&server, &ada, &bob).await, 204);
    assert_eq!(server.post(&format!("{bob}/cancel"), json!({})).await.0, 202);
    // By now the message may have begun a run of its own.
    let now = json!({ "segments": [{ "type": "text", "text": "say now" }], "queue": true });
    assert_eq!(server.post(&format!("{bob}/input"), now).await.0, 202);
    let is_read = |event: &serde_json::Value| event["message_id"] == id && event["state"] == "read";
    until_some(&server, &ada, "message_receipt", is_read).await;
    assert_eq!(receipts(&server, &ada, id).await[..2], ["stored", "read"]);
}
