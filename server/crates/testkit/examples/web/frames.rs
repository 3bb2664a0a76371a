//! How evenly the page is drawn while an answer streams in.

use serde_json::Value;
use testkit::{
    browser::Browser,
    report::{
        Line, Report,
        Unit::{self, Milliseconds},
    },
};

use crate::{
    journal,
    open::read_back,
    stage::{Stage, number, quantile},
};

/// Chunks per second, and for how many seconds.
const PER_SECOND: usize = 100;
const SECONDS: usize = 20;
const QUICK_SECONDS: usize = 4;
/// The goal for the 95th percentile.
const SHORT_MS: f64 = 16.7;
const LONG_MS: f64 = 20.0;

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let browser = stage.browser().await;
    stage.open(&browser, &stage.page_of(&stage.short[0])).await;
    let short = frames_of(stage, &browser, &stage.short[0]).await;
    add(report, ["frames_p50", "frames_p95", "frames_max"], "100 chunks/s in view", SHORT_MS, &short);

    stage.open(&browser, &stage.page_of(&stage.long)).await;
    let blocks = read_back(&browser, journal::BLOCKS).await;
    let long = frames_of(stage, &browser, &stage.long).await;
    let what = format!("the same below {blocks} blocks");
    add(report, ["frames_long_p50", "frames_long_p95", "frames_long_max"], &what, LONG_MS, &long);
    browser.quit().await;
}

fn add(report: &mut Report, keys: [&'static str; 3], what: &str, goal: f64, seen: &Value) {
    let mut times: Vec<f64> = seen["frames"].as_array().into_iter().flatten().map(frame_ms).collect();
    times.sort_by(f64::total_cmp);
    let late = times.iter().filter(|ms| **ms > LONG_MS).count();
    let line = |key, name: &str, ms, unit: Unit| Line::new(key, format!("{what}: frame, {name}"), unit, ms);
    report.add(line(keys[0], "p50", quantile(&times, 0.5), Milliseconds));
    let p95 = line(keys[1], "p95", quantile(&times, 0.95), Milliseconds).at_most(goal);
    report.add(p95.note(format!("{late} of {} frames took more than {LONG_MS} ms", times.len())));
    let max = line(keys[2], "longest", quantile(&times, 1.0), Milliseconds);
    report.add(max.note(format!("{} tasks of more than 50 ms", seen["tasks"])));
}

/// The page's clock has a resolution of 0.1 ms; more digits are noise from the subtraction.
fn frame_ms(value: &Value) -> f64 {
    (number(value) * 10.0).round() / 10.0
}

/// The times between frames while a stream is in view, starting with its first word.
async fn frames_of(stage: &Stage, browser: &Browser, pod: &Value) -> Value {
    let seconds = if stage.is_quick { QUICK_SECONDS } else { SECONDS };
    let words = (seconds + 1) * PER_SECOND;
    stage.yoi.say(pod, &format!("stream {words} at {PER_SECOND}")).await;
    browser.wait_text("#log", "w10 w11").await;
    let start = format!(
        "const seen = window.__frames = {{ frames: [], tasks: 0, is_done: false }};
         const tasks = new PerformanceObserver((list) => {{ seen.tasks += list.getEntries().length; }});
         tasks.observe({{ type: 'longtask' }});
         let last = null, first = null;
         const step = (now) => {{
             first ??= now;
             if (last !== null) seen.frames.push(now - last);
             last = now;
             if (now - first < {seconds} * 1000) requestAnimationFrame(step);
             else {{ tasks.disconnect(); seen.is_done = true; }}
         }};
         requestAnimationFrame(step);"
    );
    browser.eval(&start).await;
    // Do not query the page meanwhile, because each query is work for it.
    tokio::time::sleep(std::time::Duration::from_secs(seconds as u64)).await;
    browser.wait_script("return window.__frames.is_done").await;
    let seen = browser.eval("return window.__frames").await;
    browser.wait_text("#log", &format!("w{words}")).await;
    seen
}
