//! The scroll position that is kept over a reload, and the one in the address.

use serde::{Deserialize, Serialize};

use super::{
    super::{Memory, browser, kept, remember},
    rooms::Rooms,
};
use crate::{codec, rows::Rows};

/// The first visible block. The page's inline script reads it as well (see `boot.rs`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) following: bool,
    pub(super) anchor: String,
    /// The distance of the anchor's top below the top of the view, in CSS pixels.
    pub(super) offset: f64,
}

/// Where to go.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// The block with this element id.
    Block(String),
    Place(Place),
}

/// Where one visit to a page begins and ends.
pub(super) struct Visit {
    /// The storage key of the position.
    pub(super) key: String,
    /// Where to go once that part has been loaded; nothing is saved meanwhile.
    pub(super) sought: Option<Target>,
}

impl Visit {
    /// Where the visit begins; `None` for the end.
    pub(super) fn wanted(&self, rows: Rows) -> Option<Target> {
        let is_here = |id: &String| rows.index_of(id).is_some() || id.starts_with("seq-");
        linked().filter(is_here).map(Target::Block).or_else(|| self.kept().map(Target::Place))
    }

    /// `None` if the last visit ended at the end.
    fn kept(&self) -> Option<Place> {
        let place: Place = codec::read(&kept(Memory::Tab, &self.key)?).ok()?;
        (!place.following).then_some(place)
    }

    pub(super) fn save(&self, rooms: &Rooms, following: bool) {
        if !rooms.pane.scroller.is_connected() || self.sought.is_some() || rooms.folded.is_some() {
            return;
        }
        let Some(anchor) = rooms.pane.first_in_sight() else { return };
        let place = Place { following, offset: rooms.pane.offset_of(&anchor), anchor: anchor.id() };
        if let Ok(text) = serde_json::to_string(&place) {
            remember(Memory::Tab, &self.key, Some(&text));
        }
    }
}

/// The id after `#` in the browser's address.
pub(super) fn linked() -> Option<String> {
    id_in(&browser::window().location().hash().unwrap_or_default())
}

/// The same for an address that is being navigated to and may not be the browser's yet.
pub(super) fn id_in(hash: &str) -> Option<String> {
    hash.strip_prefix('#').filter(|id| !id.is_empty()).map(str::to_owned)
}
