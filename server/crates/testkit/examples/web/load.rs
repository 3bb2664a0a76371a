//! The first visit: what is transferred, when something is visible, and whether it stays in place.

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    report::{
        Line, Report,
        Unit::{Kilobytes, Milliseconds, Times},
    },
};

use crate::stage::{Stage, median, number};

const ROUNDS: usize = 7;
/// The goal for everything that a page loads.
const FIRST_LOAD_KB: f64 = 300.0;
/// A phone on a train: bytes per second, and the round trip in milliseconds.
const SLOW_LINE: (u32, u32) = (200_000, 150);

/// For one document: names and transferred bytes, milliseconds since navigation began.
const LOOK: &str = "
    const probe = window.__probe, paints = performance.getEntriesByType('paint');
    const files = performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/pkg/'));
    const page = performance.getEntriesByType('navigation')[0];
    const wasm = files.filter((entry) => entry.name.endsWith('.wasm'));
    return {
        painted: paints.find((entry) => entry.name == 'first-contentful-paint').startTime,
        runs: Math.min(...probe.compiled.map((module) => module.to)),
        wasm_began: Math.min(...wasm.map((entry) => entry.startTime)),
        wasm_there: Math.min(...wasm.map((entry) => entry.responseEnd)),
        live: probe.live, shift: probe.shift, shifts: probe.shifts,
        page: page.encodedBodySize,
        files: files.map((entry) => [entry.name.split('/').pop(), entry.encodedBodySize]),
    }";

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let dashboard = format!("{}/", stage.yoi.console_url());
    let keys = ["dashboard_painted", "dashboard_runs", "dashboard_load", "dashboard_shift", "dashboard_slow"];
    visit(stage, report, &dashboard, "dashboard", keys).await;
    let pod = stage.page_of(&stage.short[0]);
    visit(stage, report, &pod, "Pod page", ["pod_painted", "pod_runs", "pod_load", "pod_shift", "pod_slow"]).await;
}

async fn visit(stage: &Stage, report: &mut Report, url: &str, what: &str, keys: [&'static str; 5]) {
    let browser = stage.browser().await;
    let mut visits = Vec::new();
    for _ in 0..stage.rounds(ROUNDS) {
        visits.push(look(stage, &browser, url).await);
    }
    let of = |name: &str| median(visits.iter().map(|visit| number(&visit[name])).collect());
    let (painted, runs) = (of("painted"), of("runs"));
    let before = visits.iter().filter(|visit| number(&visit["painted"]) < number(&visit["runs"])).count();
    report.add(
        Line::new(keys[0], format!("{what}: first contentful paint"), Milliseconds, painted)
            .at_most(runs)
            .note(format!("goal: before any WebAssembly runs; so in {before} of {} visits", visits.len())),
    );
    let (began, there) = (of("wasm_began"), of("wasm_there"));
    report.add(
        Line::new(keys[1], format!("{what}: first WebAssembly can run"), Milliseconds, runs)
            .note(format!("asked for at {began:.0} ms, there at {there:.0} ms, live at {:.0} ms", of("live"))),
    );
    report.add(first_load(keys[2], what, &visits[0]));
    let worst = visits.iter().max_by(|a, b| number(&a["shift"]).total_cmp(&number(&b["shift"])));
    let worst = worst.expect("there was a visit");
    let moved = worst["shifts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    let shift = Line::new(keys[3], format!("{what}: layout shift, the worst visit"), Times, number(&worst["shift"]));
    report.add(shift.at_most(0.0).note(format!("{:.4}; {}", number(&worst["shift"]), moved.join("; "))));
    slow(stage, report, &browser, url, what, keys[4]).await;
    browser.quit().await;
}

async fn look(stage: &Stage, browser: &Browser, url: &str) -> Value {
    stage.open_cold(browser, url).await;
    browser.eval(LOOK).await
}

/// Everything that was fetched until the page was live and at rest, without sockets and page data.
fn first_load(key: &'static str, what: &str, visit: &Value) -> Line {
    let kb = |bytes: &Value| number(bytes) / 1e3;
    let mut files: Vec<(String, f64)> = vec![("the page itself".to_owned(), kb(&visit["page"]))];
    for file in visit["files"].as_array().into_iter().flatten() {
        files.push((file[0].as_str().unwrap_or_default().to_owned(), kb(&file[1])));
    }
    let sum = files.iter().map(|(_, kb)| kb).sum();
    let each: Vec<String> = files.iter().map(|(name, kb)| format!("{name} {kb:.1}")).collect();
    Line::new(key, format!("{what}: first load, as sent"), Kilobytes, sum).at_most(FIRST_LOAD_KB).note(each.join(", "))
}

/// The same over a slow connection: what is visible must not wait for what is still loading.
async fn slow(stage: &Stage, report: &mut Report, browser: &Browser, url: &str, what: &str, key: &'static str) {
    let (bytes_per_second, latency) = SLOW_LINE;
    let conditions = |latency: u32, bytes: i64| json!({ "offline": false, "latency": latency, "downloadThroughput": bytes, "uploadThroughput": bytes });
    browser.devtools("Network.emulateNetworkConditions", conditions(latency, i64::from(bytes_per_second))).await;
    let visit = look(stage, browser, url).await;
    browser.devtools("Network.emulateNetworkConditions", conditions(0, -1)).await;
    let line =
        Line::new(key, format!("{what}: first contentful paint, slow line"), Milliseconds, number(&visit["painted"]));
    report.add(line.at_most(number(&visit["runs"])).note(format!(
        "{bytes_per_second} bytes/s, {latency} ms; WebAssembly runs at {:.0} ms, live at {:.0} ms",
        number(&visit["runs"]),
        number(&visit["live"])
    )));
}
