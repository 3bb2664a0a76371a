//! What must not do harm through a slip of the hand, in real Chromium with the built binary: what is preselected, what
//! asks for confirmation, where the focus is, and that a stop takes effect at once.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const LOG: &str = "main .log";

async fn state(yoi: &YoiProcess, pod: &Value) -> String {
    yoi.get(&pod_path(pod)).await.expect(200)["state"].as_str().unwrap().to_owned()
}

async fn until_state(yoi: &YoiProcess, browser: &Browser, pod: &Value, wanted: &str) {
    browser.wait_until(wanted, async |_| state(yoi, pod).await == wanted).await;
}

async fn message(browser: &Browser) -> String {
    browser.eval("return document.getElementById('message').value").await.as_str().unwrap().to_owned()
}

/// A Pod that may run commands without an approval.
async fn trusted(yoi: &YoiProcess, name: &str) -> Value {
    let pod = yoi.new_pod(name).await;
    let allow = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    yoi.patch(&pod_path(&pod), &allow).await.expect(200);
    pod
}

/// Has this Pod run a command that keeps writing to this file, and waits until it does.
async fn writes_into(yoi: &YoiProcess, browser: &Browser, pod: &Value, file: &Path) {
    let command = format!("while true; do echo x >> {}; sleep 0.01; done", file.display());
    yoi.say(pod, &format!("call Bash {}", json!({ "command": command }))).await;
    browser.wait_until("the command writes", async |_| length(file) > 3).await;
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |metadata| metadata.len())
}

/// A command that is still writing would be noticed: it writes a hundred times a second.
async fn writes_no_more(file: &Path) {
    let before = length(file);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(length(file), before, "what was stopped goes on writing");
}

#[tokio::test]
async fn browser_another_model_is_chosen_in_the_head_and_the_transcript_tells_it() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.press(".head-model").await;
    browser.wait_text("#model", "Currently rehearsal.").await;
    browser.wait_text("#model", "200k context").await;
    // Nothing was selected: nothing changes, and the page says so.
    browser.press("#model-submit").await;
    browser.wait_text("#model", "Choose a model").await;
    let choose = "const level = document.getElementById('model-thinking'); level.value = 'high';
                  level.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.eval(choose).await;
    browser.press("#model-submit").await;
    browser.wait_text(LOG, "thinking high: set by you").await;
    assert_eq!(yoi.get(&pod_path(&pod)).await.expect(200)["thinking"], "high");
}

/// Stops the Pod of this page, from its menu.
async fn archive(browser: &Browser) {
    browser.press("#pod-more-summary").await;
    // The bar of a selection has a button of the same name.
    let archive =
        "[...document.querySelectorAll('#pod-more button')].find(it => it.innerText.includes('Archive')).click()";
    browser.eval(archive).await;
}

#[tokio::test]
async fn browser_a_stop_ends_a_command_at_once_and_undo_brings_the_pod_back_paused() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob, eve) = (trusted(&yoi, "ada").await, trusted(&yoi, "bob").await, trusted(&yoi, "eve").await);
    let file = |name: &str| yoi.launch().work_dir().join(name);
    let browser = Browser::open_pod(&yoi, &ada).await;
    browser.hold_time(5_000).await;
    writes_into(&yoi, &browser, &ada, &file("a")).await;
    archive(&browser).await;
    browser.wait_text(".notices", "Archived ada. Undo brings it back, paused.").await;
    assert_eq!(state(&yoi, &ada).await, "stopped");
    writes_no_more(&file("a")).await;

    browser.press_button("Undo").await;
    browser.wait_text(".notices", "ada is back. The run was ended; Resume continues it.").await;
    assert_eq!(state(&yoi, &ada).await, "paused");
    browser.press_button("Resume").await;
    // It continues after the call that was ended.
    until_state(&yoi, &browser, &ada, "idle").await;

    // Two at once, from the bar of the selection.
    writes_into(&yoi, &browser, &bob, &file("b")).await;
    writes_into(&yoi, &browser, &eve, &file("e")).await;
    for pod in [&bob, &eve] {
        let worker_id = pod["pod"]["worker_id"].as_str().unwrap();
        browser.eval(&format!("document.querySelector(\"aside.pods a[href*='{worker_id}']\").focus()")).await;
        browser.keys("x").await;
    }
    browser.wait_text("aside .selection", "2 selected").await;
    browser.press("aside .selection button[title^=Archive]").await;
    browser.wait_text(".notices", "Archived 2 Pods. Undo brings them back, the running ones paused.").await;
    writes_no_more(&file("b")).await;
    writes_no_more(&file("e")).await;

    // Also if the page is closed at the same moment.
    archive(&browser).await;
    browser.goto("about:blank").await;
    until_state(&yoi, &browser, &ada, "stopped").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_colon_and_enter_stop_nothing_and_a_deletion_asks() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &ada).await;
    browser.keys(":").await;
    browser.wait_text("#commands", ":stop").await;
    assert!(browser.is_absent("#commands [aria-selected=true]").await, "nothing is chosen beforehand");
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".composer", "Type a command or choose one with the arrow keys").await;
    browser.keys("sto").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_script("return document.getElementById('message').value === ':stop '").await;
    assert_eq!(state(&yoi, &ada).await, "idle");
    browser.keys(Key::Escape + "").await;

    // Nor in the palette.
    browser.chord(Key::Control, 'k').await;
    browser.wait_focus("palette-field").await;
    browser.keys("sto").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_script("return document.getElementById('palette-field').value === ':stop '").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    assert_eq!(state(&yoi, &ada).await, "idle");

    // The name was typed: the button that keeps the Pod has the focus, and a second Enter keeps it.
    browser.shortcut(":delete ada").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_dialog("This stops ada and deletes it with its whole transcript.").await;
    browser.wait_focus("delete-cancel").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_no_dialog().await;
    assert_eq!(state(&yoi, &ada).await, "idle");
    browser.shortcut(":delete ada").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_focus("delete-cancel").await;
    browser.keys(Key::Tab + Key::Enter).await;
    browser.wait_text(".notices", "ada is deleted").await;
    yoi.get(&pod_path(&ada)).await.expect_error(404);
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_question_is_answered_while_writing_only_where_it_is_seen() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &ada).await;
    // What is typed goes to the message field: Escape leaves it, and both keys lead back into it.
    browser.wait_focus("message").await;
    for key in ["i".into(), Key::Enter + ""] {
        browser.keys(Key::Escape + "").await;
        browser.wait_script("return document.activeElement.id !== 'message'").await;
        browser.keys(key).await;
        browser.wait_focus("message").await;
        assert_eq!(message(&browser).await, "");
    }
    let call = |file: &str| format!("call Write {}", json!({ "path": file, "content": "x" }));
    yoi.say(&ada, &call("one")).await;
    browser.find("article[data-next]").await;
    // A letter is text, whatever dialog is open.
    browser.keys("a").await;
    assert_eq!((message(&browser).await, state(&yoi, &ada).await), ("a".into(), "waiting".into()));
    browser.chord(Key::Alt, 'a').await;
    until_state(&yoi, &browser, &ada, "idle").await;
    assert_eq!(message(&browser).await, "a");
    browser.wait_focus("message").await;
    assert!(yoi.launch().work_dir().join("one").exists(), "it was allowed");

    // Denied with a reason, then back to what was being written.
    yoi.say(&ada, &call("two")).await;
    browser.find("article[data-next]").await;
    browser.chord(Key::Alt, 'd').await;
    browser
        .wait_script("return document.activeElement.getAttribute('aria-label')?.startsWith('Reason') === true")
        .await;
    browser.keys("not today").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(LOG, "not today").await;
    browser.wait_focus("message").await;
    until_state(&yoi, &browser, &ada, "idle").await;
    assert!(!yoi.launch().work_dir().join("two").exists(), "it was denied");

    // When it is out of view, it is scrolled into view and not answered.
    for number in 0..6 {
        yoi.say(&ada, &format!("say {}", format!("line {number}  ").repeat(300))).await;
    }
    until_state(&yoi, &browser, &ada, "idle").await;
    yoi.say(&ada, &call("three")).await;
    browser.find("article[data-next]").await;
    browser.eval("document.querySelector('main .log').scrollTop = 0").await;
    let is_away = "const card = document.querySelector('article[data-next]'); \
                   return !card || card.getBoundingClientRect().top > innerHeight";
    browser.wait_script(is_away).await;
    browser.chord(Key::Alt, 'a').await;
    browser.wait_text(".notices", "The approval was out of view.").await;
    assert_eq!(state(&yoi, &ada).await, "waiting");
    browser.chord(Key::Alt, 'a').await;
    until_state(&yoi, &browser, &ada, "idle").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_new_pod_can_be_written_to_at_once_and_enter_adds_a_named_peer() {
    let yoi = YoiProcess::start(YOI).await;
    let mark = yoi.new_pod("mark").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.keys("n").await;
    browser.wait_focus("new-pod-name").await;
    browser.keys("ada").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_focus("message").await;
    browser.keys("say hello from here").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(LOG, "hello from here").await;
    browser.wait_text("main .head", "idle").await;

    browser.shortcut("i").await;
    browser.wait_focus("message").await;
    browser.keys(":peer mark").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_dialog("ada and mark will see each other").await;
    browser.wait_focus("peer-submit").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("dialog[open]", "ada and mark are peers now").await;
    let peers = yoi.get(&format!("{}/peers", pod_path(&mark))).await.expect(200);
    assert_eq!(peers["items"][0]["name"], "ada", "{peers}");
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_write_shows_the_lines_that_go_as_the_file_is_now() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let file = yoi.launch().work_dir().join("notes.md");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    let browser = Browser::open_pod(&yoi, &ada).await;
    browser.hold_time(5_000).await;
    let write = json!({ "path": "notes.md", "content": "two\nfour\n" });
    yoi.say(&ada, &format!("call Read {}\ncall Write {write}", json!({ "path": "notes.md" }))).await;
    let card = "article[data-question]";
    browser.wait_text(card, "+1 −2").await;
    let removed = format!("{card} .line-removed");
    let lines = browser.texts(&removed).await;
    assert_eq!(lines.iter().map(|line| line.trim()).collect::<Vec<_>>(), ["-one", "-three"]);
    assert!(browser.texts(&format!("{card} .line-added")).await.concat().contains("+four"));

    // Somebody else writes to the file: the card follows, and an answer based on the earlier version is refused.
    std::fs::write(&file, "one\ntwo\nthree\nmore\n").unwrap();
    browser.wait_held().await;
    browser.let_time_pass().await;
    browser.wait_text(card, "+1 −3; it would fail: notes.md has changed since you read it").await;
    let asked = yoi.get(&format!("{}/approvals", pod_path(&ada))).await.expect(200);
    let diff = asked["items"][0]["diff"].as_str().unwrap();
    assert_eq!(diff, "--- a/notes.md\n+++ b/notes.md\n@@ -1,4 +1,2 @@\n-one\n two\n-three\n-more\n+four\n");
    let mut cli = yoi.launch().command();
    cli.args(["approvals", "ada", "--data"]).arg(yoi.launch().data_dir());
    let said = String::from_utf8(cli.output().await.unwrap().stdout).unwrap();
    assert!(said.contains("Write notes.md: +1 −3; it would fail") && said.contains("\n-three\n"), "{said}");

    browser.press(&format!("{card} [data-answer=a]")).await;
    browser.wait_text(LOG, "changed since you read it").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\nthree\nmore\n");
    browser.no_errors().await;
    browser.quit().await;
}
