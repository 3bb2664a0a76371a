//! While a page waits to be seen again, blocks far from its view are folded away: the browser takes up and lays out only
//! the others for the first frame after the return, and the rest a moment later. The rooms above and below stand for them.

use web_sys::{DocumentFragment, Node};

use super::{super::browser, holding::top_of, log::Log, with_log};

/// The class of the list of blocks while some of them are folded away.
const CLASS: &str = "is-folded";
/// So many screens around the view stay.
const REACH: f64 = 0.25;
/// After the return they come back so much later, in milliseconds.
const UNFOLD_MS: u32 = 60;

/// Which blocks stay, and what the others take.
pub(super) struct Folded {
    first_kept: Node,
    last_kept: Node,
    is_done: bool,
    /// Out of the document. Whoever draws them goes on with them here: they are put back in their order.
    above: Option<DocumentFragment>,
    below: Option<DocumentFragment>,
    /// When they are due, by the clock that never goes back.
    due_ms: f64,
    /// Of those above and below what stays, in CSS pixels.
    pub(super) above_px: f64,
    pub(super) below_px: f64,
}

impl Log {
    /// Just before the page leaves the sight, where everything has its height still: measures only.
    pub(super) fn plan_fold(&mut self) {
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
        self.folded = Some(Folded {
            above_px: top_of(&first_kept) - drawn.top(),
            below_px: drawn.bottom() - last_kept.get_bounding_client_rect().bottom(),
            first_kept: first_kept.into(),
            last_kept: last_kept.into(),
            is_done: false,
            above: None,
            below: None,
            due_ms: f64::INFINITY,
        });
    }

    /// Once the page is out of sight, and out of the document.
    pub(super) fn fold(&mut self) {
        let Some(folded) = self.folded.as_mut().filter(|folded| !folded.is_done) else { return };
        let is_here = |block: &Node| block.parent_node().is_some_and(|parent| parent.is_same_node(Some(&self.drawn)));
        if !is_here(&folded.first_kept) || !is_here(&folded.last_kept) {
            return;
        }
        folded.is_done = true;
        let _ = self.drawn.class_list().add_1(CLASS);
        folded.above = moved(|| self.drawn.first_child().filter(|first| *first != folded.first_kept));
        // What marks the end of the list stays where something may be added to it.
        if self.drawn.last_element_child().is_some_and(|last| *last != folded.last_kept) {
            folded.below = moved(|| folded.last_kept.next_sibling());
        }
    }

    /// Who came back at once finds all of it in its place.
    pub(super) fn forget_plan(&mut self) {
        self.folded.take_if(|folded| !folded.is_done);
    }

    /// Everything is there again, and what is read stays where it is.
    pub(super) fn unfold(&mut self) {
        let Some(folded) = self.folded.take() else { return };
        let _ = self.drawn.class_list().remove_1(CLASS);
        if let Some(above) = folded.above {
            let _ = self.drawn.insert_before(&above, self.drawn.first_child().as_ref());
        }
        if let Some(below) = folded.below {
            let _ = self.drawn.append_child(&below);
        }
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

/// All that is next, in its order.
fn moved(next: impl Fn() -> Option<Node>) -> Option<DocumentFragment> {
    let fragment = next().map(|_| browser::document().create_document_fragment())?;
    while let Some(node) = next() {
        fragment.append_child(&node).ok()?;
    }
    Some(fragment)
}
