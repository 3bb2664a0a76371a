//! Which part of the list is drawn, and the heights of all of it. Only the browser has heights; without them
//! everything is drawn.

use std::ops::Range;

use leptos::prelude::*;
use transcript::BlockId;

use crate::rows::{
    Entry, Shape,
    window::{ALL_DRAWN_MAX, FIRST_DRAWN, Heights, View, block_px, fit},
};

/// The list's entries, and which of them are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    /// The entries; each block is in exactly one, in the transcript's order.
    pub(crate) entries: RwSignal<Vec<Entry>>,
    /// The indices of the drawn entries.
    pub(crate) drawn: RwSignal<Range<usize>>,
    room: StoredValue<Option<Room>>,
}

/// What the browser knows about the height of blocks.
#[derive(Debug)]
struct Room {
    heights: Heights<BlockId>,
    /// Characters per line.
    columns: usize,
}

impl Entry {
    fn px(&self, columns: usize) -> f64 {
        match &self.shape {
            Shape::One(row) => row.block.with_untracked(|block| block_px(block, columns)),
            Shape::Reads(reads) => reads.rows.with_untracked(|rows| {
                rows.first().map_or(0.0, |row| row.block.with_untracked(|block| block_px(block, columns)))
            }),
        }
    }
}

impl Window {
    /// With all entries drawn.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        Self { drawn: RwSignal::new(0..entries.len()), entries: RwSignal::new(entries), room: StoredValue::new(None) }
    }

    /// The drawn entries. Reactive.
    pub(crate) fn shown(self) -> Vec<Entry> {
        let drawn = self.drawn.get();
        self.entries.with(|entries| entries[within(&drawn, entries.len())].to_vec())
    }

    /// Draws only the end, where reading starts. The rest follows once that has been painted.
    pub(crate) fn draw_end_first(self) {
        let len = self.entries.with_untracked(Vec::len);
        self.drawn.set(len.saturating_sub(FIRST_DRAWN)..len);
    }

    /// Starts windowing: from now on only what [`Window::fit`] decides is drawn.
    pub(crate) fn begin(self, columns: usize) {
        self.entries.with_untracked(|entries| {
            let mut heights = Heights::default();
            let keys = entries.iter().map(|entry| entry.id().clone()).collect();
            heights.replace(0, keys, |index| entries[index].px(columns));
            self.room.set_value(Some(Room { heights, columns }));
        });
    }

    /// The page's width has changed: later estimates use this.
    pub(crate) fn set_columns(self, columns: usize) {
        self.with_room(|room| room.columns = columns);
    }

    /// Whether there are so few entries that all are drawn.
    pub(crate) fn is_whole(self) -> bool {
        self.entries.try_with_untracked(Vec::len).is_none_or(|len| len <= ALL_DRAWN_MAX)
    }

    /// Stops windowing: everything is drawn again.
    pub(crate) fn end(self) {
        self.room.try_set_value(None);
    }

    fn with_room<T>(self, use_it: impl FnOnce(&mut Room) -> T) -> Option<T> {
        self.room.try_update_value(|room| room.as_mut().map(use_it)).flatten()
    }

    /// `None` once the page has been left.
    pub(crate) fn with_heights<T>(self, use_them: impl FnOnce(&mut Heights<BlockId>) -> T) -> Option<T> {
        self.with_room(|room| use_them(&mut room.heights))
    }

    /// Indices of the drawn entries.
    pub(crate) fn drawn_now(self) -> Range<usize> {
        self.drawn.try_get_untracked().unwrap_or_default()
    }

    /// The entries to draw for this view, or `None` if those drawn now will do.
    pub(crate) fn fit(self, view: View) -> Option<Range<usize>> {
        self.with_heights(|heights| fit(heights, view, &self.drawn_now())).flatten()
    }

    pub(crate) fn draw_only(self, range: Range<usize>) {
        if self.drawn_now() != range {
            self.drawn.try_set(range);
        }
    }

    /// Element ids of the drawn entries; an entry with nothing to show has no element.
    pub(crate) fn drawn_ids(self) -> Vec<String> {
        let drawn = self.drawn_now();
        self.entries
            .try_with_untracked(|entries| entries[within(&drawn, entries.len())].iter().map(Entry::dom_id).collect())
            .unwrap_or_default()
    }

    /// The element id of an entry.
    pub(crate) fn dom_id_at(self, index: usize) -> Option<String> {
        self.entries.try_with_untracked(|entries| entries.get(index).map(Entry::dom_id)).flatten()
    }

    /// The entry whose element has this id.
    pub(super) fn index_of(self, dom_id: &str) -> Option<usize> {
        let drawn = self.drawn_now();
        self.entries.try_with_untracked(|entries| {
            let drawn = within(&drawn, entries.len());
            let near = entries[drawn.clone()].iter().position(|entry| entry.holds(dom_id));
            near.map(|near| drawn.start + near).or_else(|| entries.iter().position(|entry| entry.holds(dom_id)))
        })?
    }

    /// The heading of the next turn at or after `index`, or of the last one before it.
    pub(crate) fn turn_from(self, index: usize, step: i32) -> Option<usize> {
        self.entries.try_with_untracked(|entries| match step > 0 {
            true => (index..entries.len()).find(|&index| entries[index].is_turn()),
            false => (0..index.min(entries.len())).rev().find(|&index| entries[index].is_turn()),
        })?
    }

    /// The entry that contains the block at `index`.
    pub(super) fn entry_of(self, index: usize) -> Option<usize> {
        self.entries
            .try_with_untracked(|entries| entries.partition_point(|entry| entry.first <= index).checked_sub(1))?
    }

    /// Follows a change to the entries from `from` on; `before` is how many there were, `was` the ids of the drawn
    /// ends.
    pub(super) fn follow(self, from: usize, before: usize, was: Option<(BlockId, BlockId)>) {
        let drawn = self.drawn.get_untracked();
        let now = self.entries.with_untracked(|entries| {
            let is_live = self.with_room(|Room { heights, columns }| {
                let keys = entries[from..].iter().map(|entry| entry.id().clone()).collect();
                heights.replace(from, keys, |index| entries[index].px(*columns));
            });
            if is_live.is_none() || entries.len() <= ALL_DRAWN_MAX {
                return 0..entries.len();
            }
            let Some((first, last)) = was else { return 0..entries.len() };
            let end = match drawn.end == before {
                true => entries.len(),
                false => moved(entries, &last, drawn.end - 1, before) + 1,
            };
            moved(entries, &first, drawn.start, before).min(end)..end.min(entries.len())
        });
        if now != drawn {
            self.drawn.set(now);
        }
    }

    /// The ids of the first and last drawn entries.
    pub(super) fn drawn_ends(self) -> Option<(BlockId, BlockId)> {
        let drawn = self.drawn.get_untracked();
        self.entries.with_untracked(|entries| {
            let last = entries.get(drawn.end.checked_sub(1)?)?;
            Some((entries.get(drawn.start)?.id().clone(), last.id().clone()))
        })
    }

    /// Estimates the height of a changed block again, if it is not drawn.
    pub(super) fn estimate_again(self, block_index: usize) {
        self.with_room(|Room { heights, columns }| {
            let index = self.entry_of(block_index).filter(|index| !self.drawn_now().contains(index));
            if let Some(index) = index {
                heights.set(index, self.entries.with_untracked(|entries| entries[index].px(*columns)));
            }
        });
    }
}

/// The new index of the entry that was at `was`, when there were `before` entries.
fn moved(entries: &[Entry], id: &BlockId, was: usize, before: usize) -> usize {
    let shifted = (was + entries.len()).saturating_sub(before);
    let is_it = |index: &usize| entries.get(*index).is_some_and(|entry| entry.id() == id);
    let near = [was, shifted].into_iter().find(is_it);
    let last = entries.len().saturating_sub(1);
    near.or_else(|| entries.iter().position(|entry| entry.id() == id)).unwrap_or(shifted.min(last))
}

fn within(range: &Range<usize>, len: usize) -> Range<usize> {
    let end = range.end.min(len);
    range.start.min(end)..end
}
