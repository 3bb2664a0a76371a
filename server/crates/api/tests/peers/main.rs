//! Peers, over the real router: adding, requests, and messages.
//!
//! All Pods are played by the rehearsal model. A test waits for a record, never for a time.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod guards;
mod introductions;
mod keeping;
mod messages;
mod nothing_else;
mod races;
mod refusals;
mod requests;
mod typed;

use common::{Server, answer};
use reqwest::Method;
use serde_json::{Value, json};

/// Makes a Pod, at its path, a peer of a target.
async fn introduce(server: &Server, pod: &str, target: &str) -> (u16, Value) {
    server.post(&format!("{pod}/peers"), json!({ "target": target })).await
}

/// Two peers; returns their paths.
async fn pair(server: &Server) -> (String, String) {
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    assert_eq!(introduce(server, &ada, "bob").await.0, 201);
    (ada, bob)
}

/// A Pod created with more than a name; returns its path.
async fn pod_with(server: &Server, fields: Value) -> String {
    let (status, summary) = server.post("/api/v1/pods", fields).await;
    assert_eq!(status, 201, "{summary}");
    common::pod_path(&summary["pod"])
}

async fn address(server: &Server, pod: &str) -> Value {
    server.get(pod).await.1["pod"].clone()
}

/// `runtime_id/worker_id` of the Pod at this path.
async fn text_of(server: &Server, pod: &str) -> String {
    let pod = address(server, pod).await;
    format!("{}/{}", pod["runtime_id"].as_str().unwrap(), pod["worker_id"].as_str().unwrap())
}

async fn un_peer(server: &Server, pod: &str, peer: &str) -> u16 {
    let path = format!("{pod}/peers/{}", text_of(server, peer).await);
    answer(server.request(Method::DELETE, &path)).await.0
}

/// A Pod's peers: name and link, in the order of the list.
async fn known(server: &Server, pod: &str) -> Vec<(String, String)> {
    let (status, page) = server.get(&format!("{pod}/peers")).await;
    assert_eq!((status, &page["next"]), (200, &Value::Null), "{page}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    page["items"].as_array().unwrap().iter().map(|item| (text(&item["name"]), text(&item["link"]))).collect()
}

fn linked(name: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), "linked".to_owned())]
}

/// What a Pod sees: name and reason.
async fn seen(server: &Server, pod: &str) -> Vec<(String, Value)> {
    let (_, page) = server.get(&format!("{pod}/visible")).await;
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| (item["name"].as_str().unwrap().to_owned(), item["visibility"].clone())).collect()
}

/// What a Pod's model would be sent now, byte for byte.
async fn history(server: &Server, pod: &str) -> String {
    server.request(Method::GET, &format!("{pod}/history")).send().await.unwrap().text().await.unwrap()
}

/// All records of a Pod, oldest first.
async fn journal(server: &Server, pod: &str) -> Vec<Value> {
    let (_, page) = server.get(&format!("{pod}/transcript?limit=1000")).await;
    page["items"].as_array().unwrap().iter().map(|record| record["event"].clone()).collect()
}

async fn count(server: &Server, pod: &str, kind: &str) -> usize {
    journal(server, pod).await.iter().filter(|event| event["kind"] == kind).count()
}

/// Waits until a Pod's journal is as wanted; returns the journal.
#[track_caller]
fn until(server: &Server, pod: &str, wanted: impl Fn(&[Value]) -> bool) -> impl Future<Output = Vec<Value>> {
    testkit::until(format!("the journal of {pod} is as wanted"), async move || {
        Some(journal(server, pod).await).filter(|events| wanted(events))
    })
}

/// Waits until a Pod has this many records of a kind that a test accepts.
async fn until_some(server: &Server, pod: &str, kind: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let is_it = |event: &Value| event["kind"] == kind && wanted(event);
    until(server, pod, |events| events.iter().any(is_it)).await.into_iter().find(is_it).unwrap()
}

/// The states of a message's receipts in one journal, in order.
async fn receipts(server: &Server, pod: &str, message_id: &str) -> Vec<String> {
    let events = journal(server, pod).await.into_iter();
    let of_it = events.filter(|event| event["kind"] == "message_receipt" && event["message_id"] == message_id);
    of_it.map(|event| event["state"].as_str().unwrap().to_owned()).collect()
}

/// A message from the operator; returns its id, once it was stored or held.
async fn write(server: &Server, pod: &str, to: &str, text: &str) -> (u16, Value) {
    server.post(&format!("{pod}/messages"), json!({ "to": to, "text": text })).await
}

/// Runs a tool as a Pod would.
async fn tool(server: &Server, pod: &str, name: &str, arguments: Value) -> Value {
    let (status, answer) = server.post(&format!("{pod}/tools/{name}"), json!({ "arguments": arguments })).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

/// A rule that makes a Pod wait for an approval when it calls ListPods.
async fn ask_for_lists(server: &Server, pod: &str) {
    let rules = json!({ "permissions": [{ "tool": "ListPods", "decision": "ask" }] });
    assert_eq!(answer(server.request(Method::PATCH, pod).json(&rules)).await.0, 200);
}

/// Brings a Pod into a state.
async fn bring(server: &Server, pod: &str, state: &str) {
    match state {
        "idle" => server.say(pod, "say hello").await,
        "waiting" => {
            ask_for_lists(server, pod).await;
            server.say_until(pod, "call ListPods {}", "waiting").await;
        }
        "running" => server.say_until(pod, "say hello\nwait 300", "running").await,
        "paused" => {
            server.say_until(pod, "say hello\nwait 300", "running").await;
            assert_eq!(server.post(&format!("{pod}/pause"), json!({})).await.0, 202);
        }
        "stopped" => {
            server.say(pod, "say hello").await;
            assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
        }
        other => panic!("{other}"),
    }
    server.until(pod, state).await;
}
