//! The place that is kept over a reload, and the one in the address.

use serde::{Deserialize, Serialize};

use super::super::{Memory, browser, kept, remember};
use crate::codec;

/// The first block that is in sight. The page's own script reads it as well (see `boot.rs`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) following: bool,
    pub(super) anchor: String,
    /// Of the anchor's top below the top of the view, in CSS pixels.
    pub(super) offset: f64,
}

/// Where to go.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// The block with the element of this id.
    Block(String),
    Place(Place),
}

impl Place {
    pub(super) fn save(&self, key: &str) {
        if let Ok(text) = serde_json::to_string(self) {
            remember(Memory::Tab, key, Some(&text));
        }
    }

    /// None where the last visit ended at the end.
    pub(super) fn kept(key: &str) -> Option<Self> {
        let place: Self = codec::read(&kept(Memory::Tab, key)?).ok()?;
        (!place.following).then_some(place)
    }
}

/// The id after `#` in the address that the browser shows.
pub(super) fn linked() -> Option<String> {
    id_in(&browser::window().location().hash().unwrap_or_default())
}

/// The same in an address that is being gone to, and may not be shown yet.
pub(super) fn id_in(hash: &str) -> Option<String> {
    hash.strip_prefix('#').filter(|id| !id.is_empty()).map(str::to_owned)
}
