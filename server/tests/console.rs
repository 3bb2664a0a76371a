//! The frame of the console in real Chromium: palette, keys, several Pods at once, what the title counts, the theme.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn state(yoi: &YoiProcess, pod: &Value) -> String {
    let detail = yoi.get(&pod_path(pod)).await.expect(200);
    detail["summary"]["state"].as_str().or(detail["state"].as_str()).unwrap().to_owned()
}

/// Gives the focus to the row of a Pod in the list on the left.
async fn focus_row(browser: &Browser, pod: &Value) {
    let worker_id = pod["pod"]["worker_id"].as_str().unwrap();
    browser.find(&format!("aside.pods a[href*='{worker_id}']")).await;
    browser.eval(&format!("document.querySelector(\"aside.pods a[href*='{worker_id}']\").focus()")).await;
}

async fn palette(browser: &Browser) {
    browser.chord(Key::Control, 'k').await;
    browser.wait_focus("palette-field").await;
}

#[tokio::test]
async fn browser_the_palette_opens_pods_and_pages_runs_commands_and_gives_the_focus_back() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, _bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let browser = Browser::open_pod(&yoi, &ada).await;

    // From the composer, and back to it with what was written.
    let composer = browser.field("Message").await;
    composer.click().await.unwrap();
    browser.keys("half a thought").await;
    palette(&browser).await;
    browser.keys("zzzz").await;
    browser.wait_text("dialog[open]", "Nothing fits").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.wait_focus("message").await;
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("half a thought"));

    // To a Pod, to a page.
    palette(&browser).await;
    browser.keys("bob").await;
    browser.wait_text("#palette-list [aria-selected=true]", "bob").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "bob").await;
    browser.wait_no_dialog().await;
    browser.shortcut("").await;
    palette(&browser).await;
    browser.keys("usage").await;
    browser.wait_text("#palette-list [aria-selected=true]", "Usage").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "Usage").await;

    // A command to the Pod at hand; what cannot be done stays in the list with its reason.
    browser.goto_pod(&yoi, &ada).await;
    palette(&browser).await;
    browser.keys(":res").await;
    browser.wait_text("#palette-list [aria-disabled=true]", ":restore").await;
    browser.keys(Key::Backspace + "").await;
    browser.keys("name carol").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "carol").await;
    browser.wait_no_dialog().await;
    // The same keys close it.
    palette(&browser).await;
    browser.chord(Key::Control, 'k').await;
    browser.wait_no_dialog().await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_several_pods_are_stopped_at_once_and_an_undo_keeps_them() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob, eve) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await, yoi.new_pod("eve").await);
    let browser = Browser::open_pod(&yoi, &ada).await;
    focus_row(&browser, &eve).await;
    browser.chord(Key::Control, 'a').await;
    browser.wait_text("aside .selection", "3 selected").await;
    browser.find("aside .selection button[title^=Stop]").await.click().await.unwrap();
    browser.wait_text(".notices", "3 Pods stop in 5 seconds").await;
    browser.shortcut("u").await;
    browser.wait_text(".notices", "nothing was changed").await;
    browser.wait_until("nothing is selected", async |browser| browser.is_absent(".selection").await).await;

    // One is stopped after the time, which is longer than the others have had by then.
    focus_row(&browser, &eve).await;
    browser.keys("x").await;
    browser.wait_text("aside .selection", "1 selected").await;
    browser.find("aside .selection button[title^=Stop]").await.click().await.unwrap();
    browser.wait_text(".notices", "eve stops in 5 seconds").await;
    assert_ne!(state(&yoi, &eve).await, "stopped", "it waits");
    browser.wait_until("eve is stopped", async |_| state(&yoi, &eve).await == "stopped").await;
    browser.wait_text("aside.pods", "Stopped").await;
    assert_eq!((state(&yoi, &ada).await, state(&yoi, &bob).await), ("idle".into(), "idle".into()));

    // With Shift and an arrow a second one goes with the first.
    browser.shortcut("").await;
    focus_row(&browser, &ada).await;
    browser.chord(Key::Shift, Key::Down).await;
    browser.wait_text("aside .selection", "2 selected").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_every_page_is_two_keys_away_and_the_help_lists_them() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    let pages = [
        ("gs", "Search"),
        ("gu", "Usage"),
        ("gl", "Audit"),
        ("g,", "Settings"),
        ("gm", "Map"),
        ("ga", "Approvals"),
        ("gp", "Pods"),
    ];
    for (keys, title) in pages {
        browser.shortcut(keys).await;
        browser.wait_text("main h1", title).await;
        browser.wait_script(&format!("return document.title.startsWith('{title}') || '{title}' === 'Pods'")).await;
        browser.wait_script("return document.querySelectorAll('main').length === 1").await;
    }
    browser.shortcut("?").await;
    browser.wait_dialog("Keys and commands").await;
    let help = browser.texts("dialog[open]").await.join("\n");
    for word in ["g s", "g u", "g l", "g ,", "Ctrl-K", ":compact", ":export"] {
        assert!(help.contains(word), "{word} is not in the help:\n{help}");
    }
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_title_counts_who_needs_a_person_and_the_theme_stays_over_a_reload() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.wait_script("return document.title === 'yoi'").await;
    yoi.say(&ada, &format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    browser.wait_script("return document.title.includes('(1) yoi')").await;
    browser.wait_text("aside.pods", "Needs you").await;
    browser.shortcut("ga").await;
    browser.wait_text("main", "1 question waits for you").await;
    browser.wait_script("return document.title === 'Approvals · (1) yoi'").await;
    browser.find("main article[data-question] button.primary").await.click().await.unwrap();
    browser.wait_script("return document.title === 'Approvals · yoi'").await;

    let colour = "return getComputedStyle(document.body).backgroundColor";
    let before = browser.eval(colour).await;
    browser.button("Light or dark").await.click().await.unwrap();
    browser.wait_until("the colours have changed", async |browser| browser.eval(colour).await != before).await;
    let chosen = browser.eval(colour).await;
    browser.reload().await;
    assert_eq!(browser.eval(colour).await, chosen, "before any script of ours has run");
    browser.wait_live().await;
    browser.shortcut("g,").await;
    browser.wait_text("main h1", "Settings").await;
    browser.wait_script("return document.querySelector('fieldset input[name=theme]:checked').parentElement.textContent.trim() === 'Dark'").await;
    browser.no_errors().await;
    browser.quit().await;
}
