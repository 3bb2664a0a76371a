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
    browser::{
        after, close_dialog, every, go_to_login, host_name, is_at, is_dark, keep_url, kept, next_frame, now_ms,
        on_leave, once_painted, out_of_sight, painted, reload, remember, send_last, set_theme, show_dialog, visit,
        zone_minutes,
    },
    clipboard::{copy_text, pasted_text},
    colours::{colours_forget, colours_known, colours_when_seen},
    focus::{
        answer_question, blur, caret_in, focus, focus_content, focus_if_lost, focus_soon, has_focus, move_row,
        next_question, put_caret, refocus_soon, reveal, row_in_focus, rows, text_in,
    },
    found::mark_found,
    keys::{on_key, plain_key},
    outside::{ask_for_notices, has_attention, notice_means, notify},
    reveal::open_block,
    scroll::{
        linked, log_attach, log_detach, log_fold, log_keep_place, log_key, log_put_aside, log_restore, log_show,
        log_stop_following, log_take_back, log_to_end, log_to_question, log_to_turn,
    },
    takeover::{has_taken_over, is_taken_over, once_taken_over},
    typeahead::{begin_in, hold_keys, keys_wait},
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
