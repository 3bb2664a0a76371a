//! The rooms above and below for what is not drawn: measured, set, and put right, while what is read stays in its place.

use web_sys::{Element, HtmlElement};

use super::{
    holding::top_of,
    log::{Log, NEAR_START_SCREENS, columns},
};

/// Scrolled by so much less than was asked: there was no more to scroll.
const CLAMPED_PX: i32 = 2;

impl Log {
    /// Takes the heights of what is drawn. The last block's is known only with the one after it: they may overlap.
    pub(super) fn measure(&mut self) {
        if self.drawn.client_width() != self.width {
            self.width = self.drawn.client_width();
            self.rows.set_columns(columns(self.width));
        }
        if self.rows.is_whole() || self.folded.is_some() {
            return;
        }
        let (drawn, ids) = (self.rows.drawn_now(), self.rows.drawn_ids());
        let blocks: Vec<Element> = (0..self.blocks.length()).filter_map(|index| self.blocks.item(index)).collect();
        let mut tops: Vec<f64> = blocks.iter().map(top_of).collect();
        tops.push(self.drawn.get_bounding_client_rect().bottom());
        let mut next = 0;
        let mut px = Vec::with_capacity(ids.len());
        for id in &ids {
            let is_it = blocks.get(next).is_some_and(|block| block.id() == *id);
            px.push(if is_it { tops[next + 1] - tops[next] } else { 0.0 });
            next += usize::from(is_it);
        }
        // What is in the page is not what is to be drawn: another look follows.
        if next != blocks.len() {
            return;
        }
        self.rows.with_heights(|heights| {
            let is_end = drawn.end == heights.len();
            let known = if is_end { px.len() } else { px.len().saturating_sub(1) };
            for (offset, px) in px.into_iter().enumerate().take(known) {
                heights.set(drawn.start + offset, px);
            }
        });
    }

    pub(super) fn set_rooms(&mut self) {
        let drawn = self.rows.drawn_now();
        if self.rows.is_whole() {
            self.above_px = 0.0;
        }
        let below = self.rows.with_heights(|heights| heights.total() - heights.above(drawn.end)).unwrap_or_default();
        let folded = self.folded.as_ref().map_or((0.0, 0.0), |folded| (folded.above_px, folded.below_px));
        set_height(&self.above, self.above_px + folded.0);
        set_height(&self.below, below + folded.1);
    }

    /// The held block goes back to where it was.
    pub(super) fn put_back(&mut self) {
        if self.is_on_its_way() {
            return;
        }
        let Some((block, wanted)) = self.held_block() else {
            self.hold();
            return self.put_right_if_due();
        };
        // Who has scrolled on is not taken back.
        let scrolled = if self.is_going { 0 } else { self.scroller.scroll_top() - self.held_at };
        let wanted = wanted - f64::from(scrolled);
        let moved = self.offset_of(&block) - wanted;
        let is_clamped = moved > 0.0 && self.distance_to_end() <= 0;
        if std::mem::take(&mut self.is_going) {
            self.scroll_by(moved.round() as i32);
        } else if moved.abs() >= 0.05 && !is_clamped {
            let room = self.above_px - moved;
            match room >= 0.0 && self.rows.drawn_now().start > 0 {
                true => {
                    self.above_px = room;
                    self.set_rooms();
                }
                false => self.scroll_by(moved.round() as i32),
            }
        }
        let offset = self.offset_of(&block);
        if let Some(held) = &mut self.held {
            held.offset = if (offset - wanted).abs() > 0.5 { offset } else { wanted };
        }
        self.held_at = self.scroller.scroll_top();
        self.put_right_if_due();
    }

    /// At the start there is no room above at all, and near it there is as much as there is to come.
    pub(super) fn put_right_if_due(&mut self) {
        let lacks = self.lacking_px();
        let is_near = self.above_px < NEAR_START_SCREENS * self.screen_px() && lacks.abs() >= 1.0;
        if is_near || self.rows.drawn_now().start == 0 && self.above_px > 0.0 {
            self.put_right();
        }
    }

    /// Makes the room above as high as the heights say, and scrolls by as much: nothing is seen to move.
    pub(super) fn put_right(&mut self) {
        let px = self.lacking_px();
        let px = if self.rows.drawn_now().start == 0 { px.ceil() } else { px.round() };
        if px != 0.0 {
            self.above_px += px;
            self.set_rooms();
            let before = self.scroller.scroll_top();
            self.scroll_by(px as i32);
            let short = px as i32 - (self.scroller.scroll_top() - before);
            // What is below has not got its height yet: once it has, the held block goes to its place.
            if short.abs() > CLAMPED_PX {
                self.is_going = self.held.is_some();
            }
        }
    }

    pub(super) fn lacking_px(&self) -> f64 {
        let start = self.rows.drawn_now().start;
        self.rows.with_heights(|heights| heights.above(start)).unwrap_or_default() - self.above_px
    }

    pub(super) fn scroll_by(&mut self, px: i32) {
        if px != 0 {
            let before = self.scroller.scroll_top();
            self.scroller.set_scroll_top(before + px);
            let by = self.scroller.scroll_top() - before;
            self.last_top += by;
            self.held_at += by;
        }
    }
}

fn set_height(element: &HtmlElement, px: f64) {
    // To a hundredth, in whole numbers: printing any float is 24 kB of code that nothing else needs.
    let hundredths = (px.max(0.0) * 100.0).round() as u64;
    let height = format!("{}.{:02}px", hundredths / 100, hundredths % 100);
    let _ = element.style().set_property("height", &height);
}
