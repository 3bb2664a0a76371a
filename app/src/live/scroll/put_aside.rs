//! The logs of pages that were left a moment ago, so that each can be restored as it was.

use std::cell::RefCell;

use super::{Attached, LOG, folded::Folded, log::Log, pane::Pane, rooms::Rooms};

thread_local! {
    static ASIDE: RefCell<Vec<Attached>> = const { RefCell::new(Vec::new()) };
}

/// Removes the log with this number, whether current or put aside.
pub(super) fn take(number: u64) -> Option<Attached> {
    let in_charge = LOG.with_borrow_mut(|attached| attached.take_if(|attached| attached.number == number));
    in_charge.or_else(|| {
        ASIDE.with_borrow_mut(|aside| {
            let index = aside.iter().position(|attached| attached.number == number)?;
            Some(aside.remove(index))
        })
    })
}

/// Puts the log aside when its page is about to go off screen.
pub(crate) fn log_put_aside(number: u64) {
    let Some(mut attached) = take(number) else { return };
    attached.log.leave();
    attached.rest();
    ASIDE.with_borrow_mut(|aside| aside.push(attached));
}

/// Folds the log of a page that has left the document, when nobody is waiting any more.
pub(crate) fn log_fold(number: u64) {
    ASIDE.with_borrow_mut(|aside| {
        let attached = aside.iter_mut().find(|attached| attached.number == number);
        if let Some(Rooms { pane, folded: Some(folded), .. }) = attached.map(|attached| &mut attached.log.rooms) {
            folded.fold(pane);
        }
    });
}

/// Restores the log when its page is back in the document: what was being read is in place before the next paint.
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
        // Otherwise a pending idle timer would act on the next page's log.
        self.is_waiting = false;
        self.visit.save(&self.rooms, self.following);
        self.is_looking = false;
        if self.rooms.folded.is_none() && self.visit.sought.is_none() {
            self.rooms.folded = Folded::plan(&self.rooms.pane);
        }
    }

    /// Restores the scroll position, which an element loses while it is out of the document.
    fn come_back(&mut self) {
        // After an immediate return nothing has been folded yet.
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

    /// Handles a resize, or the first observation of an element, which by itself changes nothing.
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
