//! A terminal in the page: your own shell in a Pod's folder. What its screen shows and what a key sends are computed
//! here; the browser's part is in [`crate::live`].

mod emulator;
pub(crate) mod pane;
mod typing;
