//! What is drawn, and the spacers above and below for what is not: measured and set.

use std::ops::Range;

use web_sys::{Element, HtmlElement};

use super::{super::browser, folded::Folded, opened::Opened, pane::Pane, pane::top_of};
use crate::rows::Rows;

/// The width of a character in CSS pixels, only for estimates.
const LETTER_PX: i32 = 8;

pub(super) struct Rooms {
    pub(super) pane: Pane,
    pub(super) rows: Rows,
    /// Height of the spacer above, in CSS pixels. While you scroll it absorbs the errors of the estimates, so that
    /// the view need not be scrolled against your hand.
    pub(super) above_px: f64,
    pub(super) width: i32,
    /// Blocks far from the view, left out of the layout for the first frames after a return.
    pub(super) folded: Option<Folded>,
    opened: Opened,
    has_focus: bool,
}

impl Rooms {
    pub(super) fn new(pane: Pane, rows: Rows) -> Self {
        let (width, opened) = (pane.drawn.client_width(), Opened::default());
        Self { pane, rows, above_px: 0.0, width, folded: None, opened, has_focus: false }
    }

    pub(super) fn begin(&mut self) {
        self.rows.window.begin(columns(self.width));
        self.measure();
    }

    /// Measures the drawn blocks. The last block's height is known only together with the next one, because they may
    /// overlap.
    pub(super) fn measure(&mut self) {
        let window = self.rows.window;
        if self.pane.drawn.client_width() != self.width {
            self.width = self.pane.drawn.client_width();
            window.set_columns(columns(self.width));
        }
        if window.is_whole() || self.folded.is_some() {
            return;
        }
        let (drawn, ids) = (window.drawn_now(), window.drawn_ids());
        let count = self.pane.blocks.length();
        let blocks: Vec<Element> = (0..count).filter_map(|index| self.pane.blocks.item(index)).collect();
        let mut tops: Vec<f64> = blocks.iter().map(top_of).collect();
        tops.push(self.pane.drawn.get_bounding_client_rect().bottom());
        let mut next = 0;
        let mut px = Vec::with_capacity(ids.len());
        for id in &ids {
            let is_it = blocks.get(next).is_some_and(|block| block.id() == *id);
            px.push(if is_it { tops[next + 1] - tops[next] } else { 0.0 });
            next += usize::from(is_it);
        }
        // What is in the document is not yet what is to be drawn; it will be measured later.
        if next != blocks.len() {
            return;
        }
        window.with_heights(|heights| {
            let is_end = drawn.end == heights.len();
            let known = if is_end { px.len() } else { px.len().saturating_sub(1) };
            for (offset, px) in px.into_iter().enumerate().take(known) {
                heights.set(drawn.start + offset, px);
            }
        });
    }

    pub(super) fn set_heights(&mut self) {
        let window = self.rows.window;
        let drawn = window.drawn_now();
        if window.is_whole() {
            self.above_px = 0.0;
        }
        let below = window.with_heights(|heights| heights.total() - heights.above(drawn.end)).unwrap_or_default();
        let folded = self.folded.as_ref().map_or((0.0, 0.0), |folded| (folded.above_px, folded.below_px));
        set_height(&self.pane.above, self.above_px + folded.0);
        set_height(&self.pane.below, below + folded.1);
    }

    /// How much lower the spacer above is than the blocks that it stands for.
    pub(super) fn lacking_px(&self) -> f64 {
        self.px_before(self.rows.window.drawn_now().start) - self.above_px
    }

    fn px_before(&self, index: usize) -> f64 {
        self.rows.window.with_heights(|heights| heights.above(index)).unwrap_or_default()
    }

    /// Draws exactly these rows.
    pub(super) fn draw(&mut self, range: Range<usize>) {
        let start = self.rows.window.drawn_now().start;
        self.above_px = (self.above_px + self.px_before(range.start) - self.px_before(start)).max(0.0);
        self.opened.keep(&self.pane.blocks);
        self.has_focus = self.pane.drawn.contains(browser::document().active_element().as_deref());
        self.rows.window.draw_only(range);
    }

    /// After blocks were added and removed: opens again what was open, and handles a focus that left with its block.
    pub(super) fn drawn(&mut self) {
        if self.folded.is_none() {
            self.opened.restore(&self.pane.blocks);
        }
        let is_lost = || browser::document().active_element().is_none_or(|active| active.tag_name() == "BODY");
        if std::mem::take(&mut self.has_focus) && is_lost() {
            let _ = self.pane.scroller.focus();
        }
    }
}

/// Estimated characters per line at this width.
fn columns(px: i32) -> usize {
    (px / LETTER_PX).max(20) as usize
}

fn set_height(element: &HtmlElement, px: f64) {
    // In hundredths, with integers: formatting a float takes 24 kB of code that nothing else needs.
    let hundredths = (px.max(0.0) * 100.0).round() as u64;
    let height = format!("{}.{:02}px", hundredths / 100, hundredths % 100);
    let _ = element.style().set_property("height", &height);
}
