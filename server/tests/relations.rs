//! Relations with the mouse, and held messages, in real Chromium with the built binary.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::WebElement;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const TRANSCRIPT: &str = "main [role=log], main .log";

async fn open(yoi: &YoiProcess, pod: &Value) -> Browser {
    let browser = Browser::start(1440, 900).await;
    browser.goto(&yoi.login_url()).await;
    let worker_id = pod["pod"]["worker_id"].as_str().unwrap();
    browser.goto(&format!("{}/pods/local/{worker_id}", yoi.console_url())).await;
    browser.wait_text("[role=status]", "live").await;
    browser
}

/// A Pod's row in the list on the left.
async fn row(browser: &Browser, pod: &Value) -> WebElement {
    browser.find(&format!("aside.pods a[href*='{}']", pod["pod"]["worker_id"].as_str().unwrap())).await
}

async fn peers(yoi: &YoiProcess, pod: &Value) -> usize {
    yoi.get(&format!("{}/peers", pod_path(pod))).await.expect(200)["items"].as_array().unwrap().len()
}

async fn introduce(yoi: &YoiProcess, pod: &Value, target: &str) {
    yoi.post(&format!("{}/peers", pod_path(pod)), &json!({ "target": target })).await.expect(201);
}

async fn until_peers(yoi: &YoiProcess, browser: &Browser, pod: &Value, wanted: usize) {
    browser.wait_until("the relation is as wanted", async |_| peers(yoi, pod).await == wanted).await;
}

#[tokio::test]
async fn browser_a_pod_is_dragged_onto_another_and_a_revocation_is_done_at_once_and_can_be_undone() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let browser = open(&yoi, &ada).await;
    let (from, to) = (row(&browser, &bob).await, row(&browser, &ada).await);
    from.handle().action_chain().drag_and_drop_element(&from, &to).perform().await.unwrap();
    browser.wait_text("dialog[open]", "bob and ada will see each other").await;
    assert_eq!(peers(&yoi, &ada).await, 0, "dragging alone introduces nobody");
    browser.press_button("Add peer").await;
    browser.wait_text("dialog[open]", "bob and ada are peers now").await;
    assert_eq!(peers(&yoi, &ada).await, 1);

    // Takes effect at once, and undoing it makes them peers again.
    browser.goto_pod(&yoi, &ada).await;
    browser.hold_time(5_000).await;
    browser.wait_text("aside.inspect .peers", "bob").await;
    browser.press_button("Unpeer").await;
    browser.wait_text(".notices", "ada and bob are no longer peers.").await;
    browser.wait_held().await;
    assert_eq!((peers(&yoi, &ada).await, peers(&yoi, &bob).await), (0, 0), "the queue is empty");
    browser.press_button("Undo").await;
    browser.wait_text(".notices", "ada and bob are peers again").await;
    assert_eq!((peers(&yoi, &ada).await, peers(&yoi, &bob).await), (1, 1));
    browser.let_time_pass().await;

    // If it is not undone, it stays ended; the other side is told.
    browser.wait_text("aside.inspect .peers", "bob").await;
    browser.press_button("Unpeer").await;
    until_peers(&yoi, &browser, &bob, 0).await;
    browser.wait_text(".notices", "are no longer peers").await;
    browser.let_time_pass().await;
    browser.wait_text(TRANSCRIPT, "as a peer").await;
    browser
        .wait_until("bob is out of the list", async |browser| browser.is_absent("aside.inspect .peers li").await)
        .await;

    // It also takes effect if the page is left at once, and it happens once.
    introduce(&yoi, &ada, "bob").await;
    browser.wait_text("aside.inspect .peers", "bob").await;
    browser.press_button("Unpeer").await;
    browser.goto("about:blank").await;
    until_peers(&yoi, &browser, &ada, 0).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_held_message_says_why_on_the_receivers_card_and_is_released_there() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let bob = yoi.post("/api/v1/pods", &json!({ "name": "bob", "wake_on_peer": false })).await.expect(201);
    introduce(&yoi, &ada, "bob").await;
    let on_bob = open(&yoi, &bob).await;
    let mut held = None;
    for number in 0..60 {
        let body = json!({ "to": "bob", "text": format!("say number {number}") });
        let sent = yoi.post(&format!("{}/messages", pod_path(&ada)), &body).await.expect(202);
        if sent["state"] == "held" {
            held = Some(number);
            break;
        }
    }
    let number = held.expect("one of sixty at once is held");
    on_bob.wait_text(TRANSCRIPT, "write too fast").await;
    let shown = on_bob.wait_text(TRANSCRIPT, "held until you release it").await;
    assert!(!shown.contains(&format!("number {number}")), "its text is not in the transcript yet");
    on_bob.press_button("Release").await;
    on_bob.wait_text(TRANSCRIPT, &format!("number {number}")).await;
    on_bob.wait_text(TRANSCRIPT, "released, see below").await;
    assert_eq!(on_bob.console_errors().await, Vec::<String>::new());
    on_bob.quit().await;
}
