//! A Pod of 10,000 blocks is opened for the first time, and then scrolled back to its beginning.

use serde_json::Value;
use testkit::{
    browser::Browser,
    report::{
        Line, Report,
        Unit::{Count, Milliseconds},
    },
};

use crate::{
    journal,
    stage::{Stage, median, number},
};

const ROUNDS: usize = 7;
/// The goal for the first content, in milliseconds.
const OPEN_MS: f64 = 200.0;
/// Clicks on "Earlier" until everything is there; each loads a page.
const PAGES_MAX: usize = 300;

const LOOK: &str = "
    const page = performance.getEntriesByType('navigation')[0];
    const paint = performance.getEntriesByType('paint').find((entry) => entry.name == 'first-contentful-paint');
    return { first_byte: page.responseStart, sent: page.responseEnd, painted: paint.startTime,
             content: window.__probe.content, live: window.__probe.live, bytes: page.encodedBodySize }";

const BLOCKS_HERE: &str = "return Number(document.getElementById('log').dataset.blocks)";

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let browser = stage.browser().await;
    let url = stage.page_of(&stage.long);
    let mut visits: Vec<Value> = Vec::new();
    for _ in 0..stage.rounds(ROUNDS) {
        stage.open_cold(&browser, &url).await;
        visits.push(browser.eval(LOOK).await);
    }
    let of = |name: &str| median(visits.iter().map(|visit| number(&visit[name])).collect());
    report.add(
        Line::new("open_byte", "10,000 blocks, cold: first byte", Milliseconds, of("first_byte")).note(format!(
            "whole page sent at {:.0} ms, {:.1} kB",
            of("sent"),
            of("bytes") / 1e3
        )),
    );
    let painted = Line::new("open_content", "10,000 blocks, cold: content is seen", Milliseconds, of("painted"));
    report.add(painted.at_most(OPEN_MS).note(format!("largest piece of it at {:.0} ms", of("content"))));
    report.add(Line::new("open_live", "10,000 blocks, cold: live", Milliseconds, of("live")));

    let blocks = read_back(&browser, journal::BLOCKS).await;
    let nodes = browser.eval("return document.querySelectorAll('*').length").await;
    let drawn = browser.eval("return Number(document.getElementById('log').dataset.drawn)").await;
    report.add(
        Line::new("open_nodes", "elements in the page with all of them", Count, number(&nodes))
            .note(format!("{blocks} blocks in the page, {drawn} drawn")),
    );
    browser.quit().await;
}

/// Loads older pages until this many blocks are on the page, and returns to the end. Returns how many there are.
pub(crate) async fn read_back(browser: &Browser, wanted: usize) -> usize {
    let mut here = blocks_here(browser).await;
    for _ in 0..PAGES_MAX {
        if here >= wanted {
            break;
        }
        browser.eval("document.querySelector('#log-earlier a')?.click()").await;
        let script = format!(
            "const log = document.getElementById('log'); \
             return Number(log.dataset.blocks) > {here} || !log.querySelector('#log-earlier a')"
        );
        browser.wait_script(&script).await;
        let now = blocks_here(browser).await;
        if now == here {
            break;
        }
        here = now;
    }
    browser.eval("const log = document.getElementById('log'); log.scrollTop = log.scrollHeight").await;
    browser
        .wait_script("const log = document.getElementById('log'); log.scrollTop = log.scrollHeight; return log.scrollHeight - log.scrollTop - log.clientHeight < 2")
        .await;
    here
}

async fn blocks_here(browser: &Browser) -> usize {
    number(&browser.eval(BLOCKS_HERE).await) as usize
}
