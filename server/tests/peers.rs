//! Peers in real Chromium, with the built binary.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const TRANSCRIPT: &str = "main [role=log], main .log";

async fn open(yoi: &YoiProcess, pod: &Value) -> Browser {
    let browser = Browser::start(1440, 900).await;
    browser.goto(&yoi.login_url()).await;
    let part = |name: &str| pod["pod"][name].as_str().unwrap().to_owned();
    browser.goto(&format!("{}/pods/{}/{}", yoi.console_url(), part("runtime_id"), part("worker_id"))).await;
    browser.wait_text("[role=status]", "live").await;
    browser
}

async fn press(browser: &Browser, keys: &str) {
    browser.shortcut(keys).await;
}

async fn history(yoi: &YoiProcess, pod: &Value) -> String {
    yoi.get(&format!("{}/history", pod_path(pod))).await.expect(200).to_string()
}

#[tokio::test]
async fn browser_two_pods_become_peers_by_keyboard_and_write_to_each_other() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob, eve) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await, yoi.new_pod("eve").await);
    let (on_ada, on_bob) = tokio::join!(open(&yoi, &ada), open(&yoi, &bob));
    let before = (history(&yoi, &ada).await, history(&yoi, &bob).await);

    press(&on_ada, "p").await;
    on_ada.wait_text("dialog[open]", "Add a peer to ada").await;
    let field = on_ada.find("dialog[open] #peer-name").await;
    on_ada.wait_script("return document.activeElement.id === 'peer-name'").await;
    field.send_keys("bo").await.unwrap();
    on_ada.wait_text("dialog[open]", "ada and bob will see each other and can send each other messages").await;
    field.send_keys(Key::Enter + "").await.unwrap();
    field.send_keys(Key::Enter + "").await.unwrap();
    on_ada.wait_text("dialog[open]", "ada and bob are peers now").await;
    on_ada.find("dialog[open]").await.send_keys(Key::Escape + "").await.unwrap();
    on_ada.wait_until("the dialog is gone", async |browser| browser.is_absent("dialog[open]").await).await;
    for (browser, other) in [(&on_ada, "bob"), (&on_bob, "ada")] {
        browser.wait_text("aside.inspect", other).await;
    }
    assert_eq!((history(&yoi, &ada).await, history(&yoi, &bob).await), before, "no conversation was touched");

    let message = json!({ "name": "bob", "message": "say hello ada, this is bob" });
    yoi.say(&ada, &format!("call SendToPeerPod {message}")).await;
    on_bob.wait_text(TRANSCRIPT, "hello ada, this is bob").await;
    for browser in [&on_ada, &on_bob] {
        browser.wait_text(TRANSCRIPT, "answered").await;
    }
    assert!(!history(&yoi, &eve).await.contains("hello ada"), "a third Pod sees nothing");
    let seen = yoi.get(&format!("{}/visible", pod_path(&eve))).await.expect(200);
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "{seen}");
    for browser in [on_ada, on_bob] {
        assert_eq!(browser.console_errors().await, Vec::<String>::new());
        browser.quit().await;
    }
}

#[tokio::test]
async fn browser_a_request_is_answered_on_the_other_side_and_can_be_revoked() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let body = json!({ "name": "bob", "peer_policy": "ask" });
    let bob = yoi.post("/api/v1/pods", &body).await.expect(201);
    let (on_ada, on_bob) = tokio::join!(open(&yoi, &ada), open(&yoi, &bob));
    press(&on_ada, ":").await;
    on_ada.field("Message").await.send_keys("peer bob").await.unwrap();
    on_ada.field("Message").await.send_keys(Key::Enter + "").await.unwrap();
    on_ada.wait_text("dialog[open]", "ada and bob will see each other").await;
    on_ada.press_button("Add peer").await;
    on_ada.wait_text("dialog[open]", "Accept it in Approvals").await;

    press(&on_bob, "ga").await;
    on_bob.wait_text("main h1", "Approvals").await;
    on_bob.wait_text("main", "ada").await;
    on_bob.press_button("Accept").await;
    on_ada.wait_text("dialog[open]", "ada and bob are peers now").await;
    let peers = yoi.get(&format!("{}/peers", pod_path(&ada))).await.expect(200);
    assert_eq!(peers["items"][0]["link"], "linked", "{peers}");

    // The map shows the pair, in the picture and as a table.
    press(&on_bob, "gm").await;
    on_bob.wait_text("main h1", "Map").await;
    let table = on_bob.wait_text("main table", "ada").await;
    assert!(table.contains("bob"), "{table}");
    for browser in [on_ada, on_bob] {
        assert_eq!(browser.console_errors().await, Vec::<String>::new());
        browser.quit().await;
    }
}
