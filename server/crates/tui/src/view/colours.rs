//! Colours, or none: <https://no-color.org>. Only the terminal's sixteen colours are used, so that its theme applies.

use ratatui::{buffer::Buffer, style::Color};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Sixteen,
    /// Only weight and shape: nothing on the screen is told by colour alone.
    None,
}

impl Colours {
    /// No colours if `NO_COLOR` is set to anything.
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
