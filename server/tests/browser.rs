//! The console in real Chromium, served by the built binary.
//!
//! Each test is named `browser_…`, so that `cargo xtask test --fast` can leave them out.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{Launch, YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// What the transcript shows, from top to bottom.
const TRANSCRIPT: &str = "main [role=log], main .log";

async fn open(yoi: &YoiProcess, width: u32, height: u32) -> Browser {
    let browser = Browser::start(width, height).await;
    browser.goto(&yoi.login_url()).await;
    browser
}

async fn goto_pod(browser: &Browser, yoi: &YoiProcess, pod: &Value) {
    browser.goto(&page_of(yoi, pod)).await;
    wait_live(browser).await;
}

fn page_of(yoi: &YoiProcess, pod: &Value) -> String {
    let part = |name: &str| pod["pod"][name].as_str().unwrap().to_owned();
    format!("{}/pods/{}/{}", yoi.console_url(), part("runtime_id"), part("worker_id"))
}

async fn wait_live(browser: &Browser) {
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

async fn no_errors(browser: &Browser) {
    let errors = browser.console_errors().await;
    assert!(errors.is_empty(), "{errors:#?}");
}

#[tokio::test]
async fn browser_a_person_makes_a_pod_talks_to_it_reloads_and_loses_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    let browser = open(&yoi, 1440, 900).await;
    assert!(!browser.url().await.contains("token"), "the token does not stay in the address");
    wait_live(&browser).await;
    browser.find("body").await.send_keys("n").await.unwrap();
    let name = browser.field("Name").await;
    name.send_keys("ada").await.unwrap();
    name.send_keys(Key::Enter + "").await.unwrap();
    wait_live(&browser).await;
    browser.wait_text("main h1", "ada").await;

    send(&browser, "say hello from the browser").await;
    browser.wait_text(TRANSCRIPT, "hello from the browser").await;
    browser.wait_text(TRANSCRIPT, "completed").await;
    send(&browser, "stream 150 at 15").await;
    browser.wait_text("main", "running").await;
    browser.wait_text(TRANSCRIPT, "w5 w6").await;
    browser.wait_text(TRANSCRIPT, "w150").await;
    browser.wait_text("main", "idle").await;

    browser.reload().await;
    wait_live(&browser).await;
    browser.wait_text(TRANSCRIPT, "hello from the browser").await;
    let text = browser.wait_text(TRANSCRIPT, "w150").await;
    assert_eq!(text.matches("w149").count(), 1, "nothing is shown twice: {text}");
    no_errors(&browser).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_refused_name_is_told_in_the_dialog_and_the_text_stays() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let browser = open(&yoi, 1440, 900).await;
    wait_live(&browser).await;
    browser.press_button("New Pod").await;
    let name = browser.field("Name").await;
    name.send_keys("ada").await.unwrap();
    name.send_keys(Key::Enter + "").await.unwrap();
    browser.wait_text("dialog[open]", "already").await;
    assert_eq!(name.value().await.unwrap().as_deref(), Some("ada"));
    name.send_keys(Key::Escape + "").await.unwrap();
    browser.wait_until("the dialog is gone", async |browser| browser.is_absent("dialog[open]").await).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_server_restart_in_mid_answer_costs_nothing() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi, 1440, 900).await;
    goto_pod(&browser, &yoi, &pod).await;
    send(&browser, "stream 4000 at 40").await;
    browser.wait_text(TRANSCRIPT, "w12 ").await;
    let composer = browser.field("Message").await;
    composer.send_keys("half a thought").await.unwrap();
    let shown = browser.texts(TRANSCRIPT).await.join("\n");
    let last = (1..=4000).rev().find(|number| shown.contains(&format!("w{number}"))).unwrap();
    yoi.kill9().await;
    browser.wait_text("[role=status]", "reconnecting").await;
    yoi.restart_on_same_port().await;
    browser.wait_text("[role=status]", "caught up").await;
    browser.wait_text("main", "paused").await;
    let after = browser.wait_text(TRANSCRIPT, &format!("w{last}")).await;
    assert_eq!(after.matches("w3 w4").count(), 1, "{after}");
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("half a thought"));
    browser.reload().await;
    wait_live(&browser).await;
    let composer = browser.field("Message").await;
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("half a thought"));
    browser.press_button("Resume").await;
    browser.wait_text("main", "running").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_page_that_could_not_be_read_is_read_when_the_server_is_back() {
    let mut yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    yoi.say(&bob, "say Here I am.").await;
    let browser = open(&yoi, 1440, 900).await;
    goto_pod(&browser, &yoi, &ada).await;
    wait_live(&browser).await;
    yoi.kill9().await;
    browser.wait_text("[role=status]", "reconnecting").await;
    let row = format!("aside.pods a[href*='{}']", bob["pod"]["worker_id"].as_str().unwrap());
    browser.press(&row).await;
    browser.wait_text("main", "Pod unreachable").await;
    browser.button("Try again").await;
    yoi.restart_on_same_port().await;
    browser.wait_text(TRANSCRIPT, "Here I am.").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_two_pages_and_the_api_see_the_same() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let (one, two) = tokio::join!(open(&yoi, 1200, 800), open(&yoi, 1200, 800));
    goto_pod(&one, &yoi, &pod).await;
    send(&one, "think of a **plan**\nsay # Title\nstream 120 at 60").await;
    one.wait_text(TRANSCRIPT, "w3").await;
    goto_pod(&two, &yoi, &pod).await;
    for browser in [&one, &two] {
        browser.wait_text(TRANSCRIPT, "w120").await;
        browser.wait_text("main", "idle").await;
    }
    let prose = "return [...document.querySelectorAll('main .log p, main .log h1, main .log h2, main .log h3')].map(e => e.textContent)";
    one.wait_until("both pages show the same", async |one| one.eval(prose).await == two.eval(prose).await).await;
    let page = yoi.get(&format!("{}/transcript", pod_path(&pod))).await.expect(200);
    let said = page["items"].as_array().unwrap().iter().find(|record| record["event"]["kind"] == "message_finished");
    assert!(said.unwrap()["event"]["text"].as_str().unwrap().ends_with("w120"));
    no_errors(&one).await;
    no_errors(&two).await;
    tokio::join!(one.quit(), two.quit());
}

#[tokio::test]
async fn browser_a_phone_has_no_sideways_scrolling() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("a-pod-with-a-rather-long-name-that-goes-on-and-on-to-the-end").await;
    let long = "averyveryverylongwordwithoutanyspaceinitatallsothatithastobebrokensomewhere".repeat(4);
    yoi.say(&pod, &format!("say {long}\nfail 401")).await;
    let browser = open(&yoi, 360, 780).await;
    let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
    for path in ["/".to_owned(), page_of(&yoi, &pod).replacen(yoi.console_url(), "", 1)] {
        browser.goto(&format!("{}{path}", yoi.console_url())).await;
        wait_live(&browser).await;
        assert_eq!(browser.eval(fits).await, json!(true), "{path}");
        assert_eq!(browser.eval("return document.querySelectorAll('main').length").await, json!(1), "{path}");
    }
    browser.field("Message").await;
    no_errors(&browser).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_without_javascript_the_transcript_can_be_read() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, "think quietly\nsay hello *reader*").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    socket.records_until("a", |record| record["event"]["outcome"] == "completed").await;
    let browser = Browser::start_without_javascript(1440, 900).await;
    browser.goto(&yoi.login_url()).await;
    browser.goto(&page_of(&yoi, &pod)).await;
    browser.wait_text("main", "hello reader").await;
    browser.wait_text("main h1", "ada").await;
    // Nothing here shows a time in the viewer's time zone.
    browser.wait_text("main .turn time", "UTC").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_without_a_login_there_is_the_login_page() {
    let yoi = YoiProcess::start(YOI).await;
    let browser = Browser::start(1440, 900).await;
    browser.goto(&format!("{}/pods/local/whoever", yoi.console_url())).await;
    assert!(browser.url().await.contains("/login?to="));
    let field = browser.field("Token").await;
    assert!(browser.is_absent("[role=alert]").await, "nothing was tried");
    field.send_keys("not the token").await.unwrap();
    field.send_keys(Key::Enter + "").await.unwrap();
    browser.wait_text("[role=alert]", "Wrong token.").await;
    assert!(!browser.url().await.contains("not"), "it is refused, and nowhere in the address");
    let field = browser.field("Token").await;
    field.send_keys(yoi.token()).await.unwrap();
    field.send_keys(Key::Enter + "").await.unwrap();
    browser.button("New Pod").await;
    assert!(!browser.url().await.contains("token"));
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_console_that_shares_its_host_says_what_that_means() {
    let own = YoiProcess::start(YOI).await;
    let browser = open(&own, 1440, 900).await;
    browser.goto(&format!("{}/settings", own.base_url())).await;
    assert_eq!(browser.url().await, format!("{}/settings", own.console_url()), "the shared name leads home, logged in");
    wait_live(&browser).await;
    browser.wait_text("#sessions", "this one").await;
    assert!(browser.is_absent("#sessions [role=note]").await);
    let shared = Launch::new(YOI).arg("--allow-host").arg("127.0.0.1").start().await;
    browser.goto(&shared.login_url()).await;
    browser.goto(&format!("{}/settings", shared.console_url())).await;
    browser.wait_text("#sessions [role=note]", "This console is kept on 127.0.0.1 by --allow-host.").await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_a_model_says_cannot_run_in_the_page() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let evil = "say <script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> \
                [click](javascript:document.title='owned') ![x](http://127.0.0.1:9/x.png)";
    yoi.say(&pod, evil).await;
    let browser = open(&yoi, 1440, 900).await;
    goto_pod(&browser, &yoi, &pod).await;
    browser.wait_text(TRANSCRIPT, "<script>").await;
    let state = browser
        .eval("return [document.title.includes('owned'), document.querySelectorAll('main img, main script, main [href^=javascript]').length]")
        .await;
    assert_eq!(state, json!([false, 0]));
    no_errors(&browser).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_list_is_live_and_the_keyboard_moves_in_it() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = open(&yoi, 1440, 900).await;
    wait_live(&browser).await;
    yoi.new_pod("bob").await;
    browser.wait_text("main .since", "bob").await;
    yoi.say(&ada, "wait 600").await;
    browser.wait_text("main .since", "running").await;
    browser.find("body").await.send_keys("?").await.unwrap();
    browser.wait_text("dialog[open]", "Create a Pod").await;
    browser.find("body").await.send_keys(Key::Escape + "").await.unwrap();
    browser.wait_until("the help is gone", async |browser| browser.is_absent("dialog[open]").await).await;
    browser.find("body").await.send_keys("j").await.unwrap();
    browser.wait_script("return document.activeElement.closest('main .since') !== null").await;
    no_errors(&browser).await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_nothing_on_a_pods_page_moves_while_it_comes_to_life_in_another_zone() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    for text in ["say one", "say two", "say three"] {
        yoi.say(&pod, text).await;
        socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    }
    socket.close().await;
    let browser = open(&yoi, 1440, 900).await;
    browser.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": "Asia/Kolkata" })).await;
    // A browser may draw a partly read page, and its content then moves when the rest arrives. By the second frame
    // after the whole page was read, the rest has been drawn.
    let read = "addEventListener('DOMContentLoaded', () => requestAnimationFrame(() => requestAnimationFrame(() => { \
                window.readAt = performance.now() })))";
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": read })).await;
    for width in [1440, 360] {
        browser.set_viewport(width, 900).await;
        goto_pod(&browser, &yoi, &pod).await;
        // The half hour: shown in the viewer's time zone now.
        browser
            .wait_script(
                "const time = document.querySelector('.turn time'); \
                 const minutes = new Date(time.dateTime).getUTCMinutes(); \
                 return Number(time.innerText.slice(-2)) === (minutes + 30) % 60",
            )
            .await;
        browser
            .wait_script(
                "window.moved ??= (() => { const all = []; new PerformanceObserver(list => all.push(...list.getEntries())) \
                 .observe({ type: 'layout-shift', buffered: true }); return all })(); \
                 window.seen = (window.seen ?? 0) + 1; return window.seen > 3",
            )
            .await;
        browser.wait_script("return window.readAt !== undefined").await;
        let moved = "return window.moved.filter(s => s.startTime >= window.readAt).map(s => [s.value, ...s.sources.map(s => \
                     [s.previousRect, s.currentRect, s.node?.parentElement?.outerHTML.slice(0, 200)])])";
        assert_eq!(browser.eval(moved).await, json!([]), "{width} px");
    }
    no_errors(&browser).await;
    browser.quit().await;
}
