//! While a page waits to be seen again, blocks far from its view are folded away: the browser takes up and lays out only
//! the others for the first frame after the return, and the rest a moment later. The rooms above and below stand for them.

use web_sys::{DocumentFragment, Node};

use super::{
    super::browser,
    log::Log,
    pane::{Pane, top_of},
    with_log,
};

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
    pub(super) is_done: bool,
    /// Out of the document. Whoever draws them goes on with them here: they are put back in their order.
    above: Option<DocumentFragment>,
    below: Option<DocumentFragment>,
    /// When they are due, by the clock that never goes back.
    due_ms: f64,
    /// Of those above and below what stays, in CSS pixels.
    pub(super) above_px: f64,
    pub(super) below_px: f64,
}

impl Folded {
    /// Just before the page leaves the sight, where everything has its height still: measures only.
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

    /// Once the page is out of sight, and out of the document.
    pub(super) fn fold(&mut self, pane: &Pane) {
        let is_here = |block: &Node| block.parent_node().is_some_and(|parent| parent.is_same_node(Some(&pane.drawn)));
        if self.is_done || !is_here(&self.first_kept) || !is_here(&self.last_kept) {
            return;
        }
        self.is_done = true;
        let _ = pane.drawn.class_list().add_1(CLASS);
        self.above = moved(|| pane.drawn.first_child().filter(|first| *first != self.first_kept));
        // What marks the end of the list stays where something may be added to it.
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
    /// Everything is there again, and what is read stays where it is.
    pub(super) fn unfold(&mut self) {
        if let Some(folded) = self.rooms.folded.take() {
            folded.unfold(&self.rooms.pane);
            self.settle();
        }
    }

    /// Who goes on to the next page at once finds another log here, which has its own time.
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

/// All that is next, in its order.
fn moved(next: impl Fn() -> Option<Node>) -> Option<DocumentFragment> {
    let fragment = next().map(|_| browser::document().create_document_fragment())?;
    while let Some(node) = next() {
        fragment.append_child(&node).ok()?;
    }
    Some(fragment)
}
