//! Switching from one Pod to another in a page that is already running.

use std::time::Duration;

use serde_json::Value;
use testkit::{
    browser::Browser,
    report::{Line, Report, Unit::Milliseconds},
};
use tokio::time::sleep;

use crate::stage::{Stage, median, number, path_of, quantile};

const ROUNDS: usize = 20;
const FIRST_ROUNDS: usize = 7;
/// The goal: one frame.
const SWITCH_MS: f64 = 16.0;
/// The goal for a Pod that this page has not shown before.
const FIRST_VISIT_MS: f64 = 100.0;
/// How long each page is looked at.
const LOOKS: Duration = Duration::from_millis(300);

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let browser = stage.browser().await;
    stage.open(&browser, &stage.page_of(&stage.short[0])).await;
    browser.devtools("Runtime.evaluate", serde_json::json!({ "expression": "0" })).await;
    // Both have been shown once before anything is measured.
    for pod in [&stage.short[1], &stage.short[0]] {
        go(&browser, pod).await;
    }
    let (mut drawn, mut painted, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..stage.rounds(ROUNDS) {
        let seen = go(&browser, &stage.short[(round + 1) % 2]).await;
        drawn.push(number(&seen["drawn"]));
        painted.push(number(&seen["painted"]));
        floor.push(number(&one_word(&browser).await["painted"]));
    }
    painted.sort_by(f64::total_cmp);
    report.add(
        Line::new("switch", "to another Pod, warm: click → painted", Milliseconds, quantile(&painted, 0.5))
            .floor(median(floor))
            .at_most(SWITCH_MS)
            .note(format!("p95 {:.1} ms; in the page at {:.1} ms", quantile(&painted, 0.95), median(drawn))),
    );
    first_visits(stage, report, &browser).await;
    browser.quit().await;
}

/// From the board, which has none of the code of a Pod's page yet: it is in the browser's cache.
async fn first_visits(stage: &Stage, report: &mut Report, browser: &Browser) {
    let board = format!("{}/", stage.yoi.console_url());
    let pods =
        [("first_visit", "of 120 blocks", &stage.short[0]), ("first_visit_long", "of 10,000 blocks", &stage.long)];
    for (key, what, pod) in pods {
        let (mut drawn, mut painted) = (Vec::new(), Vec::new());
        for _ in 0..stage.rounds(FIRST_ROUNDS) {
            stage.open(browser, &board).await;
            sleep(LOOKS).await;
            let seen = go(browser, pod).await;
            drawn.push(number(&seen["drawn"]));
            painted.push(number(&seen["painted"]));
        }
        painted.sort_by(f64::total_cmp);
        let words = format!("from the board to a Pod {what}, first visit: click → painted");
        report.add(Line::new(key, words, Milliseconds, quantile(&painted, 0.5)).at_most(FIRST_VISIT_MS).note(format!(
            "slowest {:.1} ms; in the page at {:.1} ms",
            quantile(&painted, 1.0),
            median(drawn)
        )));
    }
}

/// Clicks on the Pod in the list. Returns the milliseconds until its transcript is in the page, and until it was
/// painted.
async fn go(browser: &Browser, pod: &Value) -> Value {
    let path = path_of(pod);
    let address = path.trim_start_matches("/pods/");
    let is_there = format!(
        "(() => {{
            const log = document.getElementById('log');
            return log?.dataset.pod == '{address}' && log.querySelector('#log-drawn > *') !== null;
        }})()"
    );
    let seen =
        timed(browser, &format!("document.querySelector('a[data-row][href=\"{path}\"]').click()"), &is_there).await;
    browser.wait_script("return window.__probe.live > 0").await;
    // Give the page time to settle, as a person would.
    sleep(LOOKS).await;
    seen
}

/// The baseline: adding one letter to the page.
async fn one_word(browser: &Browser) -> Value {
    let letter = "document.querySelector('.brand').append('.')";
    let seen = timed(browser, letter, "document.querySelector('.brand').textContent.endsWith('.')").await;
    browser.eval("document.querySelector('.brand').lastChild.remove()").await;
    sleep(LOOKS).await;
    seen
}

/// Runs `act` some milliseconds after a frame has begun. Returns the milliseconds until the page fulfils `is_there`,
/// and until that frame was painted: a message posted in a frame's callback arrives after that frame's paint.
async fn timed(browser: &Browser, act: &str, is_there: &str) -> Value {
    let script = format!(
        "return new Promise((done) => {{
            const is_there = () => {is_there};
            requestAnimationFrame(() => setTimeout(() => {{
                let drawn = null;
                const from = performance.now();
                const watcher = new MutationObserver(() => {{ if (drawn === null && is_there()) drawn = performance.now() - from; }});
                watcher.observe(document.body, {{ subtree: true, childList: true, attributes: true }});
                const look = () => {{
                    if (!is_there()) return requestAnimationFrame(look);
                    const channel = new MessageChannel();
                    channel.port1.onmessage = () => {{
                        watcher.disconnect();
                        done({{ drawn: drawn ?? performance.now() - from, painted: performance.now() - from }});
                    }};
                    channel.port2.postMessage(0);
                }};
                {act};
                requestAnimationFrame(look);
            }}, 5));
        }})"
    );
    browser.eval(&script).await
}
