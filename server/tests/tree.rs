//! The built binary with Pods that have children, under kill -9: the tree comes back with its loans.

#![allow(clippy::unwrap_used)]

use std::fs;

use serde_json::{Value, json};
use testkit::yoi::{YoiProcess, pod_path};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn named(yoi: &YoiProcess, name: &str) -> Value {
    let list = yoi.get(&format!("/api/v1/pods?name={name}")).await.expect(200);
    list["items"][0].clone()
}

async fn visible(yoi: &YoiProcess, pod: &Value) -> Vec<(String, String, Value)> {
    let list = yoi.get(&format!("{}/visible", pod_path(pod))).await.expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (text(&item["name"]), text(&item["state"]), item["scope"].clone()))
        .collect()
}

async fn tool(yoi: &YoiProcess, pod: &Value, name: &str, arguments: Value) -> Value {
    yoi.post(&format!("{}/tools/{name}", pod_path(pod)), &json!({ "arguments": arguments })).await.expect(200)
}

async fn kinds(yoi: &YoiProcess, pod: &Value) -> Vec<String> {
    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(pod))).await.expect(200);
    let kind = |record: &Value| record["event"]["kind"].as_str().unwrap().to_owned();
    page["items"].as_array().unwrap().iter().map(kind).collect()
}

#[tokio::test]
async fn a_tree_comes_back_with_its_loans_after_kill_9() {
    let mut yoi = YoiProcess::start(YOI).await;
    let work = yoi.launch().work_dir();
    for folder in ["left", "right"] {
        fs::create_dir(work.join(folder)).unwrap();
    }
    let lent = |folder: &str| json!([{ "path": work.join(folder), "access": "write", "recursive": true }]);
    let lead = yoi.new_pod("lead").await;
    let spawn = |name: &str, task: &str| {
        let arguments = json!({ "name": name, "task": task, "scope": lent(name) });
        format!("call SpawnPod {arguments}")
    };
    let task = format!("{}\n{}\nwait 60", spawn("left", "stream 20000 at 400"), spawn("right", "say right is ready"));
    let mut socket = yoi.events().await;
    socket.subscribe("lead", &lead, None).await;
    yoi.say(&lead, &task).await;
    let mut spawned = 0;
    socket
        .records_until("lead", |record| {
            spawned += usize::from(record["event"]["kind"] == "child_spawned");
            spawned == 2
        })
        .await;
    let right = named(&yoi, "right").await;
    socket.subscribe("right", &right, None).await;
    socket.records_until("right", |record| record["event"]["kind"] == "run_finished").await;
    let left = named(&yoi, "left").await;
    socket.subscribe("left", &left, None).await;
    socket.records_until("left", |record| record["event"]["kind"] == "text_chunk").await;

    yoi.kill9().await;
    yoi.restart().await;

    let seen = visible(&yoi, &lead).await;
    assert_eq!(
        seen[1..],
        [("left".into(), "paused".into(), lent("left")), ("right".into(), "idle".into(), lent("right"))]
    );
    let refused = tool(&yoi, &lead, "Write", json!({ "path": "left/a.txt", "content": "x" })).await;
    assert_eq!((&refused["is_error"], &refused["code"]), (&json!(true), &json!("permission_denied")));
    let refused = tool(&yoi, &lead, "Bash", json!({ "command": "echo x > left/a.txt" })).await;
    assert_eq!(refused["is_error"], true, "{refused}");
    let again = json!({ "name": "third", "task": "say hi", "scope": lent("left") });
    assert_eq!(tool(&yoi, &lead, "SpawnPod", again.clone()).await["code"], "scope_conflict");

    let left = named(&yoi, "left").await;
    let written = tool(&yoi, &left, "Write", json!({ "path": "a.txt", "content": "from left" })).await;
    assert_eq!(written["is_error"], false, "{written}");
    let stopped = tool(&yoi, &lead, "StopPod", json!({ "name": "left" })).await;
    assert_eq!(stopped["is_error"], false, "{stopped}");
    assert_eq!(visible(&yoi, &lead).await[1], ("left".into(), "stopped".into(), json!([])));
    assert_eq!(tool(&yoi, &lead, "Read", json!({ "path": "left/a.txt" })).await["is_error"], false);
    let written = tool(&yoi, &lead, "Write", json!({ "path": "left/a.txt", "content": "from lead" })).await;
    assert_eq!(written["is_error"], false, "the folder is back: {written}");

    yoi.kill9().await;
    yoi.restart().await;
    assert_eq!(visible(&yoi, &lead).await[1], ("left".into(), "stopped".into(), json!([])));
    let kinds = kinds(&yoi, &lead).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "child_spawned").count(), 2);
    assert_eq!(kinds.iter().filter(|kind| *kind == "child_stopped").count(), 1);
    assert_eq!(tool(&yoi, &lead, "SpawnPod", again).await["is_error"], false, "and can be lent again");
    let back = tool(&yoi, &lead, "RestorePod", json!({ "name": "left" })).await;
    assert_eq!(back["code"], "scope_conflict", "what is lent to another is not taken from it: {back}");
}

#[tokio::test]
async fn a_stopped_tree_is_restored_in_one_step_with_a_report() {
    let yoi = YoiProcess::start(YOI).await;
    let work = yoi.launch().work_dir();
    for folder in ["a", "b"] {
        fs::create_dir(work.join(folder)).unwrap();
    }
    let lead = yoi.new_pod("lead").await;
    let spawn = async |name: &str, folder: &str| {
        let scope = json!([{ "path": work.join(folder), "access": "write" }]);
        let arguments = json!({ "name": name, "task": "say ready", "scope": scope });
        assert_eq!(tool(&yoi, &lead, "SpawnPod", arguments).await["is_error"], false);
    };
    spawn("one", "a").await;
    spawn("two", "b").await;
    // One that was interrupted in the middle of its task is paused when it is back.
    let mut socket = yoi.events().await;
    for name in ["one", "two"] {
        socket.subscribe(name, &named(&yoi, name).await, None).await;
        socket.records_until(name, |record| record["event"]["kind"] == "run_finished").await;
    }
    for name in ["one", "two"] {
        let pod = named(&yoi, name).await;
        yoi.post(&format!("{}/stop", pod_path(&pod)), &json!({})).await.expect(202);
    }
    spawn("three", "b").await;
    yoi.post(&format!("{}/stop", pod_path(&lead)), &json!({})).await.expect(202);

    let receipt = yoi.post(&format!("{}/restore", pod_path(&lead)), &json!({ "tree": true })).await.expect(202);
    let report = receipt["report"].as_array().unwrap();
    let line = |name: &str| report.iter().find(|line| line["name"] == name).unwrap();
    assert_eq!(line("one")["restored"], true);
    assert_eq!(line("two")["restored"], false);
    assert!(line("two")["reason"].as_str().unwrap().contains("lent"), "{report:?}");
    assert_eq!(named(&yoi, "one").await["state"], "idle");
    assert_eq!(named(&yoi, "two").await["state"], "stopped");
    assert!(kinds(&yoi, &lead).await.contains(&"alert".to_owned()), "the report is in the transcript, too");
}
