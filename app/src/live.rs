//! The only place with browser I/O but for the event stream: timers, storage, focus, scrolling, the clipboard.
//!
//! On the server the same functions exist and do nothing, so that no component asks where it runs.

#[cfg(feature = "hydrate")]
pub(crate) mod browser;
#[cfg(feature = "hydrate")]
mod clipboard;
#[cfg(feature = "hydrate")]
mod colours;
#[cfg(feature = "hydrate")]
mod files;
#[cfg(feature = "hydrate")]
mod focus;
#[cfg(feature = "hydrate")]
mod found;
#[cfg(not(feature = "hydrate"))]
mod inert;
#[cfg(feature = "hydrate")]
mod keys;
#[cfg(feature = "hydrate")]
mod outside;
#[cfg(feature = "hydrate")]
mod reveal;
#[cfg(feature = "hydrate")]
mod scroll;
#[cfg(feature = "hydrate")]
mod takeover;
#[cfg(feature = "hydrate")]
mod typeahead;

#[cfg(not(feature = "hydrate"))]
pub(crate) use self::inert::*;
#[cfg(feature = "hydrate")]
pub(crate) use self::{
    browser::*, clipboard::*, colours::*, files::*, focus::*, found::*, keys::*, outside::*, reveal::*, scroll::*,
    takeover::*, typeahead::*,
};

/// The theme that is none of its own: the system decides, and nothing is remembered.
pub(crate) const SYSTEM_THEME: &str = "system";

/// Where something is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Over restarts of the browser.
    Local,
    /// While this tab lives.
    Tab,
}

/// A key, pressed where no text is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPress {
    pub(crate) key: String,
    /// A dialog is open; it takes its own keys.
    pub(crate) in_dialog: bool,
    /// Typed in a field: only Escape and chords mean something there.
    pub(crate) in_field: bool,
    /// Together with Ctrl or Cmd.
    pub(crate) is_chord: bool,
    /// Together with Alt, where that makes no letter.
    pub(crate) has_alt: bool,
    pub(crate) has_shift: bool,
}

/// What became of an answer that was given by a key from anywhere on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    Given,
    /// Nobody answers what they do not see: it has been brought into view.
    Unseen,
    NoQuestion,
}
