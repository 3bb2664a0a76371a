//! Which keys send. A setting makes Enter begin a new line instead.

use leptos::ev::KeyboardEvent;

use crate::preferences::SendKey;

/// What Enter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enter {
    NewLine,
    Send,
    /// Send it into the current run.
    Steer,
}

/// The modifier keys held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Held {
    pub(super) shift: bool,
    /// Ctrl or Cmd.
    pub(super) ctrl: bool,
    pub(super) alt: bool,
}

impl Held {
    pub(super) fn of(event: &KeyboardEvent) -> Self {
        Self { shift: event.shift_key(), ctrl: event.ctrl_key() || event.meta_key(), alt: event.alt_key() }
    }
}

/// Whether Enter is a new line and Ctrl-Enter sends.
pub(super) fn is_swapped() -> bool {
    SendKey::kept() == SendKey::CtrlEnter
}

pub(super) fn enter(held: Held, is_swapped: bool) -> Enter {
    match held {
        Held { shift: true, .. } => Enter::NewLine,
        Held { alt: true, .. } => Enter::Steer,
        Held { ctrl: false, .. } if is_swapped => Enter::NewLine,
        Held { .. } => Enter::Send,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_sends_or_begins_a_line_as_the_person_wants_it() {
        let none = Held::default();
        let (shift, ctrl, alt) =
            (Held { shift: true, ..none }, Held { ctrl: true, ..none }, Held { alt: true, ..none });
        let row = |is_swapped| [none, shift, ctrl, alt].map(|held| enter(held, is_swapped));
        assert_eq!(row(false), [Enter::Send, Enter::NewLine, Enter::Send, Enter::Steer]);
        assert_eq!(row(true), [Enter::NewLine, Enter::NewLine, Enter::Send, Enter::Steer]);
    }
}
