//! The only place with browser I/O apart from the event stream: timers, storage, focus, scrolling, the clipboard.
//!
//! On the server the same functions exist and do nothing, so that no component has to ask where it runs.

#[cfg(feature = "hydrate")]
mod board;
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
mod formulas;
#[cfg(feature = "hydrate")]
mod found;
#[cfg(feature = "hydrate")]
mod hand;
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
mod terminal;
#[cfg(feature = "hydrate")]
mod touch;
#[cfg(feature = "hydrate")]
mod typeahead;

#[cfg(not(feature = "hydrate"))]
pub(crate) use self::inert::*;
#[cfg(feature = "hydrate")]
pub(crate) use self::{
    board::*, browser::*, clipboard::*, colours::*, files::*, focus::*, formulas::*, found::*, hand::*, keys::*,
    outside::*, reveal::*, scroll::*, takeover::*, terminal::*, touch::*, typeahead::*,
};

/// The theme setting that follows the system; nothing is stored for it.
pub(crate) const SYSTEM_THEME: &str = "system";

/// Where a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Across restarts of the browser.
    Local,
    /// For the lifetime of this tab.
    Tab,
}

/// A key press outside of text entry, and how it was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPress {
    pub(crate) key: String,
    /// Whether a dialog is open; dialogs handle their own keys.
    pub(crate) in_dialog: bool,
    /// Whether it was typed in a field, where only Escape and chords have a meaning.
    pub(crate) in_field: bool,
    /// With Ctrl or Cmd.
    pub(crate) is_chord: bool,
    /// With Alt, where that does not produce a letter.
    pub(crate) has_alt: bool,
    pub(crate) has_shift: bool,
}

/// Finds words in a text: the beginning and the end of each place, in UTF-16 code units.
pub(crate) type Places = fn(text: &str, words: &str) -> Vec<(u32, u32)>;

/// The result of answering an approval by a key from anywhere on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    Given,
    /// The approval was not visible, so it has been scrolled into view and not answered.
    Unseen,
    NoQuestion,
}

/// What a press in a view is that cannot take it yet.
#[derive(Debug)]
pub(crate) enum Pressed {
    /// On nothing that takes presses, or on a link, which the browser follows.
    Nothing,
    /// The browser opens or closes what was pressed.
    ByItself,
    Held(Press),
}

/// A press that is held until the view can take it: the way to what was pressed, by the indices of children, and what
/// that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Press {
    path: Vec<u32>,
    name: String,
}
