//! What a new user does first, in real Chromium: adding a real model by its key, and the tour with the rehearsal model.

#![allow(clippy::unwrap_used)]

use testkit::{
    browser::Browser,
    scripted_model::{Answer, ScriptedModel},
    yoi::YoiProcess,
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
const KEY: &str = "sk-test-90ab12cd34ef56";

async fn type_into(browser: &Browser, label: &str, text: &str) {
    let field = browser.field(label).await;
    field.clear().await.unwrap();
    field.send_keys(text).await.unwrap();
}

#[tokio::test]
async fn browser_a_key_is_pasted_on_the_first_screen_a_pod_begun_with_it_and_the_key_replaced_and_forgotten() {
    let (model, refuses) = (ScriptedModel::start().await, ScriptedModel::start().await);
    model.set_models(&["small", "large"]);
    refuses.otherwise(Answer::refuse(401, format!("{{\"error\":{{\"message\":\"no such key: {KEY}\"}}}}")));
    let yoi = YoiProcess::start(YOI).await;
    let browser = Browser::open(&yoi, 1280, 800).await;
    browser.wait_live().await;
    browser.wait_text(".provider-lead", "No model server was found on this machine").await;
    let key = browser.field("Key").await;
    assert_eq!(key.attr("type").await.unwrap().as_deref(), Some("password"));
    assert_eq!(key.attr("autocomplete").await.unwrap().as_deref(), Some("off"));
    browser.press("#give-key-vendor option[value='']").await;
    type_into(&browser, "Name", "lab").await;
    type_into(&browser, "Address", &refuses.base_url().replace("/v1", "/keyed")).await;
    type_into(&browser, "Key", KEY).await;
    browser.press_button("Test and keep").await;
    let refused = browser.wait_text(".first-key .problem", "nothing was kept").await;
    assert!(refused.contains("no such key") && !refused.contains(KEY), "{refused}");

    type_into(&browser, "Address", &model.base_url()).await;
    browser.press_button("Test and keep").await;
    browser.wait_text(".first-key .verdict", "lab works: 2 models. New Pods use it.").await;
    browser.wait_text(".provider-ready", "small and 1 more · data folder").await;
    browser.press_button("Begin with small").await;
    browser.wait_text("main .head", "small").await;
    let pods = yoi.get("/api/v1/pods").await.expect(200);
    assert_eq!((&pods["items"][0]["name"], &pods["items"][0]["provider"]), (&"ada".into(), &"lab".into()));

    browser.goto_page(&yoi, "/settings").await;
    browser.wait_text("#models", "data folder").await;
    browser.wait_text("#models", "has a key").await;
    browser.press_button("Replace the key of lab").await;
    browser.wait_dialog("Another key for lab").await;
    type_into(&browser, "Key", "sk-another-5e8b").await;
    browser.press_button("Test and keep").await;
    browser.wait_text("#give-key .verdict", "lab works").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.press_button("Forget the key of lab").await;
    browser.wait_script("return !document.querySelector('#models').innerText.includes('data folder')").await;
    let page = browser.eval("return document.documentElement.outerHTML").await;
    assert!(!page.as_str().unwrap().contains(KEY), "the page holds the key");
    // The browser itself logs the refusal that was provoked; nothing else went wrong.
    let errors = browser.console_errors().await;
    assert!(errors.iter().all(|error| error.contains("/fn/set_key") && error.contains("400")), "{errors:?}");
}

#[tokio::test]
async fn browser_the_tour_does_a_task_and_lets_two_pods_write_to_each_other() {
    let yoi = YoiProcess::start(YOI).await;
    std::fs::write(yoi.launch().work_dir().join("README.md"), "# A project\n").unwrap();
    let browser = Browser::open(&yoi, 1280, 800).await;
    browser.wait_live().await;
    browser.press_button("Try it now").await;
    let holds = async |text: &str| {
        let script = format!(
            "return document.activeElement?.id === 'message' && document.getElementById('message').value.startsWith({})",
            serde_json::json!(text)
        );
        browser.wait_script(&script).await;
    };
    for (step, text) in [("1 of 6", "say hello"), ("2 of 6", "stream 300"), ("3 of 6", "demo")] {
        browser.wait_text(".tour", step).await;
        holds(text).await;
        browser.keys(Key::Enter + "").await;
        if step == "2 of 6" {
            // The step stays until the page is loaded again, and is over then.
            browser.wait_script("return sessionStorage.getItem('yoi:tour') === 'task'").await;
            browser.wait_text(".tour", step).await;
            browser.reload().await;
            browser.wait_live().await;
        }
    }
    // Its approval shows what would change; nothing is written before the answer.
    browser.wait_text("#log", "One line more").await;
    browser.wait_text(".tour", "3 of 6").await;
    browser.press("#log .answers .primary").await;
    browser.wait_text("#log", "README.md is changed").await;
    browser.wait_text(".tour", "4 of 6").await;
    holds(":peer bob").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_dialog("bob").await;
    browser.press("#peer-submit").await;
    browser.wait_text(".tour", "5 of 6").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    holds("call SendToPeerPod").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".tour", "6 of 6").await;
    // Both sent messages: bob's is in ada's transcript, and ada acted on it.
    browser.wait_text("#log", "nice to meet you, bob").await;
    browser.no_errors().await;
}
