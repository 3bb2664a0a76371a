//! The scenes: every page, and every dialog over one.

use std::time::Duration;

use serde_json::Value;
use testkit::{browser::Browser, yoi::pod_path};
use thirtyfour::Key;

use crate::fill::Cast;

/// By then everything fetched after a page is live (colours of code, a dialog's code) has arrived.
pub(crate) const SETTLES: Duration = Duration::from_millis(600);

/// One screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scene {
    Login,
    Dashboard,
    Pod,
    PodStart,
    PodDetails,
    Peers,
    Question,
    Map,
    Approvals,
    Search,
    Usage,
    Audit,
    Settings,
    Exchange,
    Print,
    Palette,
    Help,
    PeerHelp,
    NewPod,
    PeerDialog,
    Compact,
    Spawn,
    Commands,
    Find,
}

impl Scene {
    pub(crate) const ALL: [Self; 24] = [
        Self::Login,
        Self::Dashboard,
        Self::Pod,
        Self::PodStart,
        Self::PodDetails,
        Self::Peers,
        Self::Question,
        Self::Map,
        Self::Approvals,
        Self::Search,
        Self::Usage,
        Self::Audit,
        Self::Settings,
        Self::Exchange,
        Self::Print,
        Self::Palette,
        Self::Help,
        Self::PeerHelp,
        Self::NewPod,
        Self::PeerDialog,
        Self::Compact,
        Self::Spawn,
        Self::Find,
        // Last, because the colon stays in the message field as a draft.
        Self::Commands,
    ];

    /// On a wide page the details stand beside the transcript anyway.
    pub(crate) fn is_worth(self, width: u32) -> bool {
        self != Self::PodDetails || width < 1000
    }

    /// Its name in file names.
    pub(crate) fn name(self) -> &'static str {
        self.both().0
    }

    /// Its caption.
    pub(crate) fn words(self) -> &'static str {
        self.both().1
    }

    fn both(self) -> (&'static str, &'static str) {
        match self {
            Self::Login => ("login", "Login"),
            Self::Dashboard => ("board", "Board"),
            Self::Pod => ("pod", "A Pod's transcript"),
            Self::PodStart => ("pod-start", "The same, its beginning"),
            Self::PodDetails => ("pod-details", "A Pod's details"),
            Self::Peers => ("pod-children", "A Pod with children"),
            Self::Question => ("pod-question", "A Pod that asks"),
            Self::Map => ("map", "Map"),
            Self::Approvals => ("approvals", "Approvals"),
            Self::Search => ("search", "Search"),
            Self::Usage => ("usage", "Usage"),
            Self::Audit => ("audit", "Audit"),
            Self::Settings => ("settings", "Settings"),
            Self::Exchange => ("exchange", "Messages of two peers"),
            Self::Print => ("print", "To print"),
            Self::Palette => ("dialog-palette", "Palette (Ctrl-K)"),
            Self::Help => ("dialog-help", "Keys (?)"),
            Self::PeerHelp => ("dialog-peer-help", "About peers"),
            Self::NewPod => ("dialog-new", "New Pod (n)"),
            Self::PeerDialog => ("dialog-peer", "Add peer (p)"),
            Self::Compact => ("dialog-compact", "Compact"),
            Self::Spawn => ("dialog-spawn", "Spawn"),
            Self::Commands => ("commands", "Commands (:)"),
            Self::Find => ("find", "Find (/)"),
        }
    }

    pub(crate) async fn set(self, cast: &Cast, browser: &Browser) {
        match self {
            Self::Login => browser.goto(&format!("{}/login", cast.yoi.console_url())).await,
            Self::Dashboard => {
                browser.goto(&cast.yoi.login_url()).await;
                browser.wait_text(".connection [role=status]", "live").await;
            }
            Self::Pod => page(cast, browser, &path(&cast.ledger)).await,
            Self::PodStart => {
                page(cast, browser, &path(&cast.ledger)).await;
                browser.eval("document.getElementById('log').scrollTop = 0").await;
                // The scroll position is remembered, so the dialogs taken next have this behind them.
            }
            Self::PodDetails => page(cast, browser, &format!("{}?pane=details", path(&cast.refunds))).await,
            Self::Peers => page(cast, browser, &path(&cast.segments)).await,
            Self::Question => page(cast, browser, &path(&cast.refunds)).await,
            Self::Map => page(cast, browser, "/map").await,
            Self::Approvals => page(cast, browser, "/approvals").await,
            Self::Search => page(cast, browser, "/search?q=cent").await,
            Self::Usage => page(cast, browser, "/usage").await,
            Self::Audit => page(cast, browser, "/audit").await,
            Self::Settings => page(cast, browser, "/settings").await,
            Self::Exchange => {
                let with = path(&cast.refunds).replacen("/pods/", "/with/", 1);
                page(cast, browser, &format!("{}{with}", path(&cast.ledger))).await;
            }
            Self::Print => browser.goto(&format!("{}{}/print", cast.yoi.console_url(), path(&cast.ledger))).await,
            Self::Palette => {
                page(cast, browser, &path(&cast.ledger)).await;
                browser.chord(Key::Control, 'k').await;
                shown(browser, "dialog[open]").await;
            }
            Self::Help => pressed(cast, browser, "?").await,
            Self::NewPod => pressed(cast, browser, "n").await,
            Self::PeerDialog => pressed(cast, browser, "p").await,
            Self::PeerHelp => commanded(cast, browser, "help peers").await,
            Self::Compact => commanded(cast, browser, "compact").await,
            Self::Spawn => commanded(cast, browser, "spawn kid").await,
            Self::Commands => {
                page(cast, browser, &path(&cast.ledger)).await;
                browser.shortcut(":").await;
            }
            Self::Find => {
                page(cast, browser, &path(&cast.ledger)).await;
                browser.shortcut("/").await;
                browser.wait_script("return document.activeElement.type === 'search'").await;
                browser.keys("shop" + Key::Enter).await;
            }
        }
        tokio::time::sleep(SETTLES).await;
    }
}

/// The path of a Pod's page.
pub(crate) fn path(pod: &Value) -> String {
    pod_path(pod).replacen("/api/v1/runtimes/", "/pods/", 1).replacen("/workers/", "/", 1)
}

/// Loads a page of the console.
pub(crate) async fn page(cast: &Cast, browser: &Browser, path: &str) {
    browser.goto(&format!("{}{path}", cast.yoi.console_url())).await;
    browser.wait_text(".connection [role=status]", "live").await;
}

/// Presses a key on ledger's page and waits for the dialog that it opens.
async fn pressed(cast: &Cast, browser: &Browser, key: &str) {
    page(cast, browser, &path(&cast.ledger)).await;
    browser.shortcut(key).await;
    shown(browser, "dialog[open]").await;
}

/// Gives ledger a command and waits for the dialog that it opens.
async fn commanded(cast: &Cast, browser: &Browser, command: &str) {
    page(cast, browser, &path(&cast.ledger)).await;
    browser.shortcut(":").await;
    browser.wait_script("return document.activeElement.id === 'message'").await;
    browser.keys(command).await;
    browser.keys(Key::Enter + "").await;
    shown(browser, "dialog[open]").await;
}

async fn shown(browser: &Browser, css: &str) {
    browser.find(css).await;
}
