//! Where each runtime's part of a list continues, as one cursor.

use std::collections::BTreeMap;

use protocol::{ApiError, ErrorCode, RuntimeId, open_cursor, seal_cursor};

/// Separates the runtimes in a cursor.
const JOINT: char = '~';
/// Separates a runtime from its own cursor; the second one marks a runtime that is left out.
const BEHIND: char = '.';
const ABSENT: char = '_';

/// Where one runtime's part continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// From its newest item: nothing of it has been shown yet.
    Newest,
    /// After this cursor of its own.
    Behind(String),
    /// It failed to answer once and stays out to the end: its items could no longer be shown in order.
    LeftOut,
}

impl Place {
    /// The position right before an item, so that newer items that arrive later are not part of this list. The cursors
    /// of these lists are row numbers, newest highest, possibly with a letter in front that identifies the list.
    pub(crate) fn at(sealed: &str) -> Self {
        // Older servers do not seal their cursors.
        let (cursor, sealing): (_, fn(String) -> String) = match open_cursor(sealed) {
            Some(cursor) => (cursor, |place| seal_cursor(&place)),
            None => (sealed, |place| place),
        };
        let number = cursor.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
        let list = cursor.strip_suffix(number).unwrap_or_default();
        match number.parse::<i64>().ok().and_then(|row| row.checked_add(1)) {
            Some(row) => Self::Behind(sealing(format!("{list}{row}"))),
            None => Self::Newest,
        }
    }
}

/// The runtimes that have more, and those that are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places(BTreeMap<RuntimeId, Place>);

impl Places {
    pub(crate) fn beginning(runtimes: impl Iterator<Item = RuntimeId>) -> Self {
        Self(runtimes.map(|id| (id, Place::Newest)).collect())
    }

    /// Reads a sealed cursor: `local.17~box.5~gone_`, where each number is a cursor as its runtime gave it. A plain
    /// cursor belongs to this server alone.
    pub(crate) fn read(cursor: &str) -> Result<Self, ApiError> {
        let stale =
            || ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`");
        let place = open_cursor(cursor).ok_or_else(stale)?;
        if !place.contains([BEHIND, ABSENT]) {
            return Ok(Self([(RuntimeId::local(), Place::Behind(cursor.to_owned()))].into()));
        }
        let read = |text: &str| {
            let (id, place) = match text.strip_suffix(ABSENT) {
                Some(id) => (id, Place::LeftOut),
                None => {
                    let (id, behind) = text.split_once(BEHIND)?;
                    (id, if behind.is_empty() { Place::Newest } else { Place::Behind(behind.to_owned()) })
                }
            };
            Some((RuntimeId::parse(id).ok()?, place))
        };
        let places: Option<BTreeMap<_, _>> = place.split(JOINT).map(read).collect();
        places.map(Self).ok_or_else(stale)
    }

    /// The cursor after which to ask a runtime; `None` if it is not to be asked, or not any more.
    pub(crate) fn goes_on(&self, id: &RuntimeId) -> Option<Option<String>> {
        match self.0.get(id)? {
            Place::Newest => Some(None),
            Place::Behind(cursor) => Some(Some(cursor.clone())),
            Place::LeftOut => None,
        }
    }

    /// Leaves out runtimes that have been removed since.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&RuntimeId) -> bool) {
        for (_, place) in self.0.iter_mut().filter(|(id, _)| !is_there(id)) {
            *place = Place::LeftOut;
        }
    }

    pub(crate) fn leave_out(&mut self, id: RuntimeId) {
        self.0.insert(id, Place::LeftOut);
    }

    /// Sets where a runtime continues; `None` if it is exhausted.
    pub(crate) fn set(&mut self, id: RuntimeId, place: Option<Place>) {
        match place {
            Some(place) => self.0.insert(id, place),
            None => self.0.remove(&id),
        };
    }

    pub(crate) fn absent(&self) -> Vec<RuntimeId> {
        self.0.iter().filter(|(_, place)| **place == Place::LeftOut).map(|(id, _)| id.clone()).collect()
    }

    /// `None` if no runtime has more.
    pub(crate) fn write(&self) -> Option<String> {
        if self.0.values().all(|place| *place == Place::LeftOut) {
            return None;
        }
        // A cursor of this runtime alone has the same form as before there were several.
        if let [(id, Place::Behind(cursor))] = self.0.iter().collect::<Vec<_>>()[..]
            && *id == RuntimeId::local()
            && open_cursor(cursor).is_some_and(|place| !place.contains([BEHIND, ABSENT]))
        {
            return Some(cursor.clone());
        }
        let part = |(id, place): (&RuntimeId, &Place)| match place {
            Place::Newest => format!("{id}{BEHIND}"),
            Place::Behind(cursor) => format!("{id}{BEHIND}{cursor}"),
            Place::LeftOut => format!("{id}{ABSENT}"),
        };
        Some(seal_cursor(&self.0.iter().map(part).collect::<Vec<_>>().join(&JOINT.to_string())))
    }
}
