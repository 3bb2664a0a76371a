//! The console on a phone, in real Chromium and by touch: what people do on the go, in as few taps as possible.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The width and height of a phone's page in pixels.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 740;

async fn open(yoi: &YoiProcess) -> Browser {
    let browser = Browser::open(yoi, WIDTH, HEIGHT).await;
    browser.emulate_touch().await;
    browser
}

#[tokio::test]
async fn browser_an_approval_is_answered_on_a_phone_in_two_taps() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let write = format!("call Write {}", json!({ "path": "a.txt", "content": "x" }));
    yoi.say(&pod, &write).await;
    let browser = open(&yoi).await;
    browser.wait_text(".bottom a[href='/approvals']", "1").await;

    browser.tap(".bottom a[href='/approvals']").await;
    // The board, from which one comes, has the question, too.
    browser.wait_text("main .inbox article", "asks for permission").await;
    browser.tap("main .inbox article[data-question] button.primary").await;
    let file = yoi.launch().work_dir().join("a.txt");
    browser.wait_until("the file is there", async |_| file.exists()).await;
    browser.wait_text("main .inbox article", "allowed").await;
    assert_eq!(browser.eval("return document.documentElement.scrollWidth <= innerWidth").await, json!(true));
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_map_on_a_phone_shows_every_pod_whole() {
    let yoi = YoiProcess::start(YOI).await;
    let mut pods = Vec::new();
    for name in ["ada", "bob", "cat", "dan", "eve"] {
        pods.push(yoi.new_pod(name).await);
    }
    for name in ["bob", "cat", "dan", "eve"] {
        yoi.post(&format!("{}/peers", pod_path(&pods[0])), &json!({ "target": name })).await.expect(201);
    }
    let browser = open(&yoi).await;
    browser.goto_page(&yoi, "/map").await;
    browser.find("main .map-picture").await;
    let whole = "const frame = document.querySelector('.map-scroll.is-narrow').getBoundingClientRect(); \
        const nodes = [...document.querySelectorAll('.is-narrow .node rect')].map(n => n.getBoundingClientRect()); \
        return [nodes.length, nodes.filter(n => n.left < frame.left || n.right > frame.right).length]";
    assert_eq!(browser.eval(whole).await, json!([5, 0]));
    assert_eq!(browser.eval("return document.documentElement.scrollWidth <= innerWidth").await, json!(true));
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_bar_offers_nothing_of_a_pod_that_is_not_there() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi).await;
    let bar = "return [...document.querySelectorAll('.bottom > a')].filter(a => a.checkVisibility()).length";
    browser.goto_pod(&yoi, &pod).await;
    assert_eq!(browser.eval(bar).await, json!(4));
    browser.goto_page(&yoi, "/pods/local/nobody").await;
    browser.wait_text("main h1", "No such Pod").await;
    // The list and what needs you.
    browser.wait_until("two are left", async |browser| browser.eval(bar).await == json!(2)).await;
    // The page is a 404, which the browser reports as an error.
    assert_eq!(browser.console_errors().await.len(), 1);
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_way_back_to_before_a_message_is_in_a_menu_that_takes_no_line() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, "say hello").await;
    let browser = open(&yoi).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_text("main .log", "completed").await;
    let lines = "const p = document.querySelector('.person'); \
        return Math.round(p.clientHeight / parseFloat(getComputedStyle(p).lineHeight)) < 3";
    assert_eq!(browser.eval(lines).await, json!(true), "one line and the room around it");
    browser.tap(".person .for-touch").await;
    browser.wait_script("return document.querySelector('.finger-menu').matches(':popover-open')").await;
    // A tap outside closes it, and does nothing else.
    browser.tap("main .log").await;
    browser.wait_script("return !document.querySelector('.finger-menu').matches(':popover-open')").await;
    assert!(browser.is_absent("dialog[open]").await);
    browser.tap(".person .for-touch").await;
    browser.tap(".finger-menu button").await;
    browser.wait_dialog("will leave the context").await;
    // By then the page has also done what it puts off for a moment when a block gets the focus.
    browser.eval("window.tapped = performance.now()").await;
    browser.wait_script("return performance.now() > window.tapped + 500").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_pods_menu_closes_when_one_goes_elsewhere() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi).await;
    browser.goto_pod(&yoi, &pod).await;
    let is_open = |wanted: bool| format!("return document.getElementById('pod-more').open === {wanted}");
    browser.press("#pod-more-summary").await;
    browser.wait_script(&is_open(true)).await;
    browser.keys(thirtyfour::Key::Escape + "").await;
    browser.wait_script(&is_open(false)).await;
    browser.press("#pod-more-summary").await;
    browser.wait_script(&is_open(true)).await;
    browser.field("Message").await.click().await.unwrap();
    browser.wait_script(&is_open(false)).await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_was_found_is_not_beneath_the_find_bar_nor_a_field_beneath_the_way_to_the_end() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    for _ in 0..6 {
        yoi.say(&pod, "say a needle\nsay in\nsay hay").await;
    }
    yoi.say(&pod, "stream 900 at 0").await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "a.txt", "content": "x\n".repeat(9) }))).await;
    let browser = open(&yoi).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_text("main article", "asks for permission").await;
    browser.shortcut("/").await;
    browser.wait_focus("find-words").await;
    browser.keys("needle").await;
    browser.wait_text(".find-told", "block").await;
    browser.keys(thirtyfour::Key::Enter + "").await;
    let below = "const bar = document.querySelector('.find-bar').getBoundingClientRect(); \
        const hit = document.querySelector('.block.is-found')?.getBoundingClientRect(); \
        return !!hit && hit.top >= bar.bottom && hit.top < innerHeight / 2";
    browser.wait_script(below).await;
    browser.keys(thirtyfour::Key::Escape + "").await;

    // To the approval, and to the reason for denying it.
    browser.keys("a").await;
    browser.keys("d").await;
    let free = "const field = document.activeElement, box = field.getBoundingClientRect(); \
        const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); \
        return field.tagName === 'INPUT' && at === field";
    browser.wait_script(free).await;
    browser.no_errors().await;
    browser.quit().await;
}

/// Pages that are longer than fits, and one with a message field.
const PAGES: [&str; 5] = ["/", "/approvals", "/usage", "/settings", "/search"];

/// A notice is fully in view, over the page and not over the bars or what sends a message; and the page has all of its
/// place, so that nothing moves when a notice comes or goes. The bar is at the end of the window.
const MOVES_NOTHING: &str = "const box = css => document.querySelector(css)?.getBoundingClientRect(); \
    const notice = box('.notices'), page = box('.frame > main:not(.is-left)'), bar = box('.frame > .bottom'); \
    const middle = document.elementFromPoint(notice.x + notice.width / 2, notice.y + notice.height / 2); \
    const send = document.querySelector('.composer-bar button'), at = send?.getBoundingClientRect(); \
    const hit = send && document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2); \
    const end = bar.height ? bar.top : innerHeight; \
    if (bar.height && Math.abs(bar.bottom - innerHeight) > 1) return false; \
    return notice.height > 20 && page.height > 150 && !!middle.closest('.notices') \
        && notice.top >= box('.top').bottom && notice.bottom <= end && Math.abs(page.bottom - end) < 2 \
        && (!send || send.contains(hit)) && document.documentElement.scrollWidth <= innerWidth";

#[tokio::test]
async fn browser_a_notice_is_seen_and_moves_nothing_on_any_page() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi).await;
    // A phone, a window of 1280 px at 200 %, a tablet, a desktop.
    for (width, height) in [(WIDTH, HEIGHT), (640, 400), (1000, 700), (1440, 900)] {
        browser.set_viewport(width, height).await;
        browser.goto_pod(&yoi, &pod).await;
        // With the first command comes the code of all.
        browser.field("Message").await.send_keys(":rename ada\u{e007}").await.unwrap();
        browser.wait_script("return document.querySelector('[aria-label=Message]').value === ''").await;
        // A stop that does not reach the server is reported in a notice that stays.
        browser.set_offline(true).await;
        browser.field("Message").await.send_keys(":stop\u{e007}").await.unwrap();
        browser.wait_script("return !!document.querySelector('.notice-error')").await;
        browser.set_offline(false).await;
        browser.wait_script(MOVES_NOTHING).await;
        for page in PAGES {
            let go = format!("document.querySelector('.frame a[href=\"{page}\"]').click(); return true");
            browser.eval(&go).await;
            browser.wait_script(&format!("return location.pathname === '{page}'")).await;
            browser.wait_script(MOVES_NOTHING).await;
        }
    }
    let said: Vec<_> = yoi.log().into_iter().filter(|line| line.contains("hydration")).collect();
    assert!(said.is_empty(), "the server draws nothing that only a browser knows: {said:?}");
    browser.quit().await;
}

/// An answer that waits at the end of a transcript longer than the page.
async fn asked(yoi: &YoiProcess, name: &str) -> serde_json::Value {
    let pod = yoi.new_pod(name).await;
    yoi.say(&pod, "stream 400 at 0").await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    pod
}

#[tokio::test]
async fn browser_a_field_that_grows_and_shrinks_leaves_the_page_at_the_end() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = asked(&yoi, "migrator").await;
    let browser = open(&yoi).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_text("main article", "asks for permission").await;
    let is_at_end = "const log = document.getElementById('log'); \
        return log.scrollHeight - log.scrollTop - log.clientHeight < 2 && !!document.querySelector('.below.is-hidden')";
    browser.wait_script(is_at_end).await;
    // Two lines of hint become one of text, and a refusal appears above it, before anything is painted.
    for command in [":nonsense", ":no"] {
        browser.field("Message").await.send_keys(format!("{command}\u{e007}")).await.unwrap();
        browser.wait_script(is_at_end).await;
        browser.field("Message").await.send_keys("\u{e009}a\u{e000}\u{e003}").await.unwrap();
        browser.wait_script(is_at_end).await;
    }
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_beside_a_question_the_name_is_whole_and_pause_is_in_the_menu() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = asked(&yoi, "migrator").await;
    let browser = open(&yoi).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_text(".head .state", "waiting").await;
    let is_whole = "const name = document.querySelector('.head h1'); return name.scrollWidth <= name.clientWidth";
    browser.wait_script(is_whole).await;
    browser.press("#pod-more-summary").await;
    let offered = "return [...document.querySelectorAll('#pod-more .menu-list button')] \
        .filter(button => button.checkVisibility()).map(button => button.innerText)";
    let offered = browser.eval(offered).await;
    assert!(offered.as_array().unwrap().contains(&json!("Pause")), "{offered}");
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_small_things_are_as_large_as_a_finger_and_the_bar_tells_the_page_behind_more() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = open(&yoi).await;
    // What a tap hits this far above and below the middle.
    let hits = |css: &str, reach: f64| {
        format!(
            "const it = document.querySelector({}), box = it?.getBoundingClientRect(); \
             const hit = y => document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2 + y); \
             return !!it && [-{reach}, 0, {reach}].every(y => it.contains(hit(y)))",
            json!(css)
        )
    };
    browser.wait_script(&hits(".segments a", 20.0)).await;
    browser.goto_page(&yoi, "/?view=table").await;
    browser.wait_script(&hits("main .pick", 20.0)).await;
    browser.wait_script(&hits(".top .icon", 21.0)).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_script(&hits(".composer-bar .button", 21.0)).await;
    browser.goto_page(&yoi, "/map").await;
    let marked = "return getComputedStyle(document.getElementById('more-panes-summary')).boxShadow !== 'none'";
    browser.wait_script(marked).await;
    browser.goto_page(&yoi, "/approvals").await;
    assert_eq!(browser.eval(marked).await, json!(false));
    browser.no_errors().await;
    browser.quit().await;
}
