//! The page that a browser shows: its address, its display, and running scripts in it.

use std::path::Path;

use serde_json::{Value, json};
use thirtyfour::WebDriver;

/// The current tab.
#[derive(Debug)]
pub struct Page {
    /// For what the methods here do not cover.
    pub driver: WebDriver,
}

impl Page {
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

    /// Sets the page's size in CSS pixels, exactly, even below a window's minimum width.
    pub async fn set_viewport(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Sets `prefers-color-scheme`.
    pub async fn emulate_dark(&self, is_dark: bool) {
        self.emulate_media("prefers-color-scheme", if is_dark { "dark" } else { "light" }).await;
    }

    /// The viewer's time zone from now on, such as `Asia/Kathmandu`.
    pub async fn emulate_zone(&self, zone: &str) {
        self.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": zone })).await;
    }

    /// Sets any media feature, such as `prefers-reduced-motion: reduce`. Replaces the one set before.
    pub async fn emulate_media(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Disconnects or restores the browser's network; disconnecting closes open sockets.
    pub async fn set_offline(&self, is_offline: bool) {
        let conditions =
            json!({ "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.devtools("Network.enable", json!({})).await;
        self.devtools("Network.emulateNetworkConditions", conditions).await;
    }

    /// Runs a script body in the page (`return …`) and returns its result.
    pub async fn eval(&self, script: &str) -> Value {
        let result = self.driver.execute(script, Vec::new()).await;
        result.unwrap_or_else(|error| panic!("the script failed: {error}\n{script}")).json().clone()
    }

    /// Errors in the console since the last call: exceptions, `console.error`, failed loads, policy violations.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.driver.browser_log().await.expect("chromedriver keeps the console");
        entries.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect()
    }

    /// Writes the viewport as PNG.
    pub async fn screenshot(&self, path: &Path) {
        self.driver.screenshot(path).await.unwrap_or_else(|error| panic!("no screenshot: {error}"));
    }

    /// Opens another tab in this browser (same session, same cookies) and makes it the current one. Returns its
    /// handle for `driver.switch_to_window`.
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

    /// Fails if the console has reported an error.
    pub async fn no_errors(&self) {
        let errors = self.console_errors().await;
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
