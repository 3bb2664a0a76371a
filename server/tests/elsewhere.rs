//! Another server's Pods in the console, in real Chromium: wherever they are named, so is the server where they live.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// `here` has the address and the token of `there`, which it calls `box`.
async fn add(here: &YoiProcess, there: &YoiProcess) {
    let body = json!({ "runtime_id": "box", "url": there.base_url(), "token": there.token() });
    here.post("/api/v1/runtimes", &body).await.expect(201);
}

#[tokio::test]
async fn browser_two_pods_of_one_name_are_told_apart_by_where_they_live() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let (ada, _far) = (here.new_pod("ada").await, there.new_pod("ada").await);
    let bob = here.new_pod("bob").await;
    add(&here, &there).await;
    let browser = Browser::open_pod(&here, &bob).await;
    browser.wait_text(".pods", "ada@box").await;

    // The palette finds it by either.
    browser.chord(Key::Control, 'k').await;
    browser.keys("ada@b").await;
    browser.wait_script("return document.querySelectorAll('#palette-list li').length === 1").await;
    browser.wait_text("#palette-list li b", "ada@box").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;

    // The peer dialog names it for both, and in its sentence.
    browser.press(".verb-peer").await;
    browser.wait_dialog("Which Pod").await;
    browser.wait_focus("peer-name").await;
    browser.keys("ada").await;
    browser.wait_text("#peer-options", "@box").await;
    browser.wait_text("#peer-options", "@local").await;
    browser.keys("@box").await;
    browser.wait_text("#peer-sentence", "bob and ada@box will see each other").await;
    browser.keys(Key::Enter + "").await;
    browser.press_button("Add peer").await;
    browser.wait_text(".peer-outcome", "bob and ada@box").await;
    browser.wait_text(".peer-outcome", "are peers now").await;
    browser.press_button("Close").await;
    browser.wait_no_dialog().await;

    // So do the details, the transcript and the map.
    browser.wait_text("aside.inspect .peers", "ada@box").await;
    browser.wait_text("main .log", "ada@box").await;
    here.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await.expect(201);
    browser.goto_page(&here, "/map").await;
    browser.wait_text("main .map-table", "ada@box").await;
    browser.wait_text("main .map-picture", "ada@box").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_settings_say_by_themselves_that_a_server_has_gone_and_is_back() {
    let (here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("far").await;
    add(&here, &there).await;
    let browser = Browser::open(&here, 1440, 900).await;
    browser.goto_page(&here, "/settings").await;
    browser.wait_text("#runtimes", "live, since").await;
    browser.wait_until("both are live", async |browser| browser.texts("#runtimes .is-good").await.len() == 2).await;
    there.kill9().await;
    browser.wait_text("#runtimes", "unreachable, since").await;
    there.restart_on_same_port().await;
    browser.wait_until("both are live", async |browser| browser.texts("#runtimes .is-good").await.len() == 2).await;
    browser.no_errors().await;
    browser.quit().await;
}
