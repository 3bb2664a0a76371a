//! The console: pages that the server renders and the browser takes over.
//!
//! Components know no browser: whatever touches a socket, a timer, storage, focus or scrolling goes through [`live`].
//! Whatever can be decided without a screen (grouping, words, commands, drafts, reconnecting) is a pure function in a
//! file of its own.

#![recursion_limit = "512"]
// The component macro writes its own `pub` items.
#![allow(unreachable_pub)]
// What only the browser calls is compiled and tested natively too.
#![cfg_attr(not(feature = "hydrate"), allow(dead_code))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acting;
mod app;
mod boot;
mod charts;
mod clock;
mod codec;
mod components;
mod console;
mod draft;
mod error;
mod family;
mod format;
mod keys;
mod later;
mod live;
mod notify;
mod pages;
mod peering;
mod pod_book;
mod preferences;
mod reading;
mod reconnect;
mod relation_map;
mod selection;
pub mod server_fns;
mod undoing;

pub use app::{App, shell};
pub use boot::LaterParts;
pub use error::UiError;

/// Takes over the page that the server rendered. The WebAssembly entry calls it once.
#[cfg(feature = "hydrate")]
pub fn hydrate() {
    wasm_bindgen_futures::spawn_local(async {
        leptos::mount::hydrate_from_async(leptos::tachys::dom::body(), App).await.forget();
        live::is_taken_over();
    });
}
