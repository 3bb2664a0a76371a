//! Stopping in real Chromium: Escape ends a run at once, also while it waits for an answer.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use testkit::{browser::Browser, yoi::YoiProcess};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

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
