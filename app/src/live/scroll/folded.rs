//! While a page waits to be seen again, blocks far from its view are folded away: the browser lays out only the others
//! for the first frame after the return, and the rest a moment later. The rooms above and below stand for them.

use web_sys::Element;

use super::{super::browser, holding::top_of, log::Log, with_log};

/// The class of a block that is folded away.
const CLASS: &str = "is-folded";
/// So many screens around the view stay.
const REACH: f64 = 0.25;
/// After the return they come back so much later, in milliseconds.
const UNFOLD_MS: u32 = 60;

pub(super) struct Folded {
    blocks: Vec<Element>,
    /// When they are due, by the clock that never goes back.
    due_ms: f64,
    /// Of those above and below what stays, in CSS pixels.
    pub(super) above_px: f64,
    pub(super) below_px: f64,
}

impl Log {
    /// Just before the page leaves the document, where everything has its height still.
    pub(super) fn fold(&mut self) {
        let (count, edge, screen) = (self.blocks.length(), top_of(&self.scroller), self.screen_px());
        if self.folded.is_some() || screen == 0.0 || self.sought.is_some() {
            return;
        }
        let first = self.first_block(|bottom| bottom > edge - REACH * screen);
        let end = self.first_block(|bottom| bottom > edge + (1.0 + REACH) * screen).saturating_add(1).min(count);
        let (Some(first_kept), Some(last_kept)) = (self.blocks.item(first), self.blocks.item(end.saturating_sub(1)))
        else {
            return;
        };
        let drawn = self.drawn.get_bounding_client_rect();
        let above_px = top_of(&first_kept) - drawn.top();
        let below_px = drawn.bottom() - last_kept.get_bounding_client_rect().bottom();
        let blocks: Vec<Element> = (0..first).chain(end..count).filter_map(|index| self.blocks.item(index)).collect();
        blocks.iter().for_each(|block| drop(block.class_list().add_1(CLASS)));
        self.folded = Some(Folded { blocks, due_ms: f64::INFINITY, above_px, below_px });
    }

    /// Everything is there again, and what is read stays where it is.
    pub(super) fn unfold(&mut self) {
        let Some(folded) = self.folded.take() else { return };
        folded.blocks.iter().for_each(|block| drop(block.class_list().remove_1(CLASS)));
        self.settle();
    }

    pub(super) fn unfold_soon(&mut self) {
        if let Some(folded) = &mut self.folded {
            folded.due_ms = browser::monotonic_ms() + f64::from(UNFOLD_MS);
            browser::after(UNFOLD_MS + 1, || {
                with_log(Log::unfold_if_due);
            });
        }
    }

    /// Who goes on to the next page at once finds another log here, which has its own time.
    fn unfold_if_due(&mut self) {
        if self.folded.as_ref().is_some_and(|folded| folded.due_ms <= browser::monotonic_ms()) {
            self.unfold();
        }
    }

    /// Index of the first block whose bottom is so; they lie in order. As many as there are when there is none.
    fn first_block(&self, is_it: impl Fn(f64) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.blocks.length());
        while low < high {
            let middle = (low + high) / 2;
            match self.blocks.item(middle).is_some_and(|block| is_it(block.get_bounding_client_rect().bottom())) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }
}
