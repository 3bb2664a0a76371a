//! The mode of a Pod: what it does without asking.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a Pod does without asking, where no rule decides. In the order of what they allow: of the modes up a line of
/// parents, the least applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is written and no command is run, whatever the rules allow.
    Plan,
    /// Each tool's own default.
    #[default]
    Ask,
    /// Files in the scope are changed without asking.
    AcceptEdits,
    /// What the sandbox and the scope confine is done without asking.
    Free,
}

impl Mode {
    /// All modes, in the order in which a key walks through them.
    pub const ALL: [Self; 4] = [Self::Ask, Self::AcceptEdits, Self::Plan, Self::Free];

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::AcceptEdits => "accept_edits",
            Self::Free => "free",
        }
    }

    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::AcceptEdits => "accept edits",
            other => other.as_str(),
        }
    }

    /// What it does, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Plan => "It reads and searches; it writes nothing and runs no command.",
            Self::Ask => "It asks before it writes, runs a command or fetches a page.",
            Self::AcceptEdits => "It changes files in its scope without asking, and asks for the rest.",
            Self::Free => {
                "It changes files in its scope and runs commands in its sandbox without asking; it asks for the rest."
            }
        }
    }

    /// The mode after this one, for a key that walks through them; after the last one comes the first.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|mode| *mode == self).unwrap_or_default();
        Self::ALL[(at + 1) % Self::ALL.len()]
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A text that names no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mode is ask, accept_edits, plan or free")]
pub struct ModeError;

impl FromStr for Mode {
    type Err = ModeError;

    /// Reads a mode as people write it: `accept-edits` and `accept edits` are `accept_edits`.
    fn from_str(text: &str) -> Result<Self, ModeError> {
        let plain = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        Self::ALL.into_iter().find(|mode| mode.as_str() == plain).ok_or(ModeError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_walks_through_all_modes_and_they_are_read_as_people_write_them() {
        let mut mode = Mode::Ask;
        for next in [Mode::AcceptEdits, Mode::Plan, Mode::Free, Mode::Ask] {
            mode = mode.next();
            assert_eq!(mode, next);
            assert_eq!(mode.as_str().parse(), Ok(mode));
        }
        assert_eq!("Accept edits".parse(), Ok(Mode::AcceptEdits));
        assert_eq!("yolo".parse::<Mode>(), Err(ModeError));
        assert!(Mode::Plan < Mode::Ask && Mode::Ask < Mode::AcceptEdits && Mode::AcceptEdits < Mode::Free);
    }
}
