//! Colours, or none: <https://no-color.org>. Only the sixteen of the terminal are used, so its theme holds.

use ratatui::{buffer::Buffer, style::Color};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Sixteen,
    /// Weight and shape alone: nothing on the screen is told by its colour only.
    None,
}

impl Colours {
    /// `NO_COLOR`, when it is set to anything, means none.
    pub(crate) fn of_environment() -> Self {
        match std::env::var_os("NO_COLOR") {
            Some(value) if !value.is_empty() => Self::None,
            _ => Self::Sixteen,
        }
    }

    pub(super) fn apply(self, buffer: &mut Buffer) {
        if self == Self::None {
            for cell in &mut buffer.content {
                (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
            }
        }
    }
}
