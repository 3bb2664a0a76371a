//! A transcript of more than ten thousand blocks in real Chromium: only a part of it is drawn, and what is being read
//! never moves.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::{Browser, console::page_of},
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A question and an answer each.
const TURNS: usize = 5_000;

/// The maximum number of blocks in the page at once. A screen shows about ten.
const DRAWN_MAX: u64 = 250;

/// The tolerance for what is being read: a browser rounds scroll positions to whole pixels of the screen.
const DRIFT_PX_MAX: f64 = 0.51;

/// More than a page keeps, which is 20,000 blocks.
const TURNS_TOO_MANY: usize = 10_500;

/// A live Pod with a long past. Its answers have different heights.
async fn long_pod(yoi: &YoiProcess, turns: usize) -> Value {
    let mut lines = Vec::new();
    let mut record = |seq: usize, event: Value| {
        lines.push(json!({ "seq": seq, "at": "2026-11-22T06:00:00Z", "event": event }).to_string());
    };
    for turn in 1..=turns {
        let seq = 2 * turn - 1;
        let question = json!([{ "type": "text", "text": format!("question {turn}.") }]);
        record(
            seq,
            json!({ "kind": "user_message", "segments": question, "command_id": format!("c{turn}"), "by": "operator" }),
        );
        let more = "\n\nand so on".repeat(turn % 4);
        let word = if turn % 2_400 == 100 { " A needle." } else { "" };
        let text = format!("answer {turn}.{word}{more}");
        record(
            seq + 1,
            json!({ "kind": "message_finished", "block": format!("b{turn}"), "text": text, "interrupted": false }),
        );
    }
    let import = json!({ "name": "ada", "jsonl": lines.join("\n") });
    let pod = yoi.post("/api/v1/import", &import).await.expect(201);
    yoi.post(&format!("{}/restore", pod_path(&pod)), &json!({})).await;
    pod
}

async fn number(browser: &Browser, script: &str) -> f64 {
    browser.eval(script).await.as_f64().unwrap()
}

/// How many blocks the page has received from the server.
async fn blocks(browser: &Browser) -> u64 {
    number(browser, "return Number(document.getElementById('log').dataset.blocks)").await as u64
}

async fn assert_few_are_drawn(browser: &Browser) {
    let drawn = number(browser, "return document.querySelectorAll('[data-block]').length").await as u64;
    assert!(drawn > 0 && drawn <= DRAWN_MAX, "{drawn} blocks are drawn");
}

/// Waits until a block with this text is in view.
async fn wait_in_sight(browser: &Browser, words: &str) {
    let script = format!(
        "const log = document.getElementById('log').getBoundingClientRect(); \
         return [...document.querySelectorAll('#log-drawn > *')].some(e => {{ const r = e.getBoundingClientRect(); \
         return e.innerText.includes('{words}') && r.bottom > log.top && r.top < log.bottom; }})"
    );
    browser.wait_script(&script).await;
}

/// Scrolls, as a wheel does, to this many pixels from the end.
async fn scroll_up(browser: &Browser, px: u32) {
    let script = format!(
        "const log = document.getElementById('log'); log.scrollTop = log.scrollHeight - log.clientHeight - {px}"
    );
    browser.eval(&script).await;
}

/// Runs this, and from then on records with each frame how far the first whole block in view has moved.
async fn watch_drift(browser: &Browser, first: &str) {
    let whole = "[...document.querySelectorAll('#log-drawn [data-block][id]')] \
        .find(e => e.getBoundingClientRect().top >= document.getElementById('log').getBoundingClientRect().top + 40)";
    browser.wait_script(&format!("return {whole} !== undefined")).await;
    let watch = format!(
        "{first}; const block = {whole}, top = block.getBoundingClientRect().top; \
         const mine = window.drift = {{ id: block.id, px: 0, frames: 0 }}; \
         const look = () => {{ const now = document.getElementById(mine.id); \
             mine.px = Math.max(mine.px, now ? Math.abs(now.getBoundingClientRect().top - top) : 1e9); \
             mine.frames += 1; if (window.drift === mine) requestAnimationFrame(look); }}; \
         requestAnimationFrame(look)"
    );
    browser.eval(&watch).await;
    browser.wait_script("return window.drift.frames > 3").await;
}

async fn assert_no_drift(browser: &Browser) {
    let drift = number(browser, "return window.drift.px").await;
    assert!(drift <= DRIFT_PX_MAX, "what was read moved by {drift} px");
}

#[tokio::test]
async fn browser_ten_thousand_blocks_open_at_the_end_and_few_of_them_are_drawn() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = long_pod(&yoi, TURNS).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    wait_in_sight(&browser, &format!("answer {TURNS}.")).await;
    let first = blocks(&browser).await;
    assert_few_are_drawn(&browser).await;

    // Towards the beginning, page by page.
    browser.eval("document.getElementById('log').focus()").await;
    loop {
        let before = blocks(&browser).await;
        if before >= 10_000 {
            break;
        }
        browser.keys(Key::Home + "").await;
        browser.wait_script(&format!("return Number(document.getElementById('log').dataset.blocks) > {before}")).await;
        assert_few_are_drawn(&browser).await;
    }
    assert!(first < 2_000, "the page came with {first} blocks");
    browser
        .wait_until("the beginning is in sight", async |_| {
            browser.keys(Key::Home + "").await;
            browser.texts("#log-drawn").await.concat().contains("question 1.")
        })
        .await;
    wait_in_sight(&browser, "question 1.").await;
    browser.keys(Key::End + "").await;
    wait_in_sight(&browser, &format!("answer {TURNS}.")).await;
    assert_few_are_drawn(&browser).await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_is_read_stays_in_its_place_while_older_ones_come_and_a_run_streams() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = long_pod(&yoi, TURNS).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    wait_in_sight(&browser, &format!("answer {TURNS}.")).await;

    // Near the start of what is loaded: older blocks are fetched and prepended.
    let before = blocks(&browser).await;
    watch_drift(&browser, "document.getElementById('log').scrollTop = 700").await;
    browser.wait_script(&format!("return Number(document.getElementById('log').dataset.blocks) > {before}")).await;
    let frames = number(&browser, "return window.drift.frames").await;
    browser.wait_script(&format!("return window.drift.frames > {}", frames + 20.0)).await;
    assert_no_drift(&browser).await;

    // A run streams below.
    scroll_up(&browser, 3_000).await;
    browser.wait_script("return !document.querySelector('.below').classList.contains('is-hidden')").await;
    watch_drift(&browser, "").await;
    yoi.say(&pod, "stream 240 at 20").await;
    browser.wait_text(".below button", "new ↓").await;
    browser.wait_text("main .head", "running").await;
    browser.wait_text("main .head", "idle").await;
    assert_no_drift(&browser).await;
    browser.press(".below button").await;
    wait_in_sight(&browser, "w240").await;
    // At the end it follows again.
    yoi.say(&pod, "stream 200 at 100\nsay that was all").await;
    wait_in_sight(&browser, "that was all").await;
    assert_few_are_drawn(&browser).await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_reload_returns_to_the_place_and_links_lead_to_what_is_not_drawn() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = long_pod(&yoi, TURNS).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    wait_in_sight(&browser, &format!("answer {TURNS}.")).await;

    // The position is kept once scrolling has ended.
    scroll_up(&browser, 5_000).await;
    let kept = "JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find(k => k.startsWith('yoi:scroll:'))) ?? 'null')";
    browser.wait_script(&format!("const kept = {kept}; return kept !== null && !kept.following")).await;
    browser
        .wait_script(&format!(
            "const kept = {kept}, log = document.getElementById('log').getBoundingClientRect(), block = document.getElementById(kept.anchor); \
             return block !== null && Math.abs(block.getBoundingClientRect().top - log.top - kept.offset) < 1"
        ))
        .await;
    let place = browser.eval(&format!("return {kept}")).await;
    let anchor = place["anchor"].as_str().unwrap();
    let offset = format!(
        "const block = document.getElementById('{anchor}'); \
         return block === null ? 1e9 : block.getBoundingClientRect().top - document.getElementById('log').getBoundingClientRect().top"
    );
    let before = number(&browser, &offset).await;
    browser.reload().await;
    browser.wait_live().await;
    browser
        .wait_until("the same block is at the same place", async |_| {
            (number(&browser, &offset).await - before).abs() <= DRIFT_PX_MAX
        })
        .await;

    // A position that is loaded but not drawn.
    browser.eval("document.getElementById('log').focus()").await;
    let first = blocks(&browser).await;
    browser.keys(Key::Home + "").await;
    browser.wait_script(&format!("return Number(document.getElementById('log').dataset.blocks) > {first}")).await;
    let turn = TURNS - 60;
    browser.eval(&format!("location.hash = '#seq-{}'", 2 * turn)).await;
    wait_in_sight(&browser, &format!("answer {turn}.")).await;
    assert_few_are_drawn(&browser).await;

    // And one that is far from what is loaded.
    for turn in [1_234, 7] {
        let seq = 2 * turn;
        browser.goto(&format!("{}?at={seq}#seq-{seq}", page_of(&yoi, &pod))).await;
        browser.wait_live().await;
        wait_in_sight(&browser, &format!("answer {turn}.")).await;
        assert_few_are_drawn(&browser).await;
    }
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_find_steps_on_with_enter_over_places_that_have_to_be_loaded_first() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = long_pod(&yoi, TURNS).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    wait_in_sight(&browser, &format!("answer {TURNS}.")).await;
    browser.shortcut("/").await;
    browser.wait_focus("find-words").await;
    browser.keys("needle").await;
    browser.wait_text(".find-told", "in 3 blocks").await;
    // The newest hit first, then wrapping around: the first ones are thousands of blocks away.
    for (told, turn) in [("3 of 3", 4_900), ("1 of 3", 100), ("2 of 3", 2_500), ("3 of 3", 4_900), ("1 of 3", 100)] {
        browser.keys(Key::Enter + "").await;
        browser.wait_text(".find-told", told).await;
        wait_in_sight(&browser, &format!("answer {turn}.")).await;
        browser.wait_focus("find-words").await;
    }
    browser.chord(Key::Shift, Key::Enter).await;
    browser.wait_text(".find-told", "3 of 3").await;
    browser.wait_focus("find-words").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_script("return !location.search.includes('find') && document.activeElement.id === 'log'").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_page_that_has_become_too_long_goes_on_with_the_newest_blocks_alone() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = long_pod(&yoi, TURNS_TOO_MANY).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    wait_in_sight(&browser, &format!("answer {TURNS_TOO_MANY}.")).await;
    let first = blocks(&browser).await;
    browser.eval("document.getElementById('log').focus()").await;
    loop {
        let before = blocks(&browser).await;
        if before >= 20_000 {
            break;
        }
        browser.keys(Key::Home + "").await;
        browser.wait_script(&format!("return Number(document.getElementById('log').dataset.blocks) > {before}")).await;
    }
    // It keeps all of it while the reader is there, and fetches no more.
    yoi.say(&pod, "say somebody reads above").await;
    browser.wait_text(".below button", "new ↓").await;
    browser.wait_text("main .head", "idle").await;
    let most = blocks(&browser).await;
    assert!(most > 20_000, "{most} blocks");

    // At the end, the next run makes it short again in the middle of the stream, and nothing of it is missing.
    browser.keys(Key::End + "").await;
    wait_in_sight(&browser, "somebody reads above").await;
    yoi.say(&pod, "stream 3000 at 1500\nsay that was all").await;
    let script = format!("return Number(document.getElementById('log').dataset.blocks) <= {}", first + 100);
    browser.wait_script(&script).await;
    wait_in_sight(&browser, "that was all").await;
    browser.wait_text("#log-drawn .block-assistant", "that was all").await;
    browser.wait_text("main .head", "idle").await;
    let text = browser.texts("#log-drawn").await.concat();
    assert_eq!(
        (text.matches("w2999 w3000").count(), text.matches("that was all").count()),
        (1, 2),
        "the question and the answer"
    );
    assert_few_are_drawn(&browser).await;
    // Older blocks are still there for whoever goes back.
    browser.keys(Key::Home + "").await;
    browser
        .wait_script(&format!("return Number(document.getElementById('log').dataset.blocks) > {}", first + 100))
        .await;
    browser.no_errors().await;
    browser.quit().await;
}
