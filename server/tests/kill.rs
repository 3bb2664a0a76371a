//! The built binary under kill -9: what any viewer saw is there afterwards, and the answer can be resumed.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{EventSocket, Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// Text by block, from chunks and finished records alike; a finished record replaces its chunks.
fn texts(records: &[Value]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for event in records.iter().map(|record| &record["event"]) {
        let text = event["text"].as_str().unwrap_or_default();
        let block = || event["block"].as_str().unwrap().to_owned();
        match event["kind"].as_str().unwrap() {
            "text_chunk" | "reasoning_chunk" => texts.entry(block()).or_default().push_str(text),
            "message_finished" | "reasoning_finished" => {
                texts.insert(block(), text.to_owned());
            }
            _ => (),
        }
    }
    texts
}

async fn state(yoi: &YoiProcess, pod: &Value) -> String {
    yoi.get(&pod_path(pod)).await.expect(200)["state"].as_str().unwrap().to_owned()
}

/// Reads until this many records have arrived, or the socket is cut.
async fn watch(mut socket: EventSocket, enough: usize) -> Vec<Value> {
    let mut records = Vec::new();
    while records.len() < enough {
        let Some(frame) = socket.next_frame().await else { break };
        records.extend(frame["records"].as_array().into_iter().flatten().cloned());
    }
    records
}

#[tokio::test]
async fn what_a_viewer_saw_survives_kill_9_at_any_instant() {
    let mut yoi = YoiProcess::start(YOI).await;
    for (round, enough) in [3, 8, 40, 150, 400, 900].into_iter().enumerate() {
        let pod = yoi.new_pod(&format!("ada-{round}")).await;
        let mut socket = yoi.events().await;
        socket.subscribe("a", &pod, None).await;
        socket.wait_for(|frame| frame["type"] == "snapshot").await;
        let receipt = yoi.say(&pod, "think it over\nsay the beginning\nstream 20000 at 2000\nsay the end").await;
        let saw = watch(socket, enough).await;
        yoi.kill9().await;
        yoi.restart().await;

        let kept = yoi.journal(&pod).await;
        let whole = texts(&kept);
        for (block, shown) in texts(&saw) {
            let text = whole.get(&block).unwrap_or_else(|| panic!("{block} is lost in round {round}"));
            assert!(text.starts_with(&shown), "round {round}: showed {shown:?}, kept {text:?}");
        }
        let is_ours = |record: &&Value| record["event"]["command_id"] == receipt["command_id"];
        assert_eq!(kept.iter().filter(is_ours).count(), 2, "run_started and user_message, once each");
        assert_eq!(state(&yoi, &pod).await, "paused");
        let end = kept.iter().rev().find(|record| record["event"]["kind"] == "run_finished").unwrap();
        assert_eq!(end["event"]["outcome"], "interrupted");
        let closed = kept.iter().rev().find(|record| record["event"]["interrupted"] == true);
        assert!(closed.is_none_or(|closed| closed["run_id"] == end["run_id"]));
    }
}

#[tokio::test]
async fn an_interrupted_answer_is_resumed_at_the_interrupted_line() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    yoi.say(&pod, "say before\nstream 60 at 12\nsay after").await;
    socket.records_until("a", |record| record["event"]["text"] == " w9").await;
    yoi.kill9().await;
    yoi.restart().await;
    yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    let is_over = |record: &Value| record["event"]["outcome"] == "completed";
    let records = socket.records_until("a", is_over).await;
    let finished: Vec<_> = records
        .iter()
        .filter(|record| record["event"]["kind"] == "message_finished")
        .map(|record| record["event"]["text"].as_str().unwrap())
        .collect();
    assert!(finished[0].starts_with("before\nw1 w2 w3"), "{finished:?}");
    assert!(finished[1].starts_with("w1 w2 w3"), "the interrupted line begins again: {finished:?}");
    assert!(finished[1].ends_with("w60\nafter"), "{finished:?}");
}

#[tokio::test]
async fn half_an_answer_of_a_real_provider_is_kept_and_its_key_never_shown() {
    let model = ScriptedModel::start().await;
    model.push(Answer::new().text("half an ").text("answer").step(Step::Stall));
    let key = "sk-test-0123456789abcdef";
    let mut yoi = Launch::new(YOI).env("OPENAI_BASE_URL", &model.base_url()).env("OPENAI_API_KEY", key).start().await;
    let made = json!({ "name": "ada", "provider": "openai", "model": "scripted" });
    let pod = yoi.post("/api/v1/pods", &made).await.expect(201);
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    yoi.say(&pod, "hello").await;
    socket.records_until("a", |record| record["event"]["text"] == "answer").await;
    yoi.kill9().await;
    yoi.restart().await;
    let kept = yoi.journal(&pod).await;
    assert!(texts(&kept).values().any(|text| text == "half an answer"), "{kept:#?}");

    // A provider that quotes the key in its own error.
    let quoting = json!({ "error": { "message": format!("Incorrect API key provided: {key}") } });
    model.push(Answer::refuse(401, quoting.to_string()));
    yoi.say(&pod, "again").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    let records = socket.records_until("a", |record| record["event"]["outcome"] == "error").await;
    let providers = yoi.get("/api/v1/providers").await.expect(200);
    let everything = format!("{records:?}{providers}{}", yoi.log().join("\n"));
    assert!(!everything.contains(key), "{everything}");
}

#[tokio::test]
async fn two_viewers_and_a_reader_of_pages_see_the_same() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let mut one = yoi.events().await;
    one.subscribe("a", &pod, None).await;
    one.wait_for(|frame| frame["type"] == "snapshot").await;
    yoi.say(&pod, "say first\nstream 300 at 600").await;
    one.records_until("a", |record| record["event"]["text"] == " w40").await;
    // The second one connects mid-stream.
    let mut two = yoi.events().await;
    two.subscribe("b", &pod, None).await;
    let is_over = |record: &Value| {
        record["event"]["kind"] == "status" && record["event"]["state"] == "idle" && record["seq"] != 1
    };
    let of_two = two.records_until("b", is_over).await;
    one.records_until("a", is_over).await;
    let of_one: Vec<Value> =
        one.seen().iter().flat_map(|frame| frame["records"].as_array().into_iter().flatten().cloned()).collect();
    assert_eq!(texts(&of_one), texts(&of_two));
    assert_eq!(texts(&of_one), texts(&yoi.journal(&pod).await));
    let shared: Vec<_> = of_two.iter().filter(|record| of_one.iter().any(|one| one["seq"] == record["seq"])).collect();
    assert!(shared.iter().all(|record| of_one.contains(record)), "one record is one record, whoever looks");
}

#[tokio::test]
async fn a_restart_with_many_open_pods_puts_each_in_order() {
    let mut yoi = YoiProcess::start(YOI).await;
    let mut pods = Vec::new();
    for number in 0..20 {
        let pod = yoi.new_pod(&format!("pod-{number}")).await;
        yoi.say(&pod, "say one\nwait 600").await;
        pods.push(pod);
    }
    for pod in &pods {
        let mut socket = yoi.events().await;
        socket.subscribe("a", pod, None).await;
        socket.records_until("a", |record| record["event"]["kind"] == "text_chunk").await;
    }
    yoi.kill9().await;
    yoi.restart().await;
    let listed = yoi.get("/api/v1/pods").await.expect(200);
    let states: Vec<_> = listed["items"].as_array().unwrap().iter().map(|pod| pod["state"].clone()).collect();
    assert_eq!(states, vec![json!("paused"); 20]);
    let ready = tokio::time::timeout(Duration::from_secs(60), async {
        while yoi.get("/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    ready.await.expect("it gets ready");
}
