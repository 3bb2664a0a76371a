//! What a person presses, opens, selects and types before the code for it has arrived, in real Chromium: it happens, and
//! once.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::{Browser, Page, console::page_of},
    yoi::YoiProcess,
};
use thirtyfour::{By, Key};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The code of finished messages, calls and ends of runs; of open approvals; of Markdown; of a Pod's page.
const FINISHED: &str = "*split_finished*";
const CARD: &str = "*split_card*";
const MARKUP: &str = "*split_markup*";
const PAGE: &str = "*conversation*";

/// A Pod whose only run has ended.
async fn pod(yoi: &YoiProcess, name: &str, text: &str) -> Value {
    let pod = yoi.new_pod(name).await;
    yoi.run(&pod, text).await;
    pod
}

async fn block(browser: &Browser, urls: &[&str]) {
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.setBlockedURLs", json!({ "urls": urls })).await;
}

/// The connection is back, and the browser says so.
async fn unblock(browser: &Browser) {
    block(browser, &[]).await;
    browser.eval("window.dispatchEvent(new Event('online'))").await;
}

/// Shows the Pod's page, for which the code at these addresses cannot be fetched.
async fn open_without(browser: &Browser, yoi: &YoiProcess, pod: &Value, url: &str) {
    block(browser, &[url]).await;
    browser.devtools("Network.clearBrowserCache", json!({})).await;
    browser.goto(&page_of(yoi, pod)).await;
}

/// Points at the middle of an element with the mouse, whether it can be seen before that or not, and presses there.
async fn point(page: &Page, css: &str, is_pressed: bool) {
    let element = page.driver.find(By::Css(css)).await.unwrap();
    let there = page.driver.action_chain().move_to_element_center(&element);
    let done = if is_pressed { there.click().perform().await } else { there.perform().await };
    done.unwrap_or_else(|error| panic!("{css} could not be reached: {error}"));
}

/// Waits until the block that this is in is drawn by its code.
async fn wait_drawn(browser: &Browser, css: &str) {
    let script = format!("return document.querySelector('{css}').closest('.part') === null");
    browser.wait_script(&script).await;
}

fn count(journal: &[Value], kind: &str) -> usize {
    journal.iter().filter(|record| record["event"]["kind"] == kind).count()
}

#[tokio::test]
async fn browser_what_is_pressed_twice_before_its_code_can_be_fetched_happens_once_when_it_can() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "fail 400").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    open_without(&browser, &yoi, &pod, FINISHED).await;
    browser.wait_live().await;
    for _ in 0..2 {
        point(&browser, ".end button.button", true).await;
        browser.wait_script("return document.querySelector('.end button.button').ariaBusy === 'true'").await;
        browser.wait_text(".unfetched", "could not be fetched. Trying again").await;
    }
    assert_eq!(count(&yoi.journal(&pod).await, "run_finished"), 1);

    unblock(&browser).await;
    wait_drawn(&browser, ".end").await;
    browser.wait_script("return document.querySelector('.unfetched') === null").await;
    browser
        .wait_until("the model is asked again", async |_| count(&yoi.journal(&pod).await, "run_finished") == 2)
        .await;
    // What is sent now comes after everything that was pressed.
    browser.send("say bye").await;
    browser.wait_until("the next run ends", async |_| count(&yoi.journal(&pod).await, "run_finished") == 3).await;
    assert!(browser.is_absent(".notice").await, "nothing was refused");
    browser.quit().await;
}

#[tokio::test]
async fn browser_code_that_does_not_come_or_breaks_off_is_fetched_again_and_the_press_happens() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "say hello").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    let fails_twice = "const fetched = window.fetch; window.asked = 0; \
        window.fetch = async (what, how) => { \
            if (!String(what.url ?? what).includes('split_finished')) return fetched(what, how); \
            const asked = window.asked += 1; \
            if (asked === 1) return new Promise((_, fail) => how.signal.addEventListener('abort', () => fail('aborted'))); \
            const answer = await fetched(what, how); \
            if (asked > 2) return answer; \
            const begun = new Uint8Array((await answer.arrayBuffer()).slice(0, 100)); \
            const body = new ReadableStream({ start: it => it.enqueue(begun), pull: it => it.error('broken off') }); \
            return new Response(body, { headers: { 'content-type': 'application/wasm' } }); };";
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": fails_twice })).await;
    browser.goto_pod(&yoi, &pod).await;
    // The longest that an answer may take to begin.
    browser.hold_time(15_000).await;
    browser.eval("document.querySelector('button.fork').focus()").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_script("return window.asked === 1").await;
    browser.let_time_pass().await;
    browser.wait_dialog("Fork ada").await;
    assert_eq!(browser.eval("return window.asked").await, 3);
    browser.wait_script("return document.querySelector('.unfetched') === null").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_press_on_what_is_gone_when_its_code_arrives_presses_nothing_else() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "fail 400").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    open_without(&browser, &yoi, &pod, FINISHED).await;
    browser.wait_live().await;
    point(&browser, ".end button.button", true).await;
    browser.wait_script("return document.querySelector('.end button.button').ariaBusy === 'true'").await;
    // Somebody else goes on: a failed run that is not the newest is not retried, but the button beside it is there.
    yoi.run(&pod, "say meanwhile").await;

    unblock(&browser).await;
    wait_drawn(&browser, ".end").await;
    browser.wait_text("#log-drawn", "meanwhile").await;
    browser.wait_script("return document.querySelector('.end button.button') === null").await;
    browser.send("say bye").await;
    browser.wait_until("the next run ends", async |_| count(&yoi.journal(&pod).await, "run_finished") == 3).await;
    assert!(browser.is_absent("dialog[open]").await, "nothing is forked");
    assert!(browser.is_absent(".notice").await, "nothing was refused");
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_press_on_a_page_that_is_left_before_its_code_arrives_means_nothing_any_more() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (pod(&yoi, "ada", "say hello").await, pod(&yoi, "bob", "say ahoy").await);
    let browser = Browser::open(&yoi, 1440, 900).await;
    open_without(&browser, &yoi, &ada, FINISHED).await;
    browser.wait_live().await;
    point(&browser, "button.fork", true).await;
    browser.wait_script("return document.querySelector('button.fork').ariaBusy === 'true'").await;
    for (pod, said) in [(&bob, "ahoy"), (&ada, "hello")] {
        let path = page_of(&yoi, pod).strip_prefix(yoi.console_url()).unwrap().to_owned();
        browser.find(&format!("a[data-row][href='{path}']")).await.click().await.unwrap();
        unblock(&browser).await;
        browser.wait_text("#log-drawn .markup", said).await;
        wait_drawn(&browser, "button.fork").await;
        browser.wait_script("return document.querySelector('button.fork').ariaBusy === null").await;
        assert!(browser.is_absent("dialog[open]").await);
    }
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_button_pressed_by_keyboard_waits_for_its_code_and_takes_no_key_from_the_message() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "say hello").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    for key in [Key::Space, Key::Enter] {
        open_without(&browser, &yoi, &pod, FINISHED).await;
        browser.wait_live().await;
        browser.eval("document.querySelector('button.fork').focus()").await;
        browser.keys(key + "").await;
        browser.wait_script("return document.querySelector('button.fork').ariaBusy === 'true'").await;
        assert!(browser.is_absent("dialog[open]").await);
        browser.eval("document.getElementById('message').focus()").await;
        browser.keys("half a thought").await;

        unblock(&browser).await;
        browser.wait_dialog("Fork ada").await;
        wait_drawn(&browser, "button.fork").await;
        assert_eq!(browser.eval("return document.getElementById('message').value").await, "half a thought");
        browser.keys(Key::Escape + "").await;
        browser.wait_no_dialog().await;
        browser.eval("localStorage.clear(); document.getElementById('message').value = ''").await;
    }
    browser.quit().await;
}

#[tokio::test]
async fn browser_an_approval_tapped_before_its_code_is_there_is_given_once() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    let browser = Browser::open(&yoi, 360, 740).await;
    browser.wait_text(".bottom a[href='/approvals']", "1").await;
    browser.emulate_touch().await;
    open_without(&browser, &yoi, &pod, CARD).await;
    browser.wait_text(".unfetched", "could not be fetched. Trying again").await;
    let file = yoi.launch().work_dir().join("a.txt");
    for _ in 0..2 {
        browser.tap("#log article[data-question] button.primary").await;
        browser.wait_script("return document.querySelector('#log button.primary').ariaBusy === 'true'").await;
    }
    assert!(!file.exists());

    unblock(&browser).await;
    browser.wait_until("the file is there", async |_| file.exists()).await;
    browser.wait_live().await;
    browser.wait_until("the run ends", async |_| count(&yoi.journal(&pod).await, "run_finished") == 1).await;
    assert_eq!(count(&yoi.journal(&pod).await, "approval_answered"), 1);
    assert!(browser.is_absent(".notice").await, "nothing was refused");
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_menu_tapped_before_its_code_is_there_opens_and_stays_open() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "say hello").await;
    let browser = Browser::open(&yoi, 360, 740).await;
    browser.emulate_touch().await;
    open_without(&browser, &yoi, &pod, FINISHED).await;
    browser.wait_live().await;
    browser.tap(".person .for-touch").await;
    browser.wait_script("return document.querySelector('.person .for-touch').ariaBusy === 'true'").await;
    unblock(&browser).await;
    browser.wait_script("return document.querySelector('.finger-menu').matches(':popover-open')").await;
    browser.tap(".finger-menu button").await;
    browser.wait_dialog("will leave the context").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_is_open_or_selected_stays_so_when_its_code_arrives() {
    let yoi = YoiProcess::start(YOI).await;
    std::fs::write(yoi.launch().work_dir().join("hay.txt"), "hay").unwrap();
    let read = format!("call Read {}\nsay that was hay", json!({ "path": "hay.txt" }));
    let pod = pod(&yoi, "ada", &read).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    open_without(&browser, &yoi, &pod, FINISHED).await;
    browser.wait_live().await;
    // Opened by the browser itself, and at once.
    browser.find(".tool-looked > summary").await.click().await.unwrap();
    assert_eq!(browser.eval("return document.querySelector('.tool-looked').open").await, true);
    let select = "getSelection().selectAllChildren(document.querySelector('.person .said'))";
    browser.eval(select).await;
    point(&browser, ".person .said", false).await;

    unblock(&browser).await;
    wait_drawn(&browser, ".tool-looked").await;
    browser.wait_script("return document.querySelector('.tool-looked').open").await;
    // Once nothing is selected there, that is drawn, too.
    point(&browser, ".end", false).await;
    wait_drawn(&browser, ".end").await;
    assert_eq!(browser.eval("return getSelection().toString().includes('that was hay')").await, true);
    assert_eq!(browser.eval("return document.querySelector('.person').closest('.part') !== null").await, true);
    browser.eval("getSelection().removeAllRanges()").await;
    wait_drawn(&browser, ".person").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_is_typed_or_copied_before_the_page_is_taken_over_is_not_lost() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = pod(&yoi, "ada", "say ```sh\nsay ls\nsay ```").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    open_without(&browser, &yoi, &pod, PAGE).await;
    browser.wait_text(".unfetched", "Trying again").await;
    browser.eval("document.getElementById('message').focus()").await;
    browser.keys("half a thought").await;
    block(&browser, &[MARKUP]).await;
    browser.eval("window.dispatchEvent(new Event('online'))").await;

    // The field works before everything is there.
    browser.wait_script("return document.querySelector('.part') !== null").await;
    browser.hold_time(1_500).await;
    browser
        .wait_until("the press is held", async |page| {
            point(page, "figure.code button", true).await;
            page.eval("return document.querySelector('figure.code button').ariaBusy === 'true'").await == true
        })
        .await;
    assert_eq!(browser.eval("return document.getElementById('message').value").await, "half a thought");
    unblock(&browser).await;
    browser.wait_live().await;
    browser.wait_text("figure.code button", "copied").await;
    assert_eq!(browser.eval("return document.getElementById('message').value").await, "half a thought");
    browser.quit().await;
}
