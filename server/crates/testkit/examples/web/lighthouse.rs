//! Lighthouse's verdict on the two most-used pages. It is fetched once from npm.

use std::{path::Path, process::Stdio};

use serde_json::Value;
use testkit::{
    browser::Browser,
    report::{Line, Report, Unit::Count},
};

use crate::stage::Stage;

/// Pinned, because other versions score differently.
const PACKAGE: &str = "lighthouse@12.8.2";
/// The goal in each category, out of 100.
const SCORE: f64 = 95.0;
const CATEGORIES: [&str; 4] = ["performance", "accessibility", "best-practices", "seo"];

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let pages = [
        (
            "dashboard",
            format!("{}/", stage.yoi.console_url()),
            ["lh_dash_perf", "lh_dash_a11y", "lh_dash_best", "lh_dash_seo"],
        ),
        ("Pod page", stage.page_of(&stage.short[0]), ["lh_pod_perf", "lh_pod_a11y", "lh_pod_best", "lh_pod_seo"]),
    ];
    for (what, url, keys) in pages {
        let browser = Browser::start(1440, 900).await;
        // Its session is in the browser's profile, where Lighthouse finds it.
        browser.goto(&stage.yoi.login_url()).await;
        browser.goto("about:blank").await;
        let found = audit(&browser, &url, &folder.path().join("report.json")).await;
        browser.quit().await;
        match found {
            Ok(found) => add(report, what, keys, &found),
            Err(sentence) => eprintln!("{what}: no scores: {sentence}"),
        }
    }
}

fn add(report: &mut Report, what: &str, keys: [&'static str; 4], found: &Value) {
    for (key, category) in keys.into_iter().zip(CATEGORIES) {
        let Some(score) = found["categories"][category]["score"].as_f64() else {
            eprintln!("{what}: Lighthouse gave no score for {category}");
            continue;
        };
        let line = Line::new(key, format!("Lighthouse, {what}: {category}"), Count, score * 100.0);
        report.add(line.at_least(SCORE).note(lost(found, category).join("; ")));
    }
}

/// The audits that lowered the score.
fn lost(found: &Value, category: &str) -> Vec<String> {
    let audits = found["categories"][category]["auditRefs"].as_array().into_iter().flatten();
    let weighty = audits.filter(|audit| audit["weight"].as_f64().is_some_and(|weight| weight > 0.0));
    let audits = weighty.filter_map(|audit| found["audits"].get(audit["id"].as_str()?));
    let missed = audits.filter(|audit| audit["score"].as_f64().is_some_and(|score| score < 0.9));
    let words = |audit: &Value| {
        let shown = audit["displayValue"].as_str().unwrap_or_default();
        format!("{} {shown}", audit["id"].as_str().unwrap_or_default()).trim_end().to_owned()
    };
    missed.map(words).collect()
}

async fn audit(browser: &Browser, url: &str, file: &Path) -> Result<Value, String> {
    let mut npx = tokio::process::Command::new("npx");
    npx.args(["--yes", PACKAGE, url, "--quiet", "--preset=desktop", "--disable-storage-reset", "--output=json"]);
    npx.arg(format!("--port={}", browser.devtools_port())).arg(format!("--output-path={}", file.display()));
    npx.arg(format!("--only-categories={}", CATEGORIES.join(",")));
    npx.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    let status = npx.status().await.map_err(|error| format!("npx could not be started: {error}"))?;
    if !status.success() {
        return Err(format!("npx {PACKAGE} ended with {status}"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("it left no report: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("its report is not JSON: {error}"))
}
