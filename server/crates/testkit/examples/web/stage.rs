//! The setup of all topics: a yoi with one long Pod and two short ones, and instrumented browsers.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};

use crate::{journal, options::Options};

/// Instruments the page before any of its scripts run.
const PROBE: &str = include_str!("probe.js");
/// A desktop viewport.
const VIEWPORT: (u32, u32) = (1440, 900);
/// For this long after a page is live, things may still move or be fetched.
const SETTLES: Duration = Duration::from_millis(1_500);

/// One yoi for all topics.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) yoi: YoiProcess,
    /// Its transcript has 10,000 blocks.
    pub(crate) long: Value,
    /// Two with a few answers each.
    pub(crate) short: [Value; 2],
    pub(crate) is_quick: bool,
}

impl Stage {
    pub(crate) async fn set(options: &Options) -> Self {
        let yoi = YoiProcess::start(&options.binary).await;
        let long = import(&yoi, "long", journal::BLOCKS).await;
        let short = [import(&yoi, "ada", 120).await, import(&yoi, "bob", 120).await];
        Self { yoi, long, short, is_quick: options.is_quick }
    }

    /// How often something is repeated.
    pub(crate) fn rounds(&self, usually: usize) -> usize {
        if self.is_quick { usually.min(3) } else { usually }
    }

    pub(crate) fn page_of(&self, pod: &Value) -> String {
        format!("{}{}", self.yoi.console_url(), path_of(pod))
    }

    /// A logged-in browser, on a page that loads nothing of the console.
    pub(crate) async fn browser(&self) -> Browser {
        let browser = Browser::start(VIEWPORT.0, VIEWPORT.1).await;
        browser.goto(&self.yoi.login_url()).await;
        browser.goto("about:blank").await;
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": PROBE })).await;
        browser.devtools("Network.enable", json!({})).await;
        browser.devtools("Performance.enable", json!({})).await;
        browser
    }

    /// Opens a page with an empty browser cache. Returns when it is live.
    pub(crate) async fn open_cold(&self, browser: &Browser, url: &str) {
        browser.goto("about:blank").await;
        browser.devtools("Network.clearBrowserCache", json!({})).await;
        self.open(browser, url).await;
        tokio::time::sleep(SETTLES).await;
    }

    pub(crate) async fn open(&self, browser: &Browser, url: &str) {
        browser.goto(url).await;
        browser.wait_script("return window.__probe.live > 0").await;
    }
}

/// The address of a Pod's page on its server.
pub(crate) fn path_of(pod: &Value) -> String {
    pod_path(pod).replacen("/api/v1/runtimes/", "/pods/", 1).replacen("/workers/", "/", 1)
}

/// An idle Pod with this many blocks of history.
async fn import(yoi: &YoiProcess, name: &str, blocks: usize) -> Value {
    let body = json!({ "name": name, "jsonl": journal::jsonl(name, blocks) });
    let pod = yoi.post("/api/v1/import", &body).await.expect(201);
    yoi.post(&format!("{}/restore", pod_path(&pod)), &json!({})).await;
    pod
}

/// The median; 0 for no figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    quantile(&figures, 0.5)
}

/// A quantile of sorted figures.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or_default()
}

/// A number from a script's result.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a page gave {value} where a number was wanted"))
}
