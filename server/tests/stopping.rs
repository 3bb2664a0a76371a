//! Stopping in real Chromium: Escape ends a run at once, keeps what its command wrote and brings queued messages back;
//! a background command shows what it writes and has a button that stops it.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path, until},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const TRANSCRIPT: &str = "main .log";

/// A Pod that runs commands without asking.
async fn ada(yoi: &YoiProcess) -> Value {
    let pod = yoi.new_pod("ada").await;
    let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    pod
}

async fn wait_draft(browser: &Browser, text: &str) {
    browser.wait_script(&format!("return document.getElementById('message').value === {}", json!(text))).await;
}

fn said(journal: &[Value]) -> usize {
    journal.iter().filter(|record| record["event"]["kind"] == "user_message").count()
}

#[tokio::test]
async fn browser_escape_stops_a_command_keeps_its_output_and_brings_queued_messages_back() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = ada(&yoi).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    let command = json!({ "command": "echo before-the-stop; sleep 300" });
    yoi.say(&pod, &format!("call Bash {command}")).await;
    browser.wait_text(TRANSCRIPT, "before-the-stop").await;
    browser.send("say first").await;
    browser.wait_text(".queue", "say first").await;
    browser.send("say second").await;
    browser.wait_text(".queue", "say second").await;
    browser.keys(Key::Escape + "").await;
    wait_draft(&browser, "say first\nsay second").await;
    browser.wait_focus("message").await;
    browser.wait_text("main .head", "idle").await;
    browser.wait_text(TRANSCRIPT, "not finished").await;
    assert!(browser.texts(TRANSCRIPT).await.concat().contains("before-the-stop"));
    let detail = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!((&detail["queued_count"], &detail["state"]), (&Value::Null, &json!("idle")), "{detail}");
    assert_eq!(said(&yoi.journal(&pod).await), 1, "no queued message began");

    // What came back outlives the page.
    browser.reload().await;
    browser.wait_live().await;
    wait_draft(&browser, "say first\nsay second").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_escape_stops_a_run_that_waits_for_an_answer() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "one", "content": "x" }))).await;
    browser.find("article[data-next]").await;
    browser.field("Message").await.click().await.unwrap();
    browser.keys(Key::Escape + "").await;
    browser.wait_text("main .head", "idle").await;
    assert!(!yoi.launch().work_dir().join("one").exists());
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_background_command_shows_what_it_writes_and_is_stopped_by_its_button() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = ada(&yoi).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    let command = "echo it-began; while [ ! -e go ]; do sleep 0.1; done; echo it-went-on; sleep 7777.5";
    yoi.say(&pod, &format!("call Bash {}", json!({ "command": command, "background": true }))).await;
    let card = "main .log .background-card";
    browser.wait_text(&format!("{card} pre"), "it-began").await;
    browser.wait_text(&format!("{card} [role=status]"), "running").await;
    std::fs::write(yoi.launch().work_dir().join("go"), "").unwrap();
    browser.wait_text(&format!("{card} pre"), "it-went-on").await;
    browser.press(&format!("{card} button")).await;
    browser.wait_text(&format!("{card} [role=status]"), "stopped by a person").await;
    browser.wait_until("its button is gone", async |browser| browser.is_absent(&format!("{card} button")).await).await;
    until("it has ended", async || {
        let listed = yoi.get(&format!("{}/commands", pod_path(&pod))).await.expect(200);
        (listed["items"][0]["state"] == "exited").then_some(())
    })
    .await;
    browser.no_errors().await;
    browser.quit().await;
}
