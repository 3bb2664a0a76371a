//! The block that stays where it is: the first one in sight.

use web_sys::{Element, HtmlElement};

use super::{
    super::browser,
    log::{Held, Log},
};

impl Log {
    /// Takes hold of the first block in sight; where none is drawn, of the one that belongs there.
    pub(super) fn hold(&mut self) {
        if self.folded.is_some() {
            return;
        }
        self.is_going = false;
        self.held_at = self.scroller.scroll_top();
        self.held = match self.first_in_sight() {
            Some(block) => Some(Held { offset: self.offset_of(&block), id: block.id() }),
            None => self.unseen(),
        };
    }

    pub(super) fn held_block(&self) -> Option<(HtmlElement, f64)> {
        let held = self.held.as_ref()?;
        // A call that others have joined stands in their group now.
        let heir = || browser::element(&self.rows.dom_id_at(self.rows.index_of(&held.id)?)?);
        let block = browser::element(&held.id).or_else(heir).filter(|block| self.drawn.contains(Some(block)))?;
        Some((block, held.offset))
    }

    /// The block that is gone to is not drawn yet. It will be: what is drawn follows it.
    pub(super) fn is_on_its_way(&self) -> bool {
        let is_here = |held: &Held| self.rows.index_of(&held.id).is_some();
        self.is_going && self.held.as_ref().is_some_and(is_here) && self.held_block().is_none()
    }

    /// The view is in one of the rooms.
    pub(super) fn unseen(&self) -> Option<Held> {
        let (edge, drawn) = (top_of(&self.scroller), self.drawn.get_bounding_client_rect());
        let range = self.rows.drawn_now();
        let (index, offset) = self.rows.with_heights(|heights| {
            let y = match drawn.top() > edge {
                true => {
                    let share = (edge - top_of(&self.above)) / self.above_px.max(1.0);
                    heights.above(range.start) * share.clamp(0.0, 1.0)
                }
                false => heights.above(range.end) + edge - drawn.bottom(),
            };
            let index = heights.at(y);
            (index, heights.above(index) - y)
        })?;
        Some(Held { id: self.rows.dom_id_at(index)?, offset })
    }

    pub(super) fn offset_of(&self, block: &Element) -> f64 {
        top_of(block) - top_of(&self.scroller)
    }

    /// Blocks lie in order, so the first in sight is found by halving.
    pub(super) fn first_in_sight(&self) -> Option<Element> {
        let edge = top_of(&self.scroller);
        let (mut low, mut high) = (0, self.blocks.length());
        while low < high {
            let middle = (low + high) / 2;
            match self.blocks.item(middle)?.get_bounding_client_rect().bottom() > edge + 1.0 {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        self.blocks.item(low).filter(|block| top_of(block) < edge + self.screen_px())
    }
}

pub(super) fn top_of(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}
