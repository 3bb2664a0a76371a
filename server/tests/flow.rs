//! Text as a model's server flushes it, delta by delta, and conversations of any length: through the built binary.

#![allow(clippy::unwrap_used)]

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{Launch, YoiProcess, pod_path},
};

const BINARY: &str = env!("CARGO_BIN_EXE_yoi");
const DELTAS: usize = 5_000;

async fn yoi_with(model: &ScriptedModel) -> YoiProcess {
    Launch::new(BINARY).env("OPENAI_BASE_URL", &model.base_url()).start().await
}

async fn new_pod(yoi: &YoiProcess, name: &str) -> Value {
    let create = json!({ "name": name, "provider": "openai", "model": "scripted" });
    yoi.post("/api/v1/pods", &create).await.expect(201)
}

fn burst() -> Answer {
    (0..DELTAS).fold(Answer::new(), |answer, number| answer.text(format!("{number} ")))
}

fn chunk(record: &Value) -> Option<&str> {
    record["event"]["text"].as_str().filter(|_| record["event"]["kind"] == "text_chunk")
}

#[tokio::test]
async fn what_a_viewer_saw_of_a_burst_is_there_after_kill_9_in_the_middle() {
    let model = ScriptedModel::start().await;
    let mut yoi = yoi_with(&model).await;
    for round in 1..=3 {
        let pod = new_pod(&yoi, &format!("ada-{round}")).await;
        let mut viewer = yoi.events().await;
        viewer.subscribe("a", &pod, None).await;
        viewer.wait_for(|frame| frame["type"] == "snapshot").await;
        model.push(burst().step(Step::Stall));
        yoi.say(&pod, "go").await;
        let mut seen = String::new();
        let mut chunks = 0;
        viewer
            .records_until("a", |record| {
                seen.push_str(chunk(record).unwrap_or_default());
                chunks += usize::from(chunk(record).is_some());
                chunks >= round * DELTAS / 4
            })
            .await;
        yoi.kill9().await;
        yoi.restart_on_same_port().await;

        let mut again = yoi.events().await;
        again.subscribe("a", &pod, None).await;
        let records = again.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
        let said = records.iter().find(|record| record["event"]["kind"] == "message_finished").expect("it is closed");
        assert_eq!(said["event"]["interrupted"], true);
        let text = said["event"]["text"].as_str().unwrap();
        assert!(text.starts_with(&seen), "{} bytes were seen and {} are there", seen.len(), text.len());
        let whole: String = (0..DELTAS).map(|number| format!("{number} ")).collect();
        assert!(whole.starts_with(text), "nothing is doubled or left out");
    }
}

#[tokio::test]
async fn a_burst_that_is_flushed_delta_by_delta_arrives_whole_and_in_order() {
    let model = ScriptedModel::start().await;
    let yoi = yoi_with(&model).await;
    let pod = new_pod(&yoi, "ada").await;
    let mut viewer = yoi.events().await;
    viewer.subscribe("a", &pod, None).await;
    viewer.wait_for(|frame| frame["type"] == "snapshot").await;
    model.push(burst().finish());
    yoi.say(&pod, "go").await;
    let records = viewer.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    let seen: String = records.iter().filter_map(chunk).collect();
    assert_eq!(seen, (0..DELTAS).map(|number| format!("{number} ")).collect::<String>());
    assert_eq!(records.iter().filter_map(chunk).count(), DELTAS, "each delta is a record of its own");
}

#[tokio::test]
async fn a_long_conversation_is_compacted_and_goes_on_from_what_was_kept_also_after_kill_9() {
    const TURNS: usize = 3_000;
    let model = ScriptedModel::start().await;
    let mut yoi = yoi_with(&model).await;
    let asked = yoi.request(Method::POST, "/api/v1/import?name=ada").header("Content-Type", "application/x-ndjson");
    let answer = asked.body(journal(TURNS)).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    let pod: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    yoi.post(&format!("{}/restore", pod_path(&pod)), &json!({})).await;

    model.push(Answer::say("answer"));
    yoi.say(&pod, "question").await;
    let told = messages(&model.wait_for_requests(1).await[0].body);
    assert_eq!(told.len(), TURNS * 2 + 1, "all of it, and the question");

    let mut viewer = yoi.events().await;
    viewer.subscribe("a", &pod, None).await;
    viewer.wait_for(|frame| frame["summary"]["state"] == "idle" || run_has_ended(frame)).await;
    model.push(Answer::say("THE SUMMARY"));
    yoi.post(&format!("{}/compact", pod_path(&pod)), &json!({})).await;
    viewer.records_until("a", |record| record["event"]["kind"] == "compacted").await;
    let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200);
    let kept = history["messages"].as_array().unwrap().len();
    assert!(kept < TURNS, "{kept} messages are left");

    yoi.kill9().await;
    yoi.restart_on_same_port().await;
    assert_eq!(yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200), history);
    model.push(Answer::say("answer"));
    yoi.say(&pod, "another question").await;
    let requests = model.wait_for_requests(3).await;
    let told = messages(&requests[2].body);
    assert_eq!(told.len(), kept, "a message for each that is not the system's, and the question");
    assert!(told[0].ends_with("THE SUMMARY"), "{}", told[0]);
    assert_eq!(told[told.len() - 3..], ["question", "answer", "another question"]);
}

fn run_has_ended(frame: &Value) -> bool {
    let records = frame["records"].as_array().into_iter().flatten();
    records.into_iter().any(|record| record["event"]["kind"] == "run_finished")
}

/// What the model was sent, except for the system message.
fn messages(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap()[1..].iter();
    messages.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn journal(turns: usize) -> String {
    let usage = json!({ "input": 1, "cached": 0, "output": 1, "context_used": 2, "context_limit": 0 });
    let events = (1..=turns).flat_map(|run| {
        let segments = json!([{ "type": "text", "text": format!("question {run}") }]);
        let (asked, text, block) = (format!("c{run}"), format!("answer {run}"), format!("b{run}"));
        [
            json!({ "kind": "run_started", "trigger": "input" }),
            json!({ "kind": "user_message", "command_id": asked, "by": "operator", "segments": segments }),
            json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": false }),
            json!({ "kind": "run_finished", "outcome": "completed", "usage": usage }),
        ]
        .map(|event| (run, event))
    });
    let record = |(seq, (run, event)): (usize, (usize, Value))| {
        json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "run_id": format!("run-{run}"), "event": event }).to_string()
            + "\n"
    };
    (1..).zip(events).map(record).collect()
}
