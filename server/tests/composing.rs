//! Writing a message in real Chromium: file names, queued messages, and earlier messages.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const TRANSCRIPT: &str = "main .log";

async fn wait_draft(browser: &Browser, text: &str) {
    browser.wait_script(&format!("return document.getElementById('message').value === {}", json!(text))).await;
}

/// The button of a queued message.
async fn queued(browser: &Browser, button: &str) {
    browser.press(&format!(".queue button[title^='{button}']")).await;
}

async fn wait_empty_queue(browser: &Browser) {
    browser.wait_until("the queue is empty", async |browser| browser.is_absent(".queue").await).await;
}

async fn said(yoi: &YoiProcess, pod: &Value) -> Vec<Value> {
    let page = yoi.get(&format!("{}/transcript", pod_path(pod))).await.expect(200);
    let records = page["items"].as_array().unwrap().clone();
    records.into_iter().filter(|record| record["event"]["kind"] == "user_message").collect()
}

#[tokio::test]
async fn browser_a_file_is_completed_by_its_name_and_goes_as_a_file() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = yoi.launch().work_dir().join("src/deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("main.rs"), "fn main() {}\n").unwrap();
    std::fs::write(folder.join("other.rs"), "\n").unwrap();
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.field("Message").await.click().await.unwrap();
    browser.keys("say look at @mai").await;
    browser.wait_text("#commands [role=option]", "@main.rs").await;
    // The results for fewer letters arrive first.
    browser
        .wait_until("that file alone is offered", async |browser| {
            let offered = browser.texts("#commands [role=option]").await.concat();
            offered.contains("@main.rs") && !offered.contains("@other.rs")
        })
        .await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".chips", "file src/deep/main.rs").await;
    browser.keys("please").await;
    browser.keys(Key::Enter + "").await;
    wait_draft(&browser, "").await;
    browser.wait_text(TRANSCRIPT, "src/deep/main.rs").await;
    browser.wait_until("the chip has gone with it", async |browser| browser.is_absent(".chips").await).await;
    let messages = said(&yoi, &pod).await;
    let segments = &messages[0]["event"]["segments"];
    assert!(
        segments.as_array().unwrap().contains(&json!({ "type": "file_ref", "path": "src/deep/main.rs" })),
        "{segments}"
    );
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_waits_can_be_edited_and_removed_and_what_was_said_comes_back() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.send("say the first one").await;
    browser.wait_text(TRANSCRIPT, "the first one").await;
    browser.wait_text(TRANSCRIPT, "completed").await;
    browser.wait_text("main .head", "idle").await;
    browser.send("wait 600").await;
    browser.wait_text("main .head", "running").await;
    browser.send("say a secnd one").await;
    browser.wait_text(".queue", "say a secnd one").await;

    // Edited: it is in the text box and no longer in the queue.
    queued(&browser, "Move it back to the text box").await;
    wait_draft(&browser, "say a secnd one").await;
    wait_empty_queue(&browser).await;
    browser.wait_focus("message").await;
    browser.chord(Key::Control, 'a').await;
    browser.keys("say a second one").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".queue", "say a second one").await;
    // Removed: a third one is never sent.
    browser.send("say a third one").await;
    browser.wait_text(".queue", "say a third one").await;
    browser.press(".queue li:last-child button[title$='without sending']").await;
    browser
        .wait_until("it is out of the queue", async |browser| {
            let waits = browser.texts(".queue").await.concat();
            waits.contains("second") && !waits.contains("third")
        })
        .await;
    // Messages queued by another client are there too, and disappear when taken back.
    let elsewhere = json!({ "segments": [{ "type": "text", "text": "say a fourth one" }], "queue": true });
    yoi.post(&format!("{}/input", pod_path(&pod)), &elsewhere).await.expect(202);
    browser.wait_text(".queue", "say a fourth one").await;
    let waiting = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!(waiting["queued_count"], 2, "{waiting}");
    let id = waiting["queued"][1]["command_id"].as_str().unwrap();
    yoi.delete(&format!("{}/input/{id}", pod_path(&pod))).await;
    browser
        .wait_until("it went from the queue", async |browser| {
            let waits = browser.texts(".queue").await.concat();
            waits.contains("second") && !waits.contains("fourth")
        })
        .await;
    // A reloaded page shows the queue.
    browser.reload().await;
    browser.wait_live().await;
    browser.wait_text(".queue", "say a second one").await;

    // Cancel ends this run, and the queued message follows; Stop would put it back into the field.
    yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    wait_empty_queue(&browser).await;
    browser.wait_text(TRANSCRIPT, "a second one").await;
    browser.wait_text("main .head", "idle").await;
    let texts =
        said(&yoi, &pod).await.iter().map(|record| record["event"]["segments"][0]["text"].clone()).collect::<Vec<_>>();
    assert_eq!(texts, ["say the first one", "wait 600", "say a second one"]);

    // With the arrow keys through earlier messages, and back to an empty box.
    browser.field("Message").await.click().await.unwrap();
    for text in ["say a second one", "wait 600", "say the first one"] {
        browser.keys(Key::Up + "").await;
        wait_draft(&browser, text).await;
    }
    browser.keys(Key::Down + "").await;
    wait_draft(&browser, "wait 600").await;
    browser.keys(Key::Escape + "").await;
    wait_draft(&browser, "").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_long_message_that_waits_is_cut_and_widens_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.send("wait 600").await;
    browser.wait_text("main .head", "running").await;
    browser.send(&format!("say {}", "a long line ".repeat(40))).await;
    browser.wait_text(".queue", "a long line").await;
    let fits = "const right = x => document.querySelector(x).getBoundingClientRect().right; \
        return right('.composer-box') <= right('.composer') && right('.queue li:last-child') <= right('.composer-box')";
    for width in [1440, 360] {
        browser.set_viewport(width, 800).await;
        assert_eq!(browser.eval(fits).await, json!(true), "at {width}");
    }
    browser.no_errors().await;
    browser.quit().await;
}

/// A picture that a browser can draw: one dot.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Gives files to the message field, as a paste or a drop does.
async fn give(browser: &Browser, kind: &str, name: &str) {
    let script = format!(
        "const bytes = Uint8Array.from(atob({DOT:?}), (letter) => letter.charCodeAt(0));
         const data = new DataTransfer();
         data.items.add(new File([bytes], {name:?}, {{ type: 'image/png' }}));
         const target = document.getElementById('message');
         const event = {kind:?} === 'paste'
             ? new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }})
             : new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }});
         target.dispatchEvent(event);
         return true;"
    );
    browser.eval(&script).await;
}

#[tokio::test]
async fn browser_pictures_are_pasted_dropped_and_chosen_and_are_in_the_transcript_after_a_reload() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    give(&browser, "paste", "pasted.png").await;
    browser.wait_text(".chips", "pasted.png").await;
    give(&browser, "drop", "dropped.png").await;
    browser.wait_text(".chips", "dropped.png").await;
    let path = yoi.launch().work_dir().join("notes.txt");
    std::fs::write(&path, "remember").unwrap();
    // The driver can give files only to a visible field; people use the button instead.
    browser.eval("return document.querySelector('#attach-files').hidden = false").await;
    browser.find("#attach-files").await.send_keys(path.to_str().unwrap()).await.unwrap();
    browser.wait_text(".chips", "notes.txt").await;
    browser.press_button("Remove image dropped.png").await;
    browser.wait_script("return !document.querySelector('.chips').textContent.includes('dropped')").await;
    let seen =
        "return [...document.querySelectorAll('IMG')].every((image) => image.complete && image.naturalWidth === 1)";
    browser.wait_script(&seen.replace("IMG", ".chips img")).await;
    // The draft survives the page, with its attachments.
    browser.reload().await;
    browser.wait_live().await;
    browser.wait_text(".chips", "pasted.png").await;
    browser.send("say hello").await;
    browser.wait_text(TRANSCRIPT, "I was sent image pasted.png (image/png, ").await;
    browser.wait_script("return document.querySelector('.chips') === null").await;
    browser.reload().await;
    browser.wait_live().await;
    browser.wait_script(&seen.replace("IMG", ".person .attached img")).await;
    let alt = browser.eval("return document.querySelector('.person .attached img').alt").await;
    assert_eq!(alt, "pasted.png");
    browser.wait_text(".person a.file", "notes.txt").await;
    browser.set_viewport(360, 740).await;
    let wide = browser.eval("return document.documentElement.scrollWidth").await;
    assert!(wide.as_f64().unwrap() <= 360.0, "{wide}");
    let [record] = said(&yoi, &pod).await.try_into().unwrap();
    let kinds =
        |name: &str| record["event"]["segments"].as_array().unwrap().iter().filter(|it| it["type"] == name).count();
    assert_eq!((kinds("text"), kinds("image"), kinds("file")), (1, 1, 1), "{record}");
    browser.no_errors().await;
}

#[tokio::test]
async fn browser_a_mode_that_is_only_passed_on_the_way_answers_no_question() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.hold_time(1_000).await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "one", "content": "x" }))).await;
    browser.find("article[data-next]").await;
    browser.field("Message").await.click().await.unwrap();
    let walk = async |mode: &str| {
        browser.chord(Key::Shift, Key::Tab).await;
        browser.wait_script(&format!("return document.querySelector('select.mode').value === {}", json!(mode))).await;
    };
    let changes = async || {
        let journal = yoi.journal(&pod).await;
        journal.iter().filter(|record| record["event"]["kind"] == "settings_changed").count()
    };
    // All the way round: nothing is another mode when it rests.
    for mode in ["accept_edits", "plan", "free", "ask"] {
        walk(mode).await;
    }
    browser.let_time_pass().await;
    // Enter does not wait for a rest.
    walk("accept_edits").await;
    assert_eq!(changes().await, 0);
    assert!(!yoi.launch().work_dir().join("one").exists());
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".notices", "ada: mode is accept edits.").await;
    assert_eq!(changes().await, 1);
    // At rest it holds by itself.
    walk("plan").await;
    browser.wait_held().await;
    browser.let_time_pass().await;
    browser.wait_text(".notices", "ada: mode is plan.").await;
    browser.no_errors().await;
    browser.quit().await;
}
