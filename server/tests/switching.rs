//! From one Pod to another and back in real Chromium: a page that was left a moment ago is shown again as it was, with
//! what has arrived since, and without any request to the server.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::{Browser, console::page_of},
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A live Pod with this many past questions and answers.
async fn pod(yoi: &YoiProcess, name: &str, turns: usize) -> Value {
    let mut lines = Vec::new();
    for turn in 1..=turns {
        let text = format!("{name} answers {turn}.{}", "\n\nand so on".repeat(turn % 4));
        let question = json!([{ "type": "text", "text": format!("question {turn}.") }]);
        let events = [
            json!({ "kind": "user_message", "segments": question, "command_id": format!("c{turn}"), "by": "operator" }),
            json!({ "kind": "message_finished", "block": format!("b{turn}"), "text": text, "interrupted": false }),
        ];
        for event in events {
            let record = json!({ "seq": lines.len() + 1, "at": "2026-11-22T06:00:00Z", "event": event });
            lines.push(record.to_string());
        }
    }
    let pod = yoi.post("/api/v1/import", &json!({ "name": name, "jsonl": lines.join("\n") })).await.expect(201);
    yoi.post(&format!("{}/restore", pod_path(&pod)), &json!({})).await;
    pod
}

fn path_of(yoi: &YoiProcess, pod: &Value) -> String {
    page_of(yoi, pod).strip_prefix(yoi.console_url()).unwrap().to_owned()
}

/// Clicks on the Pod's row, and waits until its page is shown.
async fn switch(browser: &Browser, yoi: &YoiProcess, pod: &Value) {
    let path = path_of(yoi, pod);
    browser.press(&format!("a[data-row][href='{path}']")).await;
    let address = path.trim_start_matches("/pods/");
    browser
        .wait_script(&format!(
            "return document.querySelectorAll('#log').length === 1 && document.querySelectorAll('main').length === 1 \
             && document.getElementById('log').dataset.pod === '{address}' && location.pathname === '{path}'"
        ))
        .await;
}

/// What has been fetched so far that is not a file of the page.
async fn requests(browser: &Browser) -> u64 {
    let script = "return performance.getEntriesByType('resource').filter(e => e.name.includes('/fn/')).length";
    browser.eval(script).await.as_u64().unwrap()
}

/// Like [`Browser::open_pod`], and each page tracks its pending requests.
async fn open_pod(yoi: &YoiProcess, pod: &Value) -> Browser {
    let browser = Browser::open(yoi, 1440, 900).await;
    let count = "const fetched = window.fetch; window.underWay = 0; \
        window.fetch = async (...what) => { \
            window.underWay += 1; try { return await fetched(...what); } finally { window.underWay -= 1; } };";
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": count })).await;
    browser.goto_pod(yoi, pod).await;
    browser
}

/// Returns when nothing is being fetched, and nothing has been for a while.
async fn wait_at_rest(browser: &Browser) {
    browser
        .wait_script(
            "if (window.underWay > 0) window.rest = undefined; \
             const now = performance.getEntriesByType('resource').length, at = performance.now(); \
             const last = window.rest; window.rest = last?.now === now ? last : { now, at }; \
             return window.underWay === 0 && at - window.rest.at > 700",
        )
        .await;
}

#[tokio::test]
async fn browser_a_pod_is_seen_again_where_it_was_left_and_asks_for_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (pod(&yoi, "ada", 60).await, pod(&yoi, "bob", 60).await);
    let browser = open_pod(&yoi, &ada).await;
    browser.wait_text("#log-drawn", "ada answers 60.").await;
    browser.eval("document.getElementById('log').scrollTop = 900").await;
    browser.wait_script("return !document.querySelector('.below').classList.contains('is-hidden')").await;
    let offset = "const log = document.getElementById('log').getBoundingClientRect().top; \
                  const block = [...document.querySelectorAll('#log-drawn > *')] \
                      .find(e => e.getBoundingClientRect().bottom > log + 1); \
                  return [block.id, block.getBoundingClientRect().top - log]";
    let place = browser.eval(offset).await;
    browser.eval("const m = document.getElementById('message'); m.focus(); m.setSelectionRange(0, 0)").await;
    browser.keys("not sent yet").await;

    switch(&browser, &yoi, &bob).await;
    browser.wait_text("#log-drawn", "bob answers 60.").await;
    browser.wait_script("return document.title.startsWith('bob')").await;
    assert_eq!(browser.eval("return document.getElementById('message').value").await, "");
    // All of it is drawn, and its end is in view.
    let whole = "const log = document.getElementById('log'); return log.dataset.drawn === log.dataset.blocks \
                 && log.scrollHeight - log.scrollTop - log.clientHeight < 2 \
                 && document.querySelector('#log-drawn > *').textContent.includes('question 1.')";
    browser.wait_script(whole).await;
    wait_at_rest(&browser).await;

    let before = requests(&browser).await;
    switch(&browser, &yoi, &ada).await;
    browser.wait_script("return document.title.startsWith('ada')").await;
    assert_eq!(browser.eval("return document.getElementById('message').value").await, "not sent yet");
    // At once, and also after everything has been laid out again.
    for _ in 0..2 {
        let now = browser.eval(offset).await;
        assert_eq!(now[0], place[0]);
        let drift = now[1].as_f64().unwrap() - place[1].as_f64().unwrap();
        assert!(drift.abs() < 1.01, "what was read moved by {drift} px");
        browser.wait_script("return document.querySelector('.is-folded') === null").await;
    }
    // What is typed goes to its message field.
    browser.wait_focus("message").await;
    let row = path_of(&yoi, &ada);
    assert_eq!(
        browser.eval("return document.querySelector('[data-row][aria-current]').getAttribute('href')").await,
        json!(row)
    );
    wait_at_rest(&browser).await;
    assert_eq!(requests(&browser).await, before, "nothing is asked for");

    // Home and End cover all of it.
    browser.eval("document.getElementById('log').focus()").await;
    browser.keys(Key::Home + "").await;
    browser.wait_script("return document.getElementById('log').scrollTop === 0").await;
    browser.keys(Key::End + "").await;
    browser.wait_script("return document.querySelector('.below').classList.contains('is-hidden')").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_came_meanwhile_is_there_and_a_page_that_is_not_seen_counts_as_unread() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (pod(&yoi, "ada", 5).await, pod(&yoi, "bob", 5).await);
    let browser = Browser::open_pod(&yoi, &ada).await;
    switch(&browser, &yoi, &bob).await;
    yoi.say(&ada, "say something new").await;
    let row = format!("a[data-row][href='{}']", path_of(&yoi, &ada));
    browser.wait_text(&row, "unread").await;

    switch(&browser, &yoi, &ada).await;
    browser.wait_text("#log-drawn", "something new").await;
    let log = "const log = document.getElementById('log'); return log.scrollHeight - log.scrollTop - log.clientHeight";
    browser.wait_until("it follows its end", async |browser| browser.eval(log).await.as_f64().unwrap() < 2.0).await;
    let unread = format!("return !document.querySelector(\"{row}\").textContent.includes('unread')");
    browser.wait_script(&unread).await;

    // And it continues: new text is shown as it arrives, once.
    browser.send("say and more").await;
    browser.wait_text("#log-drawn .block-assistant", "and more").await;
    browser.wait_text("main .head", "idle").await;
    let blocks = browser.texts("#log-drawn .block-assistant").await;
    assert_eq!(blocks.iter().filter(|text| text.contains("and more")).count(), 1, "{blocks:?}");
    assert_eq!(blocks.iter().filter(|text| text.contains("something new")).count(), 1, "{blocks:?}");

    // The other one has not changed, and the browser's Back leads there too.
    browser.eval("history.back()").await;
    browser.wait_text("#log-drawn", "bob answers 5.").await;
    browser.wait_script("return document.title.startsWith('bob')").await;
    browser
        .wait_script("const l = document.getElementById('log'); return l.scrollTop === l.scrollHeight - l.clientHeight")
        .await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_of_many_pods_only_the_last_ones_are_kept() {
    let yoi = YoiProcess::start(YOI).await;
    let mut pods = Vec::new();
    for name in ["ada", "bob", "cleo", "dan", "eva", "finn", "gus"] {
        pods.push(pod(&yoi, name, 2).await);
    }
    let browser = open_pod(&yoi, &pods[0]).await;
    for pod in &pods[1..] {
        switch(&browser, &yoi, pod).await;
    }
    wait_at_rest(&browser).await;
    let before = requests(&browser).await;
    switch(&browser, &yoi, &pods[1]).await;
    wait_at_rest(&browser).await;
    assert_eq!(requests(&browser).await, before, "the fifth before this one is kept");
    switch(&browser, &yoi, &pods[0]).await;
    browser.wait_text("#log-drawn", "ada answers 2.").await;
    wait_at_rest(&browser).await;
    assert!(requests(&browser).await > before, "the one before it was read again");
    // A deleted one is not shown from memory.
    yoi.delete(&format!("{}?confirm=gus", pod_path(&pods[6]))).await.expect(204);
    browser.goto_page(&yoi, &path_of(&yoi, &pods[6])).await;
    browser.wait_text("main", "No such Pod").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_part_of_the_page_that_could_not_be_fetched_is_asked_for_again_and_that_is_said() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = pod(&yoi, "ada", 2).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.setBlockedURLs", json!({ "urls": ["*conversation*"] })).await;
    browser.devtools("Network.clearBrowserCache", json!({})).await;
    browser.goto(&page_of(&yoi, &ada)).await;
    browser.wait_text("#log-drawn", "ada answers 2.").await;
    browser.wait_text(".unfetched", "Trying again").await;
    browser.button("Reload").await;
    browser.wait_text(".connection [role=status]", "as loaded").await;
    browser.devtools("Network.setBlockedURLs", json!({ "urls": [] })).await;
    browser.wait_live().await;
    browser.wait_script("return document.querySelector('.unfetched') === null").await;
    browser.send("say hello again").await;
    browser.wait_text("#log-drawn", "hello again").await;
    browser.quit().await;
}
