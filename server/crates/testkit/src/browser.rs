//! A headless Chromium, driven as a person would use it: find what is on the page by its name, act, wait for the text.
//!
//! Needs `chromium` and `chromedriver` in the PATH (Debian: `chromium chromium-driver`); nothing is downloaded. Every
//! wait is for a condition and bounded by [`WAIT_MAX`](crate::wait::WAIT_MAX).

pub mod console;
mod driver;
#[cfg(test)]
mod tests;
mod waits;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

use driver::{ChromeDriver, Leftovers};

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
];

/// One browser with one fresh profile. Dropping it kills the browser and its driver.
///
/// The fields are dropped in this order: the driver, what is left of the browser, its folder.
#[derive(Debug)]
pub struct Browser {
    /// For what the methods here do not cover.
    pub driver: WebDriver,
    _chrome_driver: ChromeDriver,
    _leftovers: Leftovers,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser whose page is `width` × `height` CSS pixels.
    pub async fn start(width: u32, height: u32) -> Self {
        Self::start_with(width, height, json!({}), &[]).await
    }

    /// As [`start`](Self::start), where these names lead to `127.0.0.1`, as a name does that somebody has rebound.
    pub async fn start_misled(width: u32, height: u32, names: &[&str]) -> Self {
        let rules: Vec<String> = names.iter().map(|name| format!("MAP {name} 127.0.0.1")).collect();
        Self::start_with(width, height, json!({}), &[format!("--host-resolver-rules={}", rules.join(","))]).await
    }

    /// As [`start`](Self::start), with scripts switched off as in a browser's settings.
    pub async fn start_without_javascript(width: u32, height: u32) -> Self {
        let preferences = json!({ "profile.managed_default_content_settings.javascript": 2 });
        Self::start_with(width, height, preferences, &[]).await
    }

    async fn start_with(width: u32, height: u32, preferences: Value, more_flags: &[String]) -> Self {
        crate::yoi::install_tls_provider();
        let profile =
            tempfile::Builder::new().prefix("yoi-browser-").tempdir().expect("a temporary folder can be made");
        let leftovers = Leftovers::of(profile.path());
        let chrome_driver = ChromeDriver::start().await;

        let mut capabilities = DesiredCapabilities::chrome();
        let profile_flag = format!("--user-data-dir={}", profile.path().display());
        let size_flag = format!("--window-size={width},{height}");
        let more_flags = more_flags.iter().map(String::as_str);
        for flag in FLAGS.into_iter().chain([profile_flag.as_str(), size_flag.as_str()]).chain(more_flags) {
            capabilities.add_arg(flag).expect("a flag is text");
        }
        capabilities.add_experimental_option("prefs", preferences).expect("preferences are JSON");
        capabilities.set_browser_log_level(LoggingPrefsLogLevel::All).expect("a level is JSON");

        let driver = WebDriver::new(chrome_driver.url(), capabilities).await.unwrap_or_else(|error| {
            panic!("chromedriver could not start Chromium: {error}{}", chrome_driver.last_words())
        });
        let browser = Self { driver, _chrome_driver: chrome_driver, _leftovers: leftovers, _profile: profile };
        browser.set_viewport(width, height).await;
        browser
    }

    /// Loads a page and returns when it and its scripts are loaded.
    pub async fn goto(&self, url: &str) {
        self.driver.goto(url).await.unwrap_or_else(|error| panic!("could not open {url}: {error}"));
    }

    pub async fn reload(&self) {
        self.driver.refresh().await.expect("the page reloads");
    }

    /// The address in the address bar.
    pub async fn url(&self) -> String {
        self.driver.current_url().await.expect("a page has an address").to_string()
    }

    /// The page's size in CSS pixels, exactly, also below a window's smallest width.
    pub async fn set_viewport(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// What `prefers-color-scheme` says from now on.
    pub async fn emulate_dark(&self, is_dark: bool) {
        self.emulate_media("prefers-color-scheme", if is_dark { "dark" } else { "light" }).await;
    }

    /// Any media feature, such as `prefers-reduced-motion: reduce`. Replaces the one set before.
    pub async fn emulate_media(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Cuts or restores the browser's network; open sockets end when it is cut.
    pub async fn set_offline(&self, is_offline: bool) {
        let conditions =
            json!({ "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.devtools("Network.enable", json!({})).await;
        self.devtools("Network.emulateNetworkConditions", conditions).await;
    }

    /// Runs a script body in the page (`return …`) and gives its result.
    pub async fn eval(&self, script: &str) -> Value {
        let result = self.driver.execute(script, Vec::new()).await;
        result.unwrap_or_else(|error| panic!("the script failed: {error}\n{script}")).json().clone()
    }

    /// Errors in the console since the last call: exceptions, `console.error`, failed loads, refused by the policy.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.driver.browser_log().await.expect("chromedriver keeps the console");
        entries.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect()
    }

    /// Writes what is in the viewport as PNG.
    pub async fn screenshot(&self, path: &Path) {
        self.driver.screenshot(path).await.unwrap_or_else(|error| panic!("no screenshot: {error}"));
    }

    /// Another tab of this browser (same session, same cookies), which becomes the current one. Returns its handle for
    /// `driver.switch_to_window`.
    pub async fn new_tab(&self) -> thirtyfour::WindowHandle {
        let handle = self.driver.new_tab().await.expect("a tab opens");
        self.driver.switch_to_window(handle.clone()).await.expect("a new tab can be shown");
        handle
    }

    /// One command of the DevTools protocol.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let answer = self.driver.cdp().send_raw(method, parameters).await;
        answer.unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// The port on which other programs can speak the DevTools protocol with this browser.
    pub fn devtools_port(&self) -> u16 {
        let file = self._profile.path().join("DevToolsActivePort");
        let text = std::fs::read_to_string(&file).expect("a browser that is driven writes its port into its profile");
        text.lines().next().and_then(|port| port.parse().ok()).expect("the first line of that file is the port")
    }

    /// The folder of its profile, which goes away with it.
    pub fn profile(&self) -> &Path {
        self._profile.path()
    }

    /// Ends the browser in order: it writes its profile and closes its sockets, which dropping does not.
    pub async fn quit(self) {
        self.driver.clone().quit().await.ok();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Else the session ends itself by a request that blocks the very thread whose runtime should carry it, and
        // gives up after two minutes. The processes are killed here anyway.
        self.driver.clone().leak().ok();
    }
}
