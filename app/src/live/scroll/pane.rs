//! The elements of the scrolling part of a Pod's page, and their measurements.

use web_sys::{Element, HtmlCollection, HtmlElement};

use super::super::browser;

/// Within this distance the view counts as at the end, in CSS pixels.
const END_PX: i32 = 24;

pub(super) struct Pane {
    pub(super) scroller: HtmlElement,
    pub(super) earlier: HtmlElement,
    pub(super) above: HtmlElement,
    pub(super) drawn: HtmlElement,
    pub(super) below: HtmlElement,
    /// The drawn elements in order, as a live collection.
    pub(super) blocks: HtmlCollection,
}

impl Pane {
    pub(super) fn find() -> Option<Self> {
        let drawn = browser::element("log-drawn")?;
        Some(Self {
            scroller: browser::element("log")?,
            earlier: browser::element("log-earlier")?,
            above: browser::element("log-above")?,
            below: browser::element("log-below")?,
            blocks: drawn.children(),
            drawn,
        })
    }

    /// The elements whose size is observed. Not the spacers: we set their height ourselves.
    pub(super) fn observed(&self) -> [&HtmlElement; 3] {
        [&self.scroller, &self.earlier, &self.drawn]
    }

    /// The top of the view.
    pub(super) fn edge(&self) -> f64 {
        top_of(&self.scroller)
    }

    pub(super) fn screen_px(&self) -> f64 {
        f64::from(self.scroller.client_height())
    }

    pub(super) fn has_one_screen(&self) -> bool {
        self.scroller.scroll_height() <= self.scroller.client_height()
    }

    pub(super) fn distance_to_end(&self) -> i32 {
        self.scroller.scroll_height() - self.scroller.scroll_top() - self.scroller.client_height()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.distance_to_end() <= END_PX
    }

    pub(super) fn offset_of(&self, block: &Element) -> f64 {
        top_of(block) - self.edge()
    }

    /// Index of the first block that ends below `y`, or the number of blocks if none does. Binary search, because
    /// blocks are in order.
    pub(super) fn first_below(&self, y: f64) -> u32 {
        let (mut low, mut high) = (0, self.blocks.length());
        while low < high {
            let middle = (low + high) / 2;
            match self.blocks.item(middle).is_some_and(|block| block.get_bounding_client_rect().bottom() > y) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    pub(super) fn first_in_sight(&self) -> Option<Element> {
        let edge = self.edge();
        self.blocks.item(self.first_below(edge + 1.0)).filter(|block| top_of(block) < edge + self.screen_px())
    }
}

pub(super) fn top_of(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}
