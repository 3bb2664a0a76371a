//! A command that keeps running after its call, from outside: it is listed, read and stopped, tells of its end, and
//! ends with its Pod and with yoi, however that ends.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::yoi::{YoiProcess, pod_path, until};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// Starts a command in the background and returns its id.
async fn start(yoi: &YoiProcess, pod: &Value, command: &str) -> String {
    let arguments = json!({ "arguments": { "command": command, "background": true } });
    let answer = yoi.post(&format!("{}/tools/Bash", pod_path(pod)), &arguments).await.expect(200);
    let content: Value = serde_json::from_str(answer["content"].as_str().unwrap()).unwrap();
    content["id"].as_str().unwrap().to_owned()
}

async fn tool(yoi: &YoiProcess, pod: &Value, name: &str, id: &str) -> Value {
    let path = format!("{}/tools/{name}", pod_path(pod));
    yoi.post(&path, &json!({ "arguments": { "id": id } })).await.expect(200)
}

fn is_there(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    lines.any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

async fn wait_for(what: &str, word: &str, there: bool) {
    until(what, async || (is_there(word) == there).then_some(())).await;
}

fn ends(journal: &[Value]) -> Vec<&Value> {
    let events = journal.iter().map(|record| &record["event"]);
    events.filter(|event| event["kind"] == "command_ended").collect()
}

#[tokio::test]
async fn a_command_in_the_background_is_listed_read_and_stopped() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let commands = format!("{}/commands", pod_path(&pod));
    assert_eq!(yoi.get(&commands).await.expect(200)["items"], json!([]));
    let id = start(&yoi, &pod, "echo out; sleep 7777.1").await;
    let listed = yoi.get(&commands).await.expect(200);
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["state"]), (&json!(id), &json!("running")));
    let path = format!("{commands}/{id}");
    let read = until("it has written", async || {
        let read = yoi.get(&path).await.expect(200);
        (read["output"] == "out\n").then_some(read)
    })
    .await;
    let rest = yoi.get(&format!("{path}?after={}", read["next"])).await.expect(200);
    assert_eq!((&rest["output"], &rest["dropped"]), (&json!(""), &json!(0)));
    yoi.get(&format!("{path}?after=x")).await.expect(400);
    assert_eq!(yoi.get(&format!("{commands}/call-b99")).await.expect(404)["code"], "not_found");
    yoi.post(&format!("{commands}/call-b99/stop"), &json!({})).await.expect(404);
    assert_eq!(tool(&yoi, &pod, "BashOutput", &id).await["content"], "out\n");
    let stopped = yoi.post(&format!("{path}/stop"), &json!({})).await.expect(200);
    assert_eq!(stopped["state"], "exited", "{stopped}");
    assert!(!is_there("7777.1"));
    let journal = until("its end is recorded", async || {
        let journal = yoi.journal(&pod).await;
        (!ends(&journal).is_empty()).then_some(journal)
    })
    .await;
    assert!(ends(&journal)[0]["detail"].as_str().unwrap().starts_with("stopped by a person"), "{journal:#?}");
    let again = yoi.post(&format!("{path}/stop"), &json!({})).await.expect(200);
    assert_eq!(again["detail"], stopped["detail"]);
}

#[tokio::test]
async fn it_survives_the_turn_and_ends_with_its_pod() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let path = pod_path(&pod);
    let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    yoi.patch(&path, &rules).await.expect(200);
    let call = json!({ "command": "trap 'echo bye; exit' TERM; sleep 7777.2 & wait", "background": true });
    yoi.say(&pod, &format!("call Bash {call}")).await;
    until("the turn is over", async || (yoi.get(&path).await.expect(200)["state"] == "idle").then_some(())).await;
    wait_for("it runs on", "7777.2", true).await;
    yoi.post(&format!("{path}/stop"), &json!({})).await.expect(202);
    assert!(!is_there("7777.2"), "nothing is left once the Pod is stopped");
    let journal = until("its end is recorded", async || {
        let journal = yoi.journal(&pod).await;
        (!ends(&journal).is_empty()).then_some(journal)
    })
    .await;
    let end = ends(&journal)[0];
    // It was told to end, and ended by itself.
    assert_eq!(end["exit_code"], 0, "{end}");
    assert!(end["output"].as_str().is_some_and(|output| output.contains("bye")), "what it said last: {end}");
    yoi.post(&format!("{path}/restore"), &json!({})).await.expect(202);
    let history = yoi.get(&format!("{path}/history")).await.expect(200).to_string();
    assert!(history.contains("[background command call-b"), "the model is told: {history}");
}

#[tokio::test]
async fn it_ends_with_yoi_which_says_so_afterwards() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let id = start(&yoi, &pod, "sleep 7777.3").await;
    wait_for("it runs", "7777.3", true).await;
    yoi.kill9().await;
    wait_for("it has ended", "7777.3", false).await;
    yoi.restart().await;
    let journal = until("its end is recorded", async || {
        let journal = yoi.journal(&pod).await;
        (!ends(&journal).is_empty()).then_some(journal)
    })
    .await;
    assert_eq!(ends(&journal)[0]["detail"], "ended when yoi ended");
    let asked = tool(&yoi, &pod, "BashOutput", &id).await;
    assert_eq!((&asked["code"], &asked["is_error"]), (&json!("not_found"), &json!(true)));
    assert!(asked["summary"].as_str().unwrap().contains("Commands end when yoi ends"), "{asked}");
}

#[tokio::test]
async fn the_task_list_is_shown_and_survives_a_restart() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let path = pod_path(&pod);
    let items = json!([{ "text": "read", "state": "done" }, { "text": "write", "state": "in_progress" }]);
    yoi.say(&pod, &format!("call Tasks {}", json!({ "items": items }))).await;
    until("the list is there", async || {
        let detail = yoi.get(&path).await.expect(200);
        (detail["tasks"][1]["state"] == "in_progress").then_some(())
    })
    .await;
    yoi.kill9().await;
    yoi.restart().await;
    let detail = yoi.get(&path).await.expect(200);
    assert_eq!(detail["tasks"][0], json!({ "text": "read", "state": "done" }));
}
