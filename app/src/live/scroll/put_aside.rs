//! The logs of pages that were left a moment ago: each is found as it was left.

use std::cell::RefCell;

use super::{Attached, LOG, folded::Folded, log::Log, pane::Pane, rooms::Rooms};

thread_local! {
    static ASIDE: RefCell<Vec<Attached>> = const { RefCell::new(Vec::new()) };
}

/// The one of this number, in charge or put aside.
pub(super) fn take(number: u64) -> Option<Attached> {
    let in_charge = LOG.with_borrow_mut(|attached| attached.take_if(|attached| attached.number == number));
    in_charge.or_else(|| {
        ASIDE.with_borrow_mut(|aside| {
            let index = aside.iter().position(|attached| attached.number == number)?;
            Some(aside.remove(index))
        })
    })
}

/// Its page is about to leave the sight.
pub(crate) fn log_put_aside(number: u64) {
    let Some(mut attached) = take(number) else { return };
    attached.log.leave();
    attached.rest();
    ASIDE.with_borrow_mut(|aside| aside.push(attached));
}

/// Its page has left the document, and nobody is kept waiting any more.
pub(crate) fn log_fold(number: u64) {
    ASIDE.with_borrow_mut(|aside| {
        let attached = aside.iter_mut().find(|attached| attached.number == number);
        if let Some(Rooms { pane, folded: Some(folded), .. }) = attached.map(|attached| &mut attached.log.rooms) {
            folded.fold(pane);
        }
    });
}

/// Its page is in the document again: what was read is where it was, before it is painted.
pub(crate) fn log_take_back(number: u64) {
    let Some(mut attached) = take(number) else { return };
    attached.log.come_back();
    attached.listen();
    LOG.set(Some(attached));
}

impl Log {
    fn leave(&mut self) {
        if !self.following && self.visit.sought.is_none() {
            self.anchor.hold(&self.rooms);
        }
        // Else whoever waits for that would find the next page's log.
        self.is_waiting = false;
        self.visit.save(&self.rooms, self.following);
        self.is_looking = false;
        if self.rooms.folded.is_none() && self.visit.sought.is_none() {
            self.rooms.folded = Folded::plan(&self.rooms.pane);
        }
    }

    /// An element that was out of the document does not know any more how far it was scrolled.
    fn come_back(&mut self) {
        // Who came back at once finds all of it in its place.
        self.rooms.folded.take_if(|folded| !folded.is_done);
        self.rooms.set_heights();
        let scroller = &self.rooms.pane.scroller;
        scroller.set_scroll_top(self.anchor.last_top);
        self.anchor.last_top = scroller.scroll_top();
        self.anchor.held_at = self.anchor.last_top;
        self.anchor.is_going = !self.following && self.anchor.held.is_some();
        self.settle();
        self.is_just_back = true;
        self.unfold_soon();
        self.draw_rest();
    }

    /// Something has another size, or is observed from now on: the latter alone changes nothing.
    pub(super) fn resized(&mut self) {
        let is_as_it_was = || {
            let Pane { scroller, drawn, .. } = &self.rooms.pane;
            (scroller.scroll_height(), scroller.scroll_top()) == (self.last_height, self.anchor.last_top)
                && drawn.client_width() == self.rooms.width
        };
        if !(self.is_just_back && is_as_it_was()) {
            self.settle();
        }
        self.is_just_back = false;
    }
}
