//! A Pod's whole conversation, over a real listener: restoring, rewinding, compacting.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code, pod_path};
use reqwest::Method;
use serde_json::{Value, json};

async fn head(server: &Server, pod: &str) -> i64 {
    server.get(pod).await.1["head_seq"].as_i64().unwrap()
}

async fn contents(server: &Server, pod: &str) -> Vec<String> {
    let history = server.get(&format!("{pod}/history")).await.1;
    let messages = history["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_restore_takes_no_body_or_says_whether_it_is_of_a_tree() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let restore =
        |key: &'static str| server.request(Method::POST, &format!("{pod}/restore")).header("Idempotency-Key", key);
    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    let alone = answer(restore("r-1")).await;
    assert_eq!((alone.0, &alone.1["command_id"]), (202, &json!("r-1")));
    assert!(alone.1.get("report").is_none(), "{}", alone.1);
    // No body, an empty body and `tree: false` are the same command.
    assert_eq!(answer(restore("r-1").json(&json!({}))).await, alone);
    assert_eq!(answer(restore("r-1").json(&json!({ "tree": false }))).await, alone);
    assert_eq!(code(&answer(restore("r-1").json(&json!({ "tree": true }))).await), (422, "key_reused"));

    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    let tree = answer(restore("r-2").json(&json!({ "tree": true }))).await;
    assert_eq!((tree.0, &tree.1["command_id"]), (202, &json!("r-2")));
    assert_eq!(answer(restore("r-2").json(&json!({ "tree": true }))).await, tree);
    assert_eq!(server.get(&pod).await.1["state"], "idle");
    for body in [json!({ "tree": 1 }), json!({ "all": true }), json!([]), json!("tree")] {
        assert_eq!(code(&answer(restore("r-3").json(&body)).await), (400, "invalid_input"), "{body}");
    }
    let nobody = "/api/v1/runtimes/local/workers/nobody/restore";
    assert_eq!(code(&server.post(nobody, json!({})).await), (404, "pod_not_found"));
    assert_eq!(server.audited("restore").await.iter().filter(|(result, _)| result == "done").count(), 2);
}

#[tokio::test]
async fn a_rewind_takes_the_end_of_a_conversation_out_of_the_context_and_keeps_the_journal() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say(&pod, "say one").await;
    server.until(&pod, "idle").await;
    let kept = contents(&server, &pod).await;
    let to_seq = head(&server, &pod).await;
    server.say(&pod, "say two").await;
    server.until(&pod, "idle").await;
    assert!(contents(&server, &pod).await.len() > kept.len());

    let present = head(&server, &pod).await;
    let path = format!("{pod}/rewind");
    let rewind = |to_seq: i64, expected_head: i64| json!({ "to_seq": to_seq, "expected_head": expected_head });
    assert_eq!(code(&server.post(&path, rewind(to_seq, to_seq)).await), (409, "head_moved"));
    for outside in [-1, 0, present + 1] {
        assert_eq!(code(&server.post(&path, rewind(outside, present)).await), (400, "invalid_input"), "{outside}");
    }
    for body in [json!({}), json!({ "to_seq": 1 }), json!({ "to_seq": "1", "expected_head": present }), json!([])] {
        assert_eq!(code(&server.post(&path, body.clone()).await), (400, "invalid_input"), "{body}");
    }
    let done = server.post(&path, rewind(to_seq, present)).await;
    assert_eq!(done.0, 202, "{}", done.1);
    assert!(done.1["seq"].as_i64().unwrap() > present);
    assert_eq!(contents(&server, &pod).await, kept);
    assert!(head(&server, &pod).await > present);
    assert_eq!(server.records(&pod, "rewound").await, [json!({ "kind": "rewound", "to_seq": to_seq })]);
    let said = server.records(&pod, "message_finished").await;
    assert!(said.iter().any(|event| event["text"] == "two"), "the journal keeps what was rewound");
    assert!(server.audited("rewind").await.contains(&("refused".to_owned(), "head_moved".to_owned())));

    server.say_until(&pod, "wait 60", "running").await;
    let present = head(&server, &pod).await;
    assert_eq!(code(&server.post(&path, rewind(1, present)).await), (409, "busy"));
    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    let present = head(&server, &pod).await;
    assert_eq!(code(&server.post(&path, rewind(1, present)).await), (409, "not_live"));
}

#[tokio::test]
async fn a_retry_asks_again_without_a_new_message_and_says_when_there_is_nothing_to_retry() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let path = format!("{pod}/retry");
    assert_eq!(code(&server.post(&path, json!({})).await), (409, "nothing_to_retry"));
    server.say(&pod, "say half\nfail 401").await;
    server.until(&pod, "idle").await;
    let before = contents(&server, &pod).await;
    let present = head(&server, &pod).await;
    assert_eq!(code(&server.post(&path, json!({ "again": true })).await), (400, "invalid_input"));
    let done = server.post(&path, json!({})).await;
    assert_eq!(done.0, 202, "{}", done.1);
    assert!(done.1["seq"].as_i64().unwrap() > present);
    server.until(&pod, "idle").await;
    assert_eq!(contents(&server, &pod).await, before, "it failed in the same way");
    assert_eq!(server.records(&pod, "user_message").await.len(), 1);
    assert_eq!(server.records(&pod, "message_finished").await.len(), 2);
    let started = server.records(&pod, "run_started").await;
    assert_eq!(started.last().unwrap()["command_id"], done.1["command_id"]);

    server.say(&pod, "say fine").await;
    server.until(&pod, "idle").await;
    let refused = server.post(&path, json!({})).await;
    assert_eq!(code(&refused), (409, "nothing_to_retry"));
    assert!(refused.1["detail"].as_str().unwrap().contains("rewind"), "{}", refused.1);
    assert!(server.audited("retry").await.contains(&("refused".to_owned(), "nothing_to_retry".to_owned())));
    server.say_until(&pod, "wait 60", "running").await;
    assert_eq!(code(&server.post(&path, json!({})).await), (409, "busy"));
    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    assert_eq!(code(&server.post(&path, json!({})).await), (409, "not_live"));
}

#[tokio::test]
async fn a_fork_is_a_new_pod_with_the_history_up_to_a_record() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say(&pod, "say one").await;
    server.until(&pod, "idle").await;
    let (first, kept) = (head(&server, &pod).await, contents(&server, &pod).await);
    server.say(&pod, "say two").await;
    server.until(&pod, "idle").await;
    let path = format!("{pod}/fork");
    for body in [json!({}), json!({ "at_seq": first }), json!({ "name": "a b" }), json!({ "name": "eve", "at": 1 })] {
        assert_eq!(code(&server.post(&path, body.clone()).await), (400, "invalid_input"), "{body}");
    }
    let outside = json!({ "name": "eve", "at_seq": head(&server, &pod).await + 1 });
    assert_eq!(code(&server.post(&path, outside).await), (400, "invalid_input"));
    assert_eq!(code(&server.post(&path, json!({ "name": "ada" })).await), (409, "name_taken"));
    let made = server.post(&path, json!({ "name": "eve", "at_seq": first })).await;
    assert_eq!((made.0, &made.1["name"], &made.1["state"]), (201, &json!("eve"), &json!("idle")), "{}", made.1);
    let eve = pod_path(&made.1["pod"]);
    assert_eq!(contents(&server, &eve).await, kept);
    let told = server.records(&eve, "alert").await;
    assert!(told[0]["text"].as_str().unwrap().starts_with("forked from ada"), "{told:?}");
    server.say_until(&pod, "wait 60", "running").await;
    assert_eq!(code(&server.post(&path, json!({ "name": "dan" })).await), (409, "busy"));
    let audited = server.audited("fork").await;
    assert_eq!(audited.iter().filter(|(result, _)| result == "done").count(), 1);
}

#[tokio::test]
async fn a_compaction_says_what_it_would_do_and_does_it() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let path = format!("{pod}/compact");
    assert_eq!(server.get(&path).await, (204, Value::Null));
    for turn in 1..=3 {
        server.say(&pod, &format!("say answer {turn} {}", "word ".repeat(200))).await;
        server.until(&pod, "idle").await;
    }
    let before = contents(&server, &pod).await;
    let (status, preview) = server.get(&path).await;
    assert_eq!(status, 200);
    let number = |field: &str| preview[field].as_u64().unwrap_or_else(|| panic!("{field} of {preview}"));
    assert!(number("dropped") > 0 && number("kept") > 0);
    assert!(number("tokens_now") > number("tokens_kept"));
    let present = head(&server, &pod).await;
    assert!((2..=present).contains(&preview["kept_from_seq"].as_i64().unwrap()));
    assert_eq!(head(&server, &pod).await, present, "a look changes nothing");

    let request = || server.request(Method::POST, &path).header("Idempotency-Key", "c-1");
    let done = answer(request()).await;
    assert_eq!((done.0, &done.1["command_id"]), (202, &json!("c-1")));
    assert_eq!(answer(request().json(&json!({}))).await, done);
    testkit::until_so("it is compacted", async || !server.records(&pod, "compacted").await.is_empty()).await;
    server.until(&pod, "idle").await;
    let compacted = server.records(&pod, "compacted").await;
    assert_eq!((compacted.len(), &compacted[0]["kept_from_seq"]), (1, &preview["kept_from_seq"]));
    let after = contents(&server, &pod).await;
    assert!(after.len() < before.len() && after.last() == before.last(), "{after:?}");
    assert!(server.records(&pod, "user_message").await.len() == 3, "the journal keeps what was compacted");

    assert_eq!(code(&server.post(&path, json!({ "now": true })).await), (400, "invalid_input"));
    assert_eq!(code(&server.get("/api/v1/runtimes/local/workers/nobody/compact").await), (404, "pod_not_found"));
    server.say_until(&pod, "wait 60", "running").await;
    assert_eq!(code(&answer(server.request(Method::POST, &path)).await), (409, "busy"));
    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    assert_eq!(code(&answer(server.request(Method::POST, &path)).await), (409, "not_live"));
}
