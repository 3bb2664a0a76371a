//! The console: pages that the server renders and the browser hydrates.
//!
//! A folder holds one thing that a person does or looks at: its page, its parts, its dialogs. What folders share is
//! below them and never depends on them.
//! Components do not touch the browser: the event stream is in [`stream`], and everything with timers, storage, focus
//! or scrolling goes through [`live`].
//! Whatever can be decided without a screen (grouping, words, commands, drafts, reconnecting) is a pure function in a
//! file of its own.

#![recursion_limit = "512"]
// The component macro generates `pub` items.
#![allow(unreachable_pub)]
// Code that only the browser calls is compiled and tested natively too.
#![cfg_attr(not(feature = "hydrate"), allow(dead_code))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[macro_use]
mod acts;

mod acting;
mod app;
mod approvals;
mod audit;
mod boot;
mod changes;
mod codec;
mod components;
mod composer;
mod console;
mod error;
mod format;
mod frame;
mod keys;
mod later;
mod live;
mod login;
mod notify;
mod palette;
mod peers;
mod pod;
mod pods;
mod preferences;
mod print;
mod reading;
mod reconnect;
mod redrawn;
mod rows;
mod search;
pub mod server_fns;
mod settings;
mod stream;
mod terminal;
mod transcript;
mod usage;

pub use app::{App, shell};
pub use boot::LaterParts;
pub use error::UiError;

/// Hydrates the page that the server rendered. The WebAssembly entry point calls it once.
#[cfg(feature = "hydrate")]
pub fn hydrate() {
    wasm_bindgen_futures::spawn_local(async {
        leptos::mount::hydrate_from_async(leptos::tachys::dom::body(), App).await.forget();
        live::take_over().await;
    });
}
