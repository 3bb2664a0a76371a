//! What a screen has to redraw.

/// What one call changed in [`crate::Transcript::blocks`]. State and usage are to be read again after every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    /// No block.
    #[default]
    None,
    /// The block at `index`, in place.
    Changed { index: usize },
    /// There is a new block at `index`; those after it moved up by one.
    Added { index: usize },
    /// Blocks from `from` on may be new, changed, moved or removed; those before are unchanged.
    Several { from: usize },
}

impl Change {
    /// Both changes, one after the other.
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::None, other) | (other, Self::None) => other,
            (Self::Changed { index }, Self::Changed { index: again }) if index == again => self,
            (Self::Added { index }, Self::Changed { index: again }) if index == again => self,
            _ => Self::Several { from: self.first().min(next.first()) },
        }
    }

    /// The first index that may differ.
    pub fn first(self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Changed { index } | Self::Added { index } => index,
            Self::Several { from } => from,
        }
    }
}
