//! What a command had written and what a model had begun to call when the run is cancelled, the Pod stopped or the
//! server killed: it stays in the journal, in the export, in the search and in what the model is told.

#![allow(clippy::unwrap_used)]

use std::{
    fs::DirEntry,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{EventSocket, Launch, YoiProcess, pod_path, until},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Cancel,
    Stop,
    Kill,
}

const ENDS: [End; 3] = [End::Cancel, End::Stop, End::Kill];

/// Interrupts it, and brings the Pod back to where it accepts messages.
async fn end(yoi: &mut YoiProcess, pod: &Value, how: End) {
    let path = pod_path(pod);
    match how {
        End::Cancel => drop(yoi.post(&format!("{path}/cancel"), &json!({})).await.expect(202)),
        End::Stop => {
            yoi.post(&format!("{path}/stop"), &json!({})).await.expect(202);
            yoi.post(&format!("{path}/restore"), &json!({})).await.expect(202);
        }
        End::Kill => {
            yoi.kill9().await;
            yoi.restart().await;
        }
    }
}

fn last<'a>(journal: &'a [Value], kind: &str) -> &'a Value {
    let events = journal.iter().map(|record| &record["event"]);
    events.rev().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("no {kind} in {journal:#?}"))
}

async fn watch(yoi: &YoiProcess, pod: &Value) -> EventSocket {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    socket
}

/// All text shown in chunks of this kind.
fn shown(records: &[Value], kind: &str) -> String {
    let chunks = records.iter().map(|record| &record["event"]).filter(|event| event["kind"] == kind);
    chunks.map(|event| event["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_a_command_wrote_stays_however_its_run_is_ended() {
    let mut yoi = YoiProcess::start(YOI).await;
    for how in ENDS {
        let pod = yoi.new_pod(&format!("ada-{how:?}").to_lowercase()).await;
        let path = pod_path(&pod);
        let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
        yoi.patch(&path, &rules).await.expect(200);
        let mut socket = watch(&yoi, &pod).await;
        let command = json!({ "command": "for i in $(seq 2000); do echo out$i; sleep 0.02; done" });
        yoi.say(&pod, &format!("call Bash {command}")).await;
        let mut written = String::new();
        let records = socket
            .records_until("a", |record| {
                written.push_str(&shown(std::slice::from_ref(record), "tool_output_chunk"));
                written.contains("out13\n")
            })
            .await;
        assert!(!records.is_empty());
        end(&mut yoi, &pod, how).await;

        let journal = yoi.journal(&pod).await;
        let finished = last(&journal, "tool_finished");
        assert!(finished["content"].as_str().unwrap().starts_with(&written), "{how:?}: {finished}");
        assert!(
            finished["summary"].as_str().unwrap().contains("what it wrote until then is kept"),
            "{how:?}: {finished}"
        );
        assert_eq!(finished["is_error"], true, "{how:?}");
        assert!(finished["duration_ms"].as_u64().unwrap() > 0, "{how:?}: it ran: {finished}");
        let history = yoi.get(&format!("{path}/history")).await.expect(200).to_string();
        assert!(history.contains("out13\\n"), "the model is told: {how:?}: {history}");
        let found = yoi.get(&format!("/api/v1/search?q=out13&pod={}", address(&pod))).await.expect(200);
        assert!(
            found["items"].as_array().unwrap().iter().any(|hit| hit["kind"] == "tool_finished"),
            "{how:?}: {found}"
        );
        let export = yoi.request(reqwest::Method::GET, &format!("{path}/export?format=markdown"));
        assert!(export.send().await.unwrap().text().await.unwrap().contains("out13\n"), "{how:?}");
    }
}

#[tokio::test]
async fn a_command_that_wrote_nothing_ran_until_the_kill_and_not_while_the_server_was_away() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    let began = Instant::now();
    yoi.say(&pod, &format!("call Bash {}", json!({ "command": "sleep 300" }))).await;
    let outputs = yoi.launch().data_dir().join("outputs").join(pod["pod"]["worker_id"].as_str().unwrap());
    let is_mark = |file: std::io::Result<DirEntry>| file.unwrap().path().extension() == Some("running".as_ref());
    until("the call is marked as running", async || {
        std::fs::read_dir(&outputs).is_ok_and(|mut files| files.any(is_mark)).then_some(())
    })
    .await;
    yoi.kill9().await;
    let ran = began.elapsed();
    tokio::time::sleep(ran + Duration::from_secs(1)).await;
    yoi.restart().await;
    let journal = yoi.journal(&pod).await;
    let told = Duration::from_millis(last(&journal, "tool_finished")["duration_ms"].as_u64().unwrap());
    assert!(told >= Duration::from_millis(400) && told <= ran, "{told:?} of {ran:?}");
    assert_eq!(std::fs::read_dir(&outputs).unwrap().count(), 0, "no mark is left");
}

fn address(pod: &Value) -> String {
    let pod = &pod["pod"];
    format!("{}/{}", pod["runtime_id"].as_str().unwrap(), pod["worker_id"].as_str().unwrap())
}

#[tokio::test]
async fn half_said_arguments_stay_however_their_run_is_ended() {
    let model = ScriptedModel::start().await;
    let mut yoi = Launch::new(YOI).env("OPENAI_BASE_URL", &model.base_url()).start().await;
    for how in ENDS {
        let pieces = vec!["{\"command\":".to_owned(), "\"cargo te".to_owned()];
        let call = Step::ToolCall { id: Some("call_1".to_owned()), name: "Bash".to_owned(), pieces };
        model.push(Answer::new().step(call).step(Step::Stall));
        let made = json!({ "name": format!("ada-{how:?}").to_lowercase(), "provider": "openai", "model": "scripted" });
        let pod = yoi.post("/api/v1/pods", &made).await.expect(201);
        let mut socket = watch(&yoi, &pod).await;
        yoi.say(&pod, "hello").await;
        let mut said = String::new();
        socket
            .records_until("a", |record| {
                said.push_str(&shown(std::slice::from_ref(record), "tool_args_chunk"));
                said.ends_with("cargo te")
            })
            .await;
        end(&mut yoi, &pod, how).await;
        let journal = yoi.journal(&pod).await;
        let called = last(&journal, "tool_called");
        assert_eq!((&called["name"], &called["arguments"]["interrupted"]), (&json!("Bash"), &json!(said)), "{how:?}");
        let finished = last(&journal, "tool_finished");
        assert_eq!((&finished["block"], &finished["is_error"]), (&called["block"], &json!(true)), "{how:?}");
        let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
        assert!(history.contains("cargo te") && history.contains("interrupted"), "{how:?}: {history}");
    }
}

#[tokio::test]
async fn browser_a_failed_run_is_retried_from_its_end() {
    let model = ScriptedModel::start().await;
    let yoi = Launch::new(YOI).env("OPENAI_BASE_URL", &model.base_url()).start().await;
    let made = json!({ "name": "ada", "provider": "openai", "model": "scripted" });
    let pod = yoi.post("/api/v1/pods", &made).await.expect(201);
    let broken = json!({ "message": "the machine is on fire" });
    model.push(Answer::new().text("half of it ").step(Step::ErrorFrame(broken)));
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.send("how much is it?").await;
    browser.wait_text("main .end-failed", "failed").await;
    model.push(Answer::say("all of it"));
    browser.press("main .end-failed button:not(.fork)").await;
    browser.wait_text("main", "all of it").await;
    browser.wait_text("main", "completed").await;
    browser
        .wait_until("neither end offers a retry", async |browser| {
            browser.is_absent("main .end button:not(.fork)").await
        })
        .await;
    let asked: Vec<_> = model.requests().into_iter().map(|request| request.body["messages"].clone()).collect();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1], "the same question, without the half of an answer");
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_pod_is_forked_from_the_end_of_a_run() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.send("say the first answer").await;
    browser.wait_text("main .end", "completed").await;
    browser.send("say the second answer").await;
    browser.wait_until("two runs have ended", async |browser| browser.texts("main .end").await.len() == 2).await;
    browser.press("main .end button.fork").await;
    browser.field("Name").await.send_keys("eve").await.unwrap();
    browser.press_button("Fork").await;
    browser.wait_text("main h1", "eve").await;
    let said = browser.wait_text("main", "forked from ada").await;
    assert!(said.contains("the first answer") && !said.contains("the second answer"), "{said}");
    browser.send("say on").await;
    browser.wait_until("it answers", async |browser| browser.texts("main .end").await.len() == 2).await;
    browser.no_errors().await;
    browser.quit().await;
}
