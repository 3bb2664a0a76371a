//! A headless Chromium, driven as a person would use it: find things by their names, act, wait for text.
//!
//! Needs `chromium` and `chromedriver` in the PATH (Debian: `chromium chromium-driver`); nothing is downloaded. Every
//! wait is for a condition and limited by [`WAIT_MAX`](crate::wait::WAIT_MAX).

pub mod console;
mod driver;
mod page;
#[cfg(test)]
mod tests;
mod touch;
mod waits;

use std::{ops::Deref, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

pub use self::page::Page;
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

/// A browser with a fresh profile. Dropping it kills the browser and its driver.
///
/// The fields are dropped in this order: the driver, what is left of the browser, its folder.
#[derive(Debug)]
pub struct Browser {
    page: Page,
    _chrome_driver: ChromeDriver,
    _leftovers: Leftovers,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser whose page is `width` × `height` CSS pixels.
    pub async fn start(width: u32, height: u32) -> Self {
        Self::start_with(width, height, json!({}), &[]).await
    }

    /// Like [`start`](Self::start), with these names resolving to `127.0.0.1`, as after DNS rebinding.
    pub async fn start_misled(width: u32, height: u32, names: &[&str]) -> Self {
        let rules: Vec<String> = names.iter().map(|name| format!("MAP {name} 127.0.0.1")).collect();
        Self::start_with(width, height, json!({}), &[format!("--host-resolver-rules={}", rules.join(","))]).await
    }

    /// Like [`start`](Self::start), with scripts disabled as in a browser's settings.
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
        let browser =
            Self { page: Page { driver }, _chrome_driver: chrome_driver, _leftovers: leftovers, _profile: profile };
        browser.set_viewport(width, height).await;
        browser
    }

    /// The port where other programs can speak the DevTools protocol with this browser.
    pub fn devtools_port(&self) -> u16 {
        let file = self._profile.path().join("DevToolsActivePort");
        let text = std::fs::read_to_string(&file).expect("a browser that is driven writes its port into its profile");
        text.lines().next().and_then(|port| port.parse().ok()).expect("the first line of that file is the port")
    }

    /// The folder of its profile, which is deleted with it.
    pub fn profile(&self) -> &Path {
        self._profile.path()
    }

    /// Quits the browser properly, so that it writes its profile and closes its sockets, which dropping does not.
    pub async fn quit(self) {
        self.driver.clone().quit().await.ok();
    }
}

/// The methods of [`Page`] are available on the browser.
impl Deref for Browser {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Otherwise the session would end itself with a request that blocks the very thread whose runtime should
        // carry it, and give up after two minutes. The processes are killed here anyway.
        self.driver.clone().leak().ok();
    }
}
