//! While a page is off screen, blocks far from its view are taken out of the document: on return the browser lays out
//! only the others for the first frame, and the rest a moment later. The spacers above and below stand in for them.

use web_sys::{DocumentFragment, Node};

use super::{
    super::browser,
    log::Log,
    pane::{Pane, top_of},
    with_log,
};

/// The class of the list of blocks while some of them are taken out.
const CLASS: &str = "is-folded";
/// How many screens around the view stay.
const REACH: f64 = 0.25;
/// How long after the return the others come back, in milliseconds.
const UNFOLD_MS: u32 = 60;

/// Which blocks stay, and the height of the others.
pub(super) struct Folded {
    first_kept: Node,
    last_kept: Node,
    pub(super) is_done: bool,
    /// Taken out of the document. Their components keep updating them here, and they are put back in order.
    above: Option<DocumentFragment>,
    below: Option<DocumentFragment>,
    /// When they are due, by the monotonic clock in milliseconds.
    due_ms: f64,
    /// The heights of what is above and below the kept blocks, in CSS pixels.
    pub(super) above_px: f64,
    pub(super) below_px: f64,
}

impl Folded {
    /// Measures which blocks to fold, just before the page goes off screen, while everything still has its height.
    pub(super) fn plan(pane: &Pane) -> Option<Self> {
        let (count, edge, screen) = (pane.blocks.length(), pane.edge(), pane.screen_px());
        let first = pane.first_below(edge - REACH * screen);
        let end = pane.first_below(edge + (1.0 + REACH) * screen).saturating_add(1).min(count);
        let (first_kept, last_kept) = (pane.blocks.item(first)?, pane.blocks.item(end.saturating_sub(1))?);
        let drawn = pane.drawn.get_bounding_client_rect();
        (screen > 0.0).then(|| Self {
            above_px: top_of(&first_kept) - drawn.top(),
            below_px: drawn.bottom() - last_kept.get_bounding_client_rect().bottom(),
            first_kept: first_kept.into(),
            last_kept: last_kept.into(),
            is_done: false,
            above: None,
            below: None,
            due_ms: f64::INFINITY,
        })
    }

    /// Takes the blocks out, once the page is off screen and out of the document.
    pub(super) fn fold(&mut self, pane: &Pane) {
        let is_here = |block: &Node| block.parent_node().is_some_and(|parent| parent.is_same_node(Some(&pane.drawn)));
        if self.is_done || !is_here(&self.first_kept) || !is_here(&self.last_kept) {
            return;
        }
        self.is_done = true;
        let _ = pane.drawn.class_list().add_1(CLASS);
        self.above = moved(|| pane.drawn.first_child().filter(|first| *first != self.first_kept));
        // The node that marks the end of the list must stay where blocks may be appended to it.
        if pane.drawn.last_element_child().is_some_and(|last| *last != self.last_kept) {
            self.below = moved(|| self.last_kept.next_sibling());
        }
    }

    fn unfold(self, pane: &Pane) {
        let _ = pane.drawn.class_list().remove_1(CLASS);
        if let Some(above) = self.above {
            let _ = pane.drawn.insert_before(&above, pane.drawn.first_child().as_ref());
        }
        if let Some(below) = self.below {
            let _ = pane.drawn.append_child(&below);
        }
    }
}

impl Log {
    /// Puts everything back, keeping what is being read in place.
    pub(super) fn unfold(&mut self) {
        if let Some(folded) = self.rooms.folded.take() {
            folded.unfold(&self.rooms.pane);
            self.settle();
        }
    }

    /// Schedules the unfolding. By then another page's log may be current, with a due time of its own.
    pub(super) fn unfold_soon(&mut self) {
        let Some(folded) = &mut self.rooms.folded else { return };
        folded.due_ms = browser::monotonic_ms() + f64::from(UNFOLD_MS);
        let is_due = |folded: &Folded| folded.due_ms <= browser::monotonic_ms();
        browser::after(UNFOLD_MS + 1, move || {
            with_log(|log| {
                if log.rooms.folded.as_ref().is_some_and(is_due) {
                    log.unfold();
                }
            });
        });
    }
}

/// Moves nodes into a fragment, in order, as long as `next` returns one.
fn moved(next: impl Fn() -> Option<Node>) -> Option<DocumentFragment> {
    let fragment = next().map(|_| browser::document().create_document_fragment())?;
    while let Some(node) = next() {
        fragment.append_child(&node).ok()?;
    }
    Some(fragment)
}
