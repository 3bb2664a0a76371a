//! Queued messages, over a real listener: taken back, and sent into the current run.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code};
use protocol::operations;
use protocol::{CommandId, InputCommand, PodRef, RuntimeId, Segment, WorkerId};
use reqwest::Method;
use serde_json::{Value, json};

/// Sends a message that is queued; returns the path for taking it back.
async fn queue(server: &Server, pod: &str, key: &str, steer: bool) -> String {
    let body = json!({ "segments": [{ "type": "text", "text": format!("say {key}") }], "queue": true, "steer": steer });
    let request = server.request(Method::POST, &format!("{pod}/input")).header("Idempotency-Key", key).json(&body);
    let (status, receipt) = answer(request).await;
    assert_eq!((status, &receipt["command_id"]), (202, &json!(key)));
    format!("{pod}/input/{key}")
}

async fn take_back(server: &Server, path: &str, key: &str) -> (u16, Value) {
    answer(server.request(Method::DELETE, path).header("Idempotency-Key", key)).await
}

/// Waits until this many runs have ended.
async fn until_ends(server: &Server, pod: &str, count: usize) {
    let ended = async || server.records(pod, "run_finished").await.len() == count;
    testkit::until_so(format!("{count} runs have ended"), ended).await;
}

async fn waits(server: &Server, pod: &str) -> Vec<Value> {
    server.get(pod).await.1["queued"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_queued_message_is_taken_back_with_what_it_said() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say_until(&pod, "wait 60", "running").await;
    let (first, second) = (queue(&server, &pod, "q-1", false).await, queue(&server, &pod, "q-2", true).await);
    let waiting = waits(&server, &pod).await;
    assert!(waiting[0].get("steer").is_none() && waiting[1]["steer"] == true, "{waiting:?}");

    let taken = take_back(&server, &first, "b-1").await;
    assert_eq!(taken, (200, waiting[0].clone()));
    assert_eq!(taken.1["segments"], json!([{ "type": "text", "text": "say q-1" }]));
    assert_eq!(take_back(&server, &first, "b-1").await, taken, "the same command");
    assert_eq!(code(&take_back(&server, &first, "b-2").await), (404, "not_found"));
    assert_eq!(code(&take_back(&server, &second, "b-1").await), (422, "key_reused"));
    assert_eq!(waits(&server, &pod).await, [waiting[1].clone()]);
    assert_eq!(code(&take_back(&server, &format!("{pod}/input/nobody"), "b-3").await), (404, "not_found"));
    assert_eq!(code(&take_back(&server, &format!("{pod}/input/a%20b"), "b-4").await), (400, "invalid_input"));
    let nowhere = "/api/v1/runtimes/local/workers/nobody/input/q-1";
    assert_eq!(code(&take_back(&server, nowhere, "b-5").await), (404, "pod_not_found"));
    let audited = server.audited("input").await;
    assert_eq!(audited.iter().filter(|(result, _)| result == "done").count(), 4, "three sent, one taken back");
    assert!(audited.contains(&("refused".to_owned(), "not_found".to_owned())));

    assert_eq!(server.post(&format!("{pod}/cancel"), json!({})).await.0, 202);
    until_ends(&server, &pod, 2).await;
    assert_eq!(code(&take_back(&server, &second, "b-6").await), (409, "already_answered"));
    let said = server.records(&pod, "user_message").await;
    assert!(said.iter().all(|message| message["command_id"] != "q-1"), "it never began");
}

#[tokio::test]
async fn an_interruption_answers_with_what_was_queued_and_a_repeat_with_the_same() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say_until(&pod, "wait 60", "running").await;
    queue(&server, &pod, "q-1", false).await;
    queue(&server, &pod, "q-2", true).await;
    let waiting = waits(&server, &pod).await;
    let path = format!("{pod}/interrupt");
    let interrupt = async |key: &str| answer(server.request(Method::POST, &path).header("Idempotency-Key", key)).await;
    let done = interrupt("i-1").await;
    assert_eq!((done.0, &done.1["queued"]), (200, &json!(waiting)));
    assert_eq!(done.1["command_id"], "i-1");
    assert_eq!(interrupt("i-1").await, done, "nothing is lost with an answer that did not arrive");
    assert_eq!(code(&interrupt("i-2").await), (409, "not_running"));
    assert!(waits(&server, &pod).await.is_empty());
    until_ends(&server, &pod, 1).await;
    assert_eq!(server.records(&pod, "user_message").await.len(), 1, "nothing queued began");
    let audited = server.audited("cancel").await;
    assert!(audited.iter().any(|(result, _)| result == "done"), "{audited:?}");
}

#[tokio::test]
async fn a_message_that_steers_goes_into_the_run_that_goes_on() {
    let server = Server::start_with(tools::Toolbox::new(tools::files::tools())).await;
    let pod = server.pod("ada").await;
    server.say_until(&pod, r#"call Write {"path":"a","content":"b"}"#, "waiting").await;
    queue(&server, &pod, "later", false).await;
    queue(&server, &pod, "sooner", true).await;
    let open = server.get(&format!("{pod}/approvals")).await.1["items"][0]["id"].as_str().unwrap().to_owned();
    let denied = server.post(&format!("{pod}/approvals/{open}"), json!({ "decision": "deny" })).await;
    assert_eq!(denied.0, 200, "{}", denied.1);
    until_ends(&server, &pod, 2).await;
    let began: Vec<_> =
        server.records(&pod, "run_started").await.into_iter().map(|event| event["command_id"].clone()).collect();
    assert_eq!((began.len(), &began[1]), (2, &json!("later")));
    let said: Vec<_> =
        server.records(&pod, "user_message").await.into_iter().map(|event| event["command_id"].clone()).collect();
    assert_eq!(said[1..], [json!("sooner"), json!("later")]);
    let answers = server.records(&pod, "message_finished").await;
    assert_eq!((&answers[0]["text"], &answers[1]["text"]), (&json!("sooner"), &json!("later")));
}

#[tokio::test]
async fn the_client_takes_back_what_it_sent() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say_until(&pod, "wait 60", "running").await;
    let worker = WorkerId::parse(pod.rsplit('/').next().unwrap()).unwrap();
    let pod = PodRef::new(RuntimeId::local(), worker);
    let client = client::Client::new(&format!("http://{}", server.address), common::TOKEN).unwrap();
    let id = |text: &str| CommandId::parse(text).unwrap();
    let input = InputCommand { segments: vec![Segment::text("say it")], queue: true, steer: true };
    client.carry_out(&id("k-1"), &operations::Input { pod: pod.clone(), body: input.clone() }).await.unwrap();
    let taken = client
        .carry_out(&id("k-2"), &operations::TakeBack { pod: pod.clone(), command_id: id("k-1").clone() })
        .await
        .unwrap();
    assert_eq!((taken.segments, taken.steer), (input.segments, true));
    let refused = client
        .carry_out(&id("k-3"), &operations::TakeBack { pod: pod.clone(), command_id: id("k-1").clone() })
        .await
        .unwrap_err();
    assert!(matches!(refused, client::ClientError::Api(error) if error.code == protocol::ErrorCode::NotFound));
}
