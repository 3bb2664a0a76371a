//! A terminal in the page, in real Chromium: what is typed reaches a shell, and what the shell prints is on the screen.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use testkit::{
    browser::Browser,
    yoi::{Launch, YoiProcess, until},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The rows of the screen, one a line.
const ROWS: &str = "[...document.querySelectorAll('.terminal-rows > div')].map(row => row.textContent).join('\\n')";

async fn start() -> YoiProcess {
    Launch::new(YOI).arg("--terminal").env("SHELL", "/bin/sh").env("PS1", "$ ").start().await
}

/// Waits until a row of the screen is exactly this.
async fn wait_row(browser: &Browser, row: &str) {
    browser.wait_script(&format!("return {ROWS}.split('\\n').includes({})", json!(row))).await;
}

async fn is_typed_into(browser: &Browser) {
    browser.wait_focus("terminal-field").await;
    // The prompt: the shell is there.
    browser.wait_script(&format!("return {ROWS}.trim() !== ''")).await;
    browser.keys("echo $((6*7))").await;
    browser.keys(Key::Enter).await;
    wait_row(browser, "42").await;
}

#[tokio::test]
async fn browser_a_shell_runs_in_the_page_and_ends_with_its_pane() {
    let yoi = start().await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.wait_focus("message").await;
    browser.chord(Key::Control, '`').await;
    is_typed_into(&browser).await;
    // Keys that mean something elsewhere on the page are the shell's here.
    browser.keys("cat").await;
    browser.keys(Key::Enter).await;
    browser.keys(Key::Escape + "nd").await;
    browser.keys(Key::Enter).await;
    // Once as it is typed, and once by `cat`: an interrupt that comes before the command has begun is lost.
    browser.keys("meow").await;
    browser.keys(Key::Enter).await;
    browser.wait_script(&format!("return {ROWS}.split('\\n').filter(row => row === 'meow').length === 2")).await;
    browser.chord(Key::Control, 'c').await;
    browser.keys("stty size | tr -d 0-9 | wc -c; printf '\\033[31mred\\033[m\\n'").await;
    browser.keys(Key::Enter).await;
    wait_row(&browser, "red").await;
    assert_eq!(browser.texts(".terminal-rows .ansi-1").await, ["red"]);
    assert!(browser.is_absent("dialog[open]").await);
    browser.keys("seq 200").await;
    browser.keys(Key::Enter).await;
    wait_row(&browser, "200").await;
    // The newest lines may still be on their way into view.
    let scrolled = "document.getElementById('terminal-screen').scrollTop = 0; return";
    browser.wait_script(&format!("{scrolled} !{ROWS}.split('\\n').includes('200')")).await;

    browser.chord(Key::Control, '`').await;
    browser.wait_focus("message").await;
    browser.chord(Key::Control, '`').await;
    browser.wait_focus("terminal-field").await;
    browser.keys("exit 3").await;
    browser.keys(Key::Enter).await;
    browser.wait_text(".terminal-end", "exit code 3").await;
    browser.press_button("Open again").await;
    browser.wait_script("return !document.querySelector('.terminal-end')").await;
    is_typed_into(&browser).await;
    browser.press(".terminal > header .button").await;
    browser.wait_until("it is closed", async |browser| browser.is_absent(".terminal").await).await;
    until("both ends are in the audit", async || {
        let audit = yoi.get("/api/v1/audit?action=terminal_end").await.expect(200);
        (audit["items"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_terminal_on_a_phone_has_the_whole_page() {
    let yoi = start().await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 360, 740).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.press("#pod-more-summary").await;
    browser.press_button("Terminal").await;
    is_typed_into(&browser).await;
    let wide = "return document.documentElement.scrollWidth <= innerWidth \
        && document.querySelector('.terminal').getBoundingClientRect().height > innerHeight / 2";
    assert_eq!(browser.eval(wide).await, json!(true));
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_terminal_that_is_off_says_how_to_turn_it_on() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_pod(&yoi, &pod).await;
    browser.press("#pod-more-summary").await;
    browser.press_button("Terminal").await;
    browser.wait_text(".terminal [role='alert']", "--terminal").await;
    browser.quit().await;
}
