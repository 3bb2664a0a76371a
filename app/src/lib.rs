//! The console: pages that the server renders and the browser takes over.
//!
//! A folder holds what one does or looks at: its page, its parts, its dialogs. What they share is below them, and none of them
//! knows one that knows it.
//! Components know no browser: the event stream is in [`stream`], and whatever touches a timer, storage, focus or scrolling goes
//! through [`live`].
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
mod approvals;
mod audit;
mod boot;
mod codec;
mod components;
mod composer;
mod console;
mod error;
mod family;
mod format;
mod frame;
mod keys;
mod later;
mod limits;
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
mod rows;
mod search;
pub mod server_fns;
mod settings;
mod stream;
mod transcript;
mod usage;

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
