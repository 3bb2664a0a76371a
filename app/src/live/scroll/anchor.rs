//! The block that is held in place: the first visible one, or the one that is being gone to.

use web_sys::HtmlElement;

use super::{super::browser, pane::top_of, rooms::Rooms};
use crate::rows::View;

/// More is fetched when fewer than this many screens remain above the view.
pub(super) const NEAR_START_SCREENS: f64 = 2.0;

/// Scrolling by at least this much less than asked means that there was no more to scroll.
const CLAMPED_PX: i32 = 2;

/// The block that is held in place.
pub(super) struct Held {
    /// The id of its element.
    pub(super) id: String,
    /// The distance of its top below the top of the view, in CSS pixels, as of `Anchor::held_at`.
    pub(super) offset: f64,
}

/// The block that is held in place, and the scroll position.
pub(super) struct Anchor {
    pub(super) held: Option<Held>,
    /// The scroll position when the block was taken hold of: you may have scrolled since, with the event still
    /// pending.
    pub(super) held_at: i32,
    /// Whether the held block is to be scrolled to.
    pub(super) is_going: bool,
    pub(super) last_top: i32,
}

impl Anchor {
    /// Takes hold of the first visible block; where none is drawn, of the one that belongs there.
    pub(super) fn hold(&mut self, rooms: &Rooms) {
        if rooms.folded.is_some() {
            return;
        }
        self.is_going = false;
        self.held_at = rooms.pane.scroller.scroll_top();
        self.held = match rooms.pane.first_in_sight() {
            Some(block) => Some(Held { offset: rooms.pane.offset_of(&block), id: block.id() }),
            None => unseen(rooms),
        };
    }

    fn held_block(&self, rooms: &Rooms) -> Option<(HtmlElement, f64)> {
        let held = self.held.as_ref()?;
        // A call that has been merged into a group is found in that group.
        let heir = || browser::element(&rooms.rows.window.dom_id_at(rooms.rows.index_of(&held.id)?)?);
        let block = browser::element(&held.id).or_else(heir).filter(|block| rooms.pane.drawn.contains(Some(block)))?;
        Some((block, held.offset))
    }

    /// Whether the block that is gone to is not drawn yet. It will be: the drawn range follows it.
    pub(super) fn is_on_its_way(&self, rooms: &Rooms) -> bool {
        let is_here = |held: &Held| rooms.rows.index_of(&held.id).is_some();
        self.is_going && self.held.as_ref().is_some_and(is_here) && self.held_block(rooms).is_none()
    }

    /// The visible range, computed from the known heights.
    pub(super) fn view(&self, rooms: &Rooms, is_following: bool) -> Option<View> {
        let height = rooms.pane.screen_px();
        let held = self.held.as_ref();
        let index = if is_following { None } else { Some(rooms.rows.index_of(&held?.id)?) };
        let top = rooms.rows.window.with_heights(|heights| {
            let end = heights.total() - height;
            let top = index.map_or(end, |index| heights.above(index) - held.map_or(0.0, |held| held.offset));
            top.min(end).max(0.0)
        })?;
        (height > 0.0).then_some(View { top, height })
    }

    /// Scrolls the held block back to where it was.
    pub(super) fn put_back(&mut self, rooms: &mut Rooms) {
        if self.is_on_its_way(rooms) {
            return;
        }
        let Some((block, wanted)) = self.held_block(rooms) else {
            self.hold(rooms);
            return self.put_right_if_due(rooms);
        };
        // Do not undo scrolling that you did in the meantime.
        let scrolled = if self.is_going { 0 } else { rooms.pane.scroller.scroll_top() - self.held_at };
        let wanted = wanted - f64::from(scrolled);
        let moved = rooms.pane.offset_of(&block) - wanted;
        let is_clamped = moved > 0.0 && rooms.pane.distance_to_end() <= 0;
        if std::mem::take(&mut self.is_going) {
            self.scroll_by(rooms, moved.round() as i32);
        } else if moved.abs() >= 0.05 && !is_clamped {
            let room = rooms.above_px - moved;
            if room >= 0.0 && rooms.rows.window.drawn_now().start > 0 {
                rooms.above_px = room;
                rooms.set_heights();
            } else {
                self.scroll_by(rooms, moved.round() as i32);
            }
        }
        let offset = rooms.pane.offset_of(&block);
        if let Some(held) = &mut self.held {
            held.offset = if (offset - wanted).abs() > 0.5 { offset } else { wanted };
        }
        self.held_at = rooms.pane.scroller.scroll_top();
        self.put_right_if_due(rooms);
    }

    /// At the start there must be no spacer above at all, and near it the spacer must match what is still to come.
    fn put_right_if_due(&mut self, rooms: &mut Rooms) {
        let lacks = rooms.lacking_px();
        let is_near = rooms.above_px < NEAR_START_SCREENS * rooms.pane.screen_px() && lacks.abs() >= 1.0;
        if is_near || rooms.rows.window.drawn_now().start == 0 && rooms.above_px > 0.0 {
            self.put_right(rooms);
        }
    }

    /// Sets the spacer above to the height that the heights imply, and scrolls by the same amount, so that nothing
    /// appears to move.
    pub(super) fn put_right(&mut self, rooms: &mut Rooms) {
        let px = rooms.lacking_px();
        let px = if rooms.rows.window.drawn_now().start == 0 { px.ceil() } else { px.round() };
        if px != 0.0 {
            rooms.above_px += px;
            rooms.set_heights();
            // What is below has not got its height yet; once it has, the held block is put in place.
            if (px as i32 - self.scroll_by(rooms, px as i32)).abs() > CLAMPED_PX {
                self.is_going = self.held.is_some();
            }
        }
    }

    /// Returns how far it actually scrolled.
    fn scroll_by(&mut self, rooms: &Rooms, px: i32) -> i32 {
        let scroller = &rooms.pane.scroller;
        let before = scroller.scroll_top();
        if px != 0 {
            scroller.set_scroll_top(before + px);
        }
        let by = scroller.scroll_top() - before;
        self.last_top += by;
        self.held_at += by;
        by
    }
}

/// The block that belongs in view when the view is inside one of the spacers.
fn unseen(rooms: &Rooms) -> Option<Held> {
    let (edge, drawn) = (rooms.pane.edge(), rooms.pane.drawn.get_bounding_client_rect());
    let range = rooms.rows.window.drawn_now();
    let (index, offset) = rooms.rows.window.with_heights(|heights| {
        let y = match drawn.top() > edge {
            true => {
                let share = (edge - top_of(&rooms.pane.above)) / rooms.above_px.max(1.0);
                heights.above(range.start) * share.clamp(0.0, 1.0)
            }
            false => heights.above(range.end) + edge - drawn.bottom(),
        };
        let index = heights.at(y);
        (index, heights.above(index) - y)
    })?;
    Some(Held { id: rooms.rows.window.dom_id_at(index)?, offset })
}
