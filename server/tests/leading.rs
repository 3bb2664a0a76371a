//! Pods that work and have children, in real Chromium: the tree, its loans, approvals, compaction and rewind.

#![allow(clippy::unwrap_used)]

use std::fs;

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
    goto_pod(&browser, yoi, pod).await;
    browser
}

async fn goto_pod(browser: &Browser, yoi: &YoiProcess, pod: &Value) {
    let part = |name: &str| pod["pod"][name].as_str().unwrap().to_owned();
    browser.goto(&format!("{}/pods/{}/{}", yoi.console_url(), part("runtime_id"), part("worker_id"))).await;
    browser.wait_text("[role=status]", "live").await;
}

async fn send(browser: &Browser, text: &str) {
    let composer = browser.field("Message").await;
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            composer.send_keys(Key::Shift + Key::Enter).await.unwrap();
            // A modifier stays down until it is pressed again.
            composer.send_keys(Key::Null + "").await.unwrap();
        }
        composer.send_keys(line).await.unwrap();
    }
    composer.send_keys(Key::Enter + "").await.unwrap();
    // The text is cleared only once the server has it.
    browser.wait_script("return document.querySelector('[aria-label=Message]').value === ''").await;
}

async fn named(yoi: &YoiProcess, name: &str) -> Value {
    let list = yoi.get(&format!("/api/v1/pods?name={name}")).await.expect(200);
    list["items"][0].clone()
}

async fn tool(yoi: &YoiProcess, pod: &Value, name: &str, arguments: Value) -> Value {
    yoi.post(&format!("{}/tools/{name}", pod_path(pod)), &json!({ "arguments": arguments })).await.expect(200)
}

#[tokio::test]
async fn browser_a_pod_has_two_children_with_lent_folders() {
    let mut yoi = YoiProcess::start(YOI).await;
    let work = yoi.launch().work_dir();
    for folder in ["left", "right"] {
        fs::create_dir(work.join(folder)).unwrap();
    }
    let lead = yoi.new_pod("lead").await;
    let browser = open(&yoi, &lead).await;
    // It stays open on each Pod's page.
    browser.press(".inspect-more > summary").await;
    browser.wait_text(".inspect-more", "runtime").await;
    browser.find(".inspect-more a[href^='/audit?target=']").await;
    let spawn = |name: &str, task: &str| {
        let scope = json!([{ "path": work.join(name), "access": "write" }]);
        format!("call SpawnPod {}", json!({ "name": name, "task": task, "scope": scope }))
    };
    let write = json!({ "path": "notes.md", "content": "by left" });
    let tasks = [spawn("left", &format!("call Write {write}")), spawn("right", "stream 4000 at 40")];
    send(&browser, &tasks.join("\n")).await;

    // The children appear by themselves, with what is lent to each.
    browser.wait_text("aside.inspect", "left").await;
    let inspector = browser.wait_text("aside.inspect", "right writes, this Pod can only read").await;
    assert!(inspector.contains("left writes, this Pod can only read"), "{inspector}");
    browser.wait_text(TRANSCRIPT, "spawned right").await;

    // A child's approval reaches whoever watches its parent.
    browser.wait_text("main", "asks: Write notes.md").await;
    browser.press_button("Answer…").await;
    browser.wait_text("main article", "asks for permission").await;
    browser.press("main article[data-question] button.primary").await;
    browser.wait_until("the file is there", async |_| work.join("left/notes.md").exists()).await;
    browser.wait_text(TRANSCRIPT, "left").await;

    // kill -9 in the middle: the page comes back by itself, and so does the tree with its loans.
    yoi.kill9().await;
    browser.wait_text("[role=status]", "reconnecting").await;
    yoi.restart_on_same_port().await;
    browser.wait_text("[role=status]", "caught up").await;
    browser.wait_text("aside.inspect", "right writes, this Pod can only read").await;
    browser.wait_text("aside.inspect .children", "paused").await;
    let refused = tool(&yoi, &lead, "Write", json!({ "path": "right/x.md", "content": "x" })).await;
    assert_eq!(refused["code"], "permission_denied", "{refused}");

    // Stopping one, on its own page, returns its folder.
    let right = named(&yoi, "right").await;
    goto_pod(&browser, &yoi, &right).await;
    browser.wait_text("aside.inspect", "Parent").await;
    browser.press("#pod-more-summary").await;
    browser.press_button("Archive").await;
    browser.wait_text("main", "stopped").await;
    goto_pod(&browser, &yoi, &lead).await;
    browser.wait_text(TRANSCRIPT, "shut down").await;
    browser.wait_text(".inspect-more", "runtime").await;
    let inspector = browser.texts("aside.inspect").await.join("\n");
    assert!(!inspector.contains("right writes"), "the loan is back: {inspector}");
    let written = tool(&yoi, &lead, "Write", json!({ "path": "right/x.md", "content": "x" })).await;
    assert_eq!(written["is_error"], false, "{written}");
    // Requests under way when the server died were reset, those made while it was down refused; nothing else went wrong.
    let is_of_the_death = |error: &String| {
        ["net::ERR_CONNECTION_RESET", "net::ERR_CONNECTION_REFUSED"].iter().any(|kind| error.contains(kind))
    };
    let errors = browser.console_errors().await;
    assert!(errors.iter().all(is_of_the_death), "{errors:#?}");
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_question_is_answered_in_the_inbox_with_the_keyboard_alone() {
    let yoi = YoiProcess::start(YOI).await;
    let work = yoi.launch().work_dir();
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi, &pod).await;
    let write = |path: &str| format!("call Write {}", json!({ "path": path, "content": "yes" }));
    yoi.say(&pod, &format!("{}\n{}", write("one.txt"), write("two.txt"))).await;
    browser.wait_text("main", "waiting").await;
    browser.shortcut("ga").await;
    browser.wait_text("main h1", "Approvals").await;
    browser.wait_text("main", "2 approvals pending").await;
    browser.find("body").await.send_keys("a").await.unwrap();
    browser.wait_script("return document.activeElement.dataset.question !== undefined").await;
    browser.eval("window.asked = document.activeElement").await;
    let focused = browser.find("main article[data-question]:focus").await;
    focused.send_keys("a").await.unwrap();
    browser.wait_until("the first file is there", async |_| work.join("one.txt").exists()).await;
    browser.wait_text("main", "1 approval pending").await;
    browser.find("body").await.send_keys("a").await.unwrap();
    let focused = browser.find("main article[data-question]:focus").await;
    focused.send_keys("d").await.unwrap();
    let reason = browser.field("Reason for the model, optional").await;
    reason.send_keys("not this one").await.unwrap();
    reason.send_keys(Key::Enter + "").await.unwrap();
    browser.wait_text("main", "denied by you: not this one").await;
    goto_pod(&browser, &yoi, &pod).await;
    browser.wait_text(TRANSCRIPT, "not this one").await;
    browser.wait_text("main", "idle").await;
    assert!(!work.join("two.txt").exists());
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    browser.quit().await;
}

#[tokio::test]
async fn browser_compaction_and_rewind_say_first_what_they_drop() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi, &pod).await;
    for word in ["alpha", "beta", "gamma"] {
        send(&browser, &format!("say {word} {word}")).await;
        browser.wait_text("main .log .block-assistant", &format!("{word} {word}")).await;
        browser.wait_text("main", "idle").await;
    }
    // Rewind to before the third message.
    send(&browser, ":rewind").await;
    browser.wait_text("dialog[open] blockquote", "say gamma gamma").await;
    browser.wait_text("dialog[open]", "will leave the context").await;
    browser.press_button("Rewind").await;
    browser.wait_until("the dialog is gone", async |browser| browser.is_absent("dialog[open]").await).await;
    browser.wait_text(TRANSCRIPT, "rewound").await;
    let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
    assert!(history.contains("beta beta") && !history.contains("gamma"), "{history}");
    // All of it can still be read.
    assert!(browser.texts(TRANSCRIPT).await.join("\n").contains("gamma gamma"));

    send(&browser, ":compact").await;
    browser.wait_text("dialog[open]", "replaced by a summary").await;
    browser.press_button("Compact").await;
    browser.wait_until("the dialog is gone", async |browser| browser.is_absent("dialog[open]").await).await;
    browser
        .wait_until("the summary stands in the history", async |_| {
            let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
            history.contains("[summary of what came before]")
        })
        .await;
    browser.wait_text("main", "idle").await;
    browser.reload().await;
    browser.wait_text(TRANSCRIPT, "alpha alpha").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    browser.quit().await;
}
