//! A yoi's console in a browser: its pages, and its keys.

use serde_json::Value;
use thirtyfour::{Key, TypingData};

use super::Browser;
use crate::yoi::YoiProcess;

/// The address of a Pod's page, from its summary.
pub fn page_of(yoi: &YoiProcess, pod: &Value) -> String {
    let part = |name: &str| pod["pod"][name].as_str().expect("a summary names its Pod").to_owned();
    format!("{}/pods/{}/{}", yoi.console_url(), part("runtime_id"), part("worker_id"))
}

impl Browser {
    /// A logged-in browser that shows the first page, live.
    pub async fn open(yoi: &YoiProcess, width: u32, height: u32) -> Self {
        let browser = Self::start(width, height).await;
        browser.goto(&yoi.login_url()).await;
        browser.wait_live().await;
        browser
    }

    /// The same, on the page of one Pod.
    pub async fn open_pod(yoi: &YoiProcess, pod: &Value) -> Self {
        let browser = Self::open(yoi, 1440, 900).await;
        browser.goto_pod(yoi, pod).await;
        browser
    }

    pub async fn goto_pod(&self, yoi: &YoiProcess, pod: &Value) {
        self.goto(&page_of(yoi, pod)).await;
        self.wait_live().await;
    }

    /// Loads a page of the console; `path` begins with a slash.
    pub async fn goto_page(&self, yoi: &YoiProcess, path: &str) {
        self.goto(&format!("{}{path}", yoi.console_url())).await;
        self.wait_live().await;
    }

    /// Waits until the page is connected to the server: then its keys work, too.
    pub async fn wait_live(&self) {
        self.wait_text(".connection [role=status]", "live").await;
    }

    /// Types keys at the focus, as a keyboard does.
    pub async fn keys(&self, keys: impl Into<TypingData>) {
        let typed = self.driver.action_chain().send_keys(keys).perform().await;
        typed.unwrap_or_else(|error| panic!("the keys could not be pressed: {error}"));
    }

    /// Presses a key while another one is held.
    pub async fn chord(&self, held: Key, key: impl Into<char>) {
        let (held, key): (char, char) = (held.into(), key.into());
        let chord = self.driver.action_chain().key_down(held).key_down(key).key_up(key).key_up(held);
        chord.perform().await.unwrap_or_else(|error| panic!("the chord could not be pressed: {error}"));
    }

    /// Leaves any field, then types these keys as shortcuts. Escape would also end a run.
    pub async fn shortcut(&self, keys: &str) {
        let leave = "const dialog = document.querySelector('dialog[open]'); \
            if (!dialog) document.activeElement?.blur(); return dialog !== null";
        if self.eval(leave).await == true {
            self.keys(Key::Escape + "").await;
        }
        self.keys(keys).await;
    }

    /// Waits until the element with this id has the focus.
    pub async fn wait_focus(&self, id: &str) {
        self.wait_script(&format!("return document.activeElement.id === '{id}'")).await;
    }

    /// Waits until a dialog with this text is open and has the focus.
    pub async fn wait_dialog(&self, text: &str) {
        self.wait_text("dialog[open]", text).await;
        self.wait_script("return document.querySelector('dialog[open]')?.contains(document.activeElement) === true")
            .await;
    }

    pub async fn wait_no_dialog(&self) {
        self.wait_until("no dialog is open", async |browser| browser.is_absent("dialog[open]").await).await;
    }

    /// From now on timers of this many milliseconds wait for [`let_time_pass`](Self::let_time_pass), so that what can
    /// be undone for a moment can be undone for as long as a test takes. Applies to the current page until it is
    /// reloaded.
    pub async fn hold_time(&self, milliseconds: u32) {
        let hold = format!(
            "const run = window.setTimeout; window.heldTimers = []; \
             window.setTimeout = (what, after, ...rest) => \
                 after === {milliseconds} ? (window.heldTimers.push(what), 0) : run(what, after, ...rest); \
             return true"
        );
        self.wait_script(&hold).await;
    }

    /// Waits until a timer waits for [`let_time_pass`](Self::let_time_pass).
    pub async fn wait_held(&self) {
        self.wait_script("return window.heldTimers.length > 0").await;
    }

    /// Runs the held timers.
    pub async fn let_time_pass(&self) {
        self.eval("window.heldTimers.splice(0).forEach(what => what())").await;
    }

    /// Types into the message field and sends it.
    pub async fn send(&self, text: &str) {
        let composer = self.field("Message").await;
        composer.click().await.expect("the message field can be clicked");
        self.wait_focus("message").await;
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                self.chord(Key::Shift, Key::Enter).await;
            }
            self.keys(line).await;
        }
        self.keys(Key::Enter + "").await;
        self.wait_script("return document.getElementById('message').value === ''").await;
    }
}
