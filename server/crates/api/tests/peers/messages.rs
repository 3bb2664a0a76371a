//! Messages between Pods: durable before they are reported as sent, read once, in order, with receipts.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    address, ask_for_lists, bring,
    common::{Server, answer, code},
    count, journal, pair, receipts, tool, until, until_some, write,
};

#[tokio::test]
async fn a_model_writes_to_its_peer_which_wakes_reads_and_answers() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    server.say(&ada, r#"call SendToPeerPod {"name":"bob","message":"say hi"}"#).await;
    let called = until_some(&server, &ada, "tool_finished", |_| true).await;
    assert_eq!(called["is_error"], false, "{called}");

    let stored = until_some(&server, &bob, "peer_message", |_| true).await;
    let id = stored["message_id"].as_str().unwrap();
    let (a, b) = (address(&server, &ada).await, address(&server, &bob).await);
    let label = |pod: &Value, name: &str| json!({ "runtime_id": "local", "worker_id": pod["worker_id"], "name": name });
    assert_eq!((&stored["text"], &stored["from"]), (&json!("say hi"), &label(&a, "ada")));
    assert_eq!(stored["hops"], 0, "a person began it");
    assert_eq!(until_some(&server, &bob, "run_started", |_| true).await["trigger"], "peer");
    until_some(&server, &bob, "message_finished", |event| event["text"] == "hi").await;

    until_some(&server, &ada, "message_receipt", |event| event["state"] == "answered").await;
    until_some(&server, &bob, "message_receipt", |event| event["state"] == "answered").await;
    assert_eq!(receipts(&server, &ada, id).await, ["stored", "read", "answered"]);
    assert_eq!(receipts(&server, &bob, id).await, ["stored", "read", "answered"], "the same on both sides");
    for (pod, peer) in [(&ada, label(&b, "bob")), (&bob, label(&a, "ada"))] {
        let read = until_some(&server, pod, "message_receipt", |event| event["state"] == "read").await;
        assert_eq!((&read["peer"], &read["turn"]), (&peer, &json!(1)));
    }
    let history = server.get(&format!("{bob}/history")).await.1["messages"].to_string();
    assert!(history.contains("say hi") && history.contains("ada"), "{history}");
    assert_eq!(count(&server, &bob, "peer_message").await, 1);

    let call = called["call_id"].as_str().unwrap();
    let request = server.request(Method::POST, &format!("{ada}/messages")).header("Idempotency-Key", call);
    let (status, other) = answer(request.json(&json!({ "to": "bob", "text": "say more" }))).await;
    assert_eq!(status, 202, "{other}");
    assert_ne!(other["message_id"], json!(id), "a person's key that reads like a call is no call");
}

#[tokio::test]
async fn a_person_writes_as_a_pod_and_the_exchange_shows_both_sides_newest_first() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let (a, b) = (address(&server, &ada).await, address(&server, &bob).await);
    let mut sent = Vec::new();
    for (from, to) in [(&ada, "bob"), (&bob, "ada"), (&ada, "bob")] {
        let (status, answered) = write(&server, from, to, &format!("say {}", sent.len())).await;
        assert_eq!((status, &answered["state"]), (202, &json!("stored")), "{answered}");
        let id = answered["message_id"].clone();
        let done = |event: &Value| event["message_id"] == id && event["state"] == "answered";
        until_some(&server, from, "message_receipt", done).await;
        sent.push(id);
    }
    let of_ada = format!("{ada}/peers/local/{}/messages", b["worker_id"].as_str().unwrap());
    let of_bob = format!("{bob}/peers/local/{}/messages", a["worker_id"].as_str().unwrap());
    let (status, page) = server.get(&of_ada).await;
    assert_eq!((status, &page["next"]), (200, &Value::Null));
    assert_eq!(server.get(&of_bob).await.1, page, "the same from either side");
    let ids: Vec<_> = page["items"].as_array().unwrap().iter().rev().map(|item| item["message_id"].clone()).collect();
    assert_eq!(ids, sent);
    let newest = &page["items"][0];
    assert_eq!((&newest["from"], &newest["to"], &newest["text"]), (&a, &b, &json!("say 2")));
    assert_eq!((&newest["state"], &newest["hops"], &newest["turn"]), (&json!("answered"), &json!(0), &json!(2)));

    let first = server.get(&format!("{of_ada}?limit=2")).await.1;
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    let next = first["next"].as_str().unwrap();
    let rest = server.get(&format!("{of_ada}?limit=2&before={next}")).await.1;
    assert_eq!((&rest["items"][0]["message_id"], &rest["next"]), (&sent[0], &Value::Null));
    assert_eq!(code(&server.get(&format!("{of_ada}?before=x")).await), (400, "cursor_invalid"));
    assert_eq!(code(&server.get(&format!("{of_ada}?limit=0")).await), (400, "invalid_input"));
    assert_eq!(server.audited("message").await.len(), 3);
}

#[tokio::test]
async fn a_pod_that_is_not_to_be_woken_takes_note_and_reads_in_its_next_run() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let quiet = server.request(Method::PATCH, &bob).json(&json!({ "wake_on_peer": false }));
    assert_eq!(answer(quiet).await.0, 200);
    let (_, sent) = write(&server, &ada, "bob", "say later").await;
    let id = sent["message_id"].as_str().unwrap();
    assert_eq!(until_some(&server, &bob, "peer_message", |_| true).await["message_id"], json!(id));
    assert_eq!(
        (server.get(&bob).await.1["state"].clone(), count(&server, &bob, "run_started").await),
        (json!("idle"), 0)
    );
    assert_eq!(receipts(&server, &ada, id).await, ["stored"]);

    server.say(&bob, "say now").await;
    until_some(&server, &ada, "message_receipt", |event| event["state"] == "answered").await;
    assert_eq!(receipts(&server, &ada, id).await, ["stored", "read", "answered"]);
    assert_eq!(count(&server, &bob, "run_started").await, 1);
}

#[tokio::test]
async fn a_pod_in_mid_run_has_them_at_once_and_its_model_reads_them_in_order_when_it_is_asked_next() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    ask_for_lists(&server, &bob).await;
    server.say_until(&bob, "call ListPods {}", "waiting").await;
    for text in ["say first", "say second", "say third"] {
        assert_eq!(write(&server, &ada, "bob", text).await.0, 202);
    }
    let texts = |events: &[Value]| -> Vec<String> {
        let messages = events.iter().filter(|event| event["kind"] == "peer_message");
        messages.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&journal(&server, &bob).await), ["say first", "say second", "say third"]);
    assert!(!journal(&server, &ada).await.iter().any(|event| event["state"] == "read"));

    let asked = server.get(&format!("{bob}/approvals")).await.1["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.post(&format!("{bob}/approvals/{asked}"), json!({ "decision": "allow" })).await.0, 200);
    let is_answered = |event: &&Value| event["kind"] == "message_receipt" && event["state"] == "answered";
    until(&server, &ada, |events| events.iter().filter(is_answered).count() == 3).await;
    assert_eq!(texts(&journal(&server, &bob).await).len(), 3);
    let history = server.get(&format!("{bob}/history")).await.1["messages"].to_string();
    let places = ["say first", "say second", "say third"].map(|text| history.find(text).unwrap());
    assert!(places.is_sorted(), "{history}");
}

#[tokio::test]
async fn what_was_stored_is_there_once_and_is_read_after_a_restart() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    bring(&server, &bob, "paused").await;
    let mut ids = Vec::new();
    for text in ["say one", "say two"] {
        ids.push(write(&server, &ada, "bob", text).await.1["message_id"].as_str().unwrap().to_owned());
    }
    let server = server.restart().await;
    server.until(&bob, "paused").await;
    assert_eq!(count(&server, &bob, "peer_message").await, 2);
    server.say(&bob, "say go on").await;
    for id in &ids {
        until_some(&server, &ada, "message_receipt", |event| event["message_id"] == **id && event["state"] == "read")
            .await;
        assert_eq!(receipts(&server, &ada, id).await[..2], ["stored", "read"]);
    }
    assert_eq!(count(&server, &bob, "peer_message").await, 2);
}

#[tokio::test]
async fn a_stopped_peer_is_a_failure_that_names_the_way_out_and_it_stays_stopped() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    bring(&server, &bob, "stopped").await;
    let before = journal(&server, &bob).await;
    server.say(&ada, r#"call SendToPeerPod {"name":"bob","message":"say hi"}"#).await;
    let failed = until_some(&server, &ada, "tool_finished", |_| true).await;
    assert_eq!((&failed["is_error"], &failed["code"]), (&json!(true), &json!("not_live")));
    assert!(failed["summary"].as_str().unwrap().contains("RestorePod"), "{failed}");
    let by_person = write(&server, &ada, "bob", "say hi").await;
    assert_eq!(code(&by_person), (409, "not_live"));
    assert_eq!((journal(&server, &bob).await, count(&server, &ada, "message_receipt").await), (before, 0));
    assert_eq!(server.get(&bob).await.1["state"], "stopped");

    let restored = tool(&server, &ada, "RestorePod", json!({ "name": "bob" })).await;
    assert_eq!(restored["is_error"], false, "a peer may be restored: {restored}");
    server.until(&bob, "idle").await;
    assert_eq!(write(&server, &ada, "bob", "say hi").await.0, 202);
    assert_eq!(server.post(&format!("{ada}/stop"), json!({})).await.0, 202);
    assert_eq!(code(&write(&server, &ada, "bob", "say hi").await), (409, "not_live"), "nor does a stopped one write");
}

#[tokio::test]
async fn what_cannot_be_sent_is_an_error_with_its_own_code_and_nothing_is_sent() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    server.pod("carol").await;
    let fits = format!("say {}", "é".repeat(32_766));
    assert_eq!(fits.len(), 65_536);
    let before = journal(&server, &bob).await;
    let too_large = format!("{fits}x");
    for (to, text, expected) in [
        ("bob", too_large.as_str(), (413, "payload_too_large")),
        ("bob", " \n", (400, "invalid_input")),
        ("b b", "say x", (400, "invalid_input")),
        ("ada", "say x", (422, "peer_self")),
        ("carol", "say x", (403, "not_visible")),
        ("nobody", "say x", (404, "pod_not_found")),
        ("bob@elsewhere", "say x", (404, "runtime_not_found")),
    ] {
        assert_eq!(code(&write(&server, &ada, to, text).await), expected, "{to}");
    }
    for (to, text, expected) in [
        ("bob", too_large.as_str(), "payload_too_large"),
        ("ada", "say x", "peer_self"),
        ("carol", "say x", "not_visible"),
        ("nobody", "say x", "not_visible"),
    ] {
        let answer = tool(&server, &ada, "SendToPeerPod", json!({ "name": to, "message": text })).await;
        assert_eq!((&answer["is_error"], &answer["code"]), (&json!(true), &json!(expected)), "{to}: {answer}");
    }
    assert_eq!((journal(&server, &bob).await, count(&server, &ada, "message_receipt").await), (before, 0));
    assert_eq!(server.audited("message").await.len(), 7, "what was refused is in the audit");
    assert_eq!(write(&server, &ada, "bob", &fits).await.0, 202, "as large as may be");
    assert_eq!(until_some(&server, &bob, "peer_message", |_| true).await["text"], json!(fits));
}

#[tokio::test]
async fn a_repeat_of_a_key_sends_once_also_at_once_and_after_a_restart() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let send = async |server: &Server, text: &str| {
        let request = server.request(Method::POST, &format!("{ada}/messages")).header("Idempotency-Key", "m-1");
        answer(request.json(&json!({ "to": "bob", "text": text }))).await
    };
    let mut answers = join_all((0..6).map(|_| send(&server, "say once"))).await;
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].0, 202);
    until_some(&server, &ada, "message_receipt", |event| event["state"] == "answered").await;
    assert_eq!(send(&server, "say once").await, answers[0], "the first answer, wherever the message is by now");
    assert_eq!(code(&send(&server, "say twice").await), (422, "key_reused"));
    let server = server.restart().await;
    assert_eq!(send(&server, "say once").await, answers[0]);
    assert_eq!(count(&server, &bob, "peer_message").await, 1);
}
