//! Hours of streaming, compressed in time: how much memory the page keeps.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    report::{
        Line, Report,
        Unit::{Count, Megabytes, Times},
    },
};

use crate::stage::{Stage, number};

/// Answers in one part, and words in each: 20,000 chunks, which is 200 s at 100 chunks/s.
const ANSWERS: usize = 40;
const WORDS: usize = 500;
/// 18 parts make an hour.
const PARTS: usize = 18;
/// Time between two checks of the page.
const LOOKS: Duration = Duration::from_millis(500);
/// Whether the page offers the button to its end: then it does not follow, although nobody has scrolled.
const IS_AWAY: &str = "return !document.querySelector('.below').classList.contains('is-hidden')";

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let pod = stage.yoi.new_pod("hours").await;
    let browser = stage.browser().await;
    stage.open(&browser, &stage.page_of(&pod)).await;
    let (mut taken, mut lost) = (Vec::new(), 0);
    for part in 1..=stage.rounds(PARTS) {
        lost += usize::from(!stream(stage, &browser, &pod, part).await);
        let now = memory(&browser).await;
        eprintln!("    after {} chunks: {now}", part * ANSWERS * WORDS);
        taken.push(now);
    }
    let (first, last) = (&taken[0], taken.last().expect("a part was streamed"));
    let mb = |value: &Value| number(value) / 1e6;
    let chunks = taken.len() * ANSWERS * WORDS;
    report.add(Line::new("heap_chunks", "chunks that one page drew", Count, chunks as f64).note(format!(
        "{} answers of {WORDS}; as many as {:.0} minutes bring at 100/s",
        taken.len() * ANSWERS,
        chunks as f64 / 6_000.0
    )));
    let lost = Line::new("heap_lost", "parts at whose end the page had stopped to follow", Count, lost as f64);
    report.add(lost.at_most(0.0));
    for (key, ratio_key, name, what) in [
        ("heap_js", "heap_js_ratio", "js", "JavaScript heap after a collection, at the end"),
        ("heap_wasm", "heap_wasm_ratio", "wasm", "WebAssembly memory at the end"),
    ] {
        let (from, to) = (mb(&first[name]), mb(&last[name]));
        report.add(Line::new(key, what, Megabytes, to).note(format!("{from:.1} MB after the first part")));
        report.add(Line::new(ratio_key, "the same, last against first", Times, to / from.max(1e-9)));
    }
    let nodes = Line::new("heap_nodes", "elements in the page at the end", Count, number(&last["elements"]));
    report.add(nodes.note(format!("{} blocks; {} after the first part", last["blocks"], first["elements"])));
    browser.quit().await;
}

/// Streams one part in view. Returns when the page shows its end; true if the page followed it there by itself.
async fn stream(stage: &Stage, browser: &Browser, pod: &Value, part: usize) -> bool {
    let before = blocks(browser).await;
    for _ in 1..ANSWERS {
        stage.yoi.say(pod, &format!("stream {WORDS} at 0")).await;
    }
    stage.yoi.say(pod, &format!("stream {WORDS} at 0\nsay end of part {part}.")).await;
    let is_here = format!("return document.getElementById('log').textContent.includes('end of part {part}.')");
    // A page that redraws for every record is slow, so wait as long as blocks are being added.
    let mut here = before;
    loop {
        tokio::time::sleep(LOOKS).await;
        let now = blocks(browser).await;
        if browser.eval(&is_here).await == true {
            return true;
        }
        if now == here && now > before && browser.eval(IS_AWAY).await == true {
            break;
        }
        here = now;
    }
    browser.eval("document.querySelector('.below button').click()").await;
    browser.wait_script(&is_here).await;
    false
}

async fn blocks(browser: &Browser) -> usize {
    number(&browser.eval("return Number(document.getElementById('log').dataset.blocks)").await) as usize
}

async fn memory(browser: &Browser) -> Value {
    // Twice: what the first collection frees may hold other objects.
    for _ in 0..2 {
        browser.devtools("HeapProfiler.collectGarbage", json!({})).await;
    }
    let metrics = browser.devtools("Performance.getMetrics", json!({})).await;
    let metric = |name: &str| {
        let found = metrics["metrics"].as_array().into_iter().flatten().find(|metric| metric["name"] == name);
        found.map(|metric| metric["value"].clone()).unwrap_or_default()
    };
    let page = browser
        .eval(
            "return [window.__probe.memory.buffer.byteLength, document.querySelectorAll('*').length, \
             Number(document.getElementById('log').dataset.blocks)]",
        )
        .await;
    json!({ "js": metric("JSHeapUsedSize"), "nodes": metric("Nodes"), "wasm": page[0], "elements": page[1], "blocks": page[2] })
}
