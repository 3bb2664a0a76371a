//! The settings of this browser.

use crate::live::{self, Memory};

/// Read by the composer on each press of Enter.
const SEND_KEY: &str = "yoi:send-key";

/// Which key sends a message; the other one begins a new line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SendKey {
    #[default]
    Enter,
    /// Or Cmd-Enter on a Mac.
    CtrlEnter,
}

impl SendKey {
    fn word(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::CtrlEnter => "ctrl-enter",
        }
    }

    fn of(word: &str) -> Self {
        if word == Self::CtrlEnter.word() { Self::CtrlEnter } else { Self::Enter }
    }

    pub(crate) fn kept() -> Self {
        live::kept(Memory::Local, SEND_KEY).map_or(Self::default(), |word| Self::of(&word))
    }

    pub(crate) fn keep(self) {
        live::remember(Memory::Local, SEND_KEY, (self != Self::default()).then(|| self.word()));
    }
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Theme {
    /// Follows the system.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::System => "Match the system",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::System => live::SYSTEM_THEME,
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn kept() -> Self {
        let word = live::kept(Memory::Local, "yoi:theme");
        Self::ALL.into_iter().find(|theme| Some(theme.word()) == word.as_deref()).unwrap_or_default()
    }

    pub(crate) fn choose(self) {
        live::set_theme(self.word());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_nobody_knows_any_more_is_the_default() {
        assert_eq!(SendKey::of("ctrl-enter"), SendKey::CtrlEnter);
        assert_eq!(SendKey::of("alt-enter"), SendKey::Enter);
    }
}
