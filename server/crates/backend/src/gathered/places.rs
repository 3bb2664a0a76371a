//! Where each runtime's part of a list goes on, as one cursor.

use std::collections::BTreeMap;

use protocol::{ApiError, ErrorCode, RuntimeId, open_cursor, seal_cursor};

/// Between the runtimes of a cursor.
const JOINT: char = '~';
/// Between a runtime and its own cursor; of one that is left out.
const BEHIND: char = '.';
const ABSENT: char = '_';

/// Where one runtime's part goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing of it is known yet.
    Newest,
    /// Behind this cursor of its own.
    Behind(String),
    /// It did not answer once: it stays out to the end, for what is older than what was shown has its order.
    LeftOut,
}

impl Place {
    /// Right before an item: what comes newer later is not of this list. Cursors of the lists that are gathered are
    /// numbers of rows, of which the newest is the highest; a letter before them may say which list it is.
    pub(crate) fn at(sealed: &str) -> Self {
        // Servers of before do not seal.
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

/// Those that have more to say, and those that are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places(BTreeMap<RuntimeId, Place>);

impl Places {
    pub(crate) fn beginning(runtimes: impl Iterator<Item = RuntimeId>) -> Self {
        Self(runtimes.map(|id| (id, Place::Newest)).collect())
    }

    /// Sealed: `local.17~box.5~gone_`, where each number is a cursor as its runtime gave it; one alone is of this server
    /// alone.
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

    /// Behind which cursor a runtime is asked; none when it is not asked (any more).
    pub(crate) fn goes_on(&self, id: &RuntimeId) -> Option<Option<String>> {
        match self.0.get(id)? {
            Place::Newest => Some(None),
            Place::Behind(cursor) => Some(Some(cursor.clone())),
            Place::LeftOut => None,
        }
    }

    /// Runtimes that were taken out since are left out.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&RuntimeId) -> bool) {
        for (_, place) in self.0.iter_mut().filter(|(id, _)| !is_there(id)) {
            *place = Place::LeftOut;
        }
    }

    pub(crate) fn leave_out(&mut self, id: RuntimeId) {
        self.0.insert(id, Place::LeftOut);
    }

    /// Nothing more of it when there is no place.
    pub(crate) fn set(&mut self, id: RuntimeId, place: Option<Place>) {
        match place {
            Some(place) => self.0.insert(id, place),
            None => self.0.remove(&id),
        };
    }

    pub(crate) fn absent(&self) -> Vec<RuntimeId> {
        self.0.iter().filter(|(_, place)| **place == Place::LeftOut).map(|(id, _)| id.clone()).collect()
    }

    /// None when nobody has more to say.
    pub(crate) fn write(&self) -> Option<String> {
        if self.0.values().all(|place| *place == Place::LeftOut) {
            return None;
        }
        // As it was when there was one runtime, and as it still is then.
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
