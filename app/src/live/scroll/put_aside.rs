//! The logs of pages that were left a moment ago: each is found as it was left.

use std::cell::RefCell;

use super::{Attached, LOG, log::Log};

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
        if let Some(attached) = aside.iter_mut().find(|attached| attached.number == number) {
            attached.log.fold();
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
        if !self.following && self.sought.is_none() {
            self.hold();
        }
        // Else whoever waits for that would find the next page's log.
        self.save();
        self.is_looking = false;
        self.plan_fold();
    }

    /// An element that was out of the document does not know any more how far it was scrolled.
    fn come_back(&mut self) {
        self.forget_plan();
        self.set_rooms();
        self.scroller.set_scroll_top(self.last_top);
        self.last_top = self.scroller.scroll_top();
        self.held_at = self.last_top;
        self.is_going = !self.following && self.held.is_some();
        self.settle();
        self.is_just_back = true;
        self.unfold_soon();
        self.draw_rest();
    }

    /// Something has another size, or is observed from now on: the latter alone changes nothing.
    pub(super) fn resized(&mut self) {
        let is_as_it_was = || {
            (self.scroller.scroll_height(), self.scroller.scroll_top()) == (self.last_height, self.last_top)
                && self.drawn.client_width() == self.width
        };
        if !(self.is_just_back && is_as_it_was()) {
            self.settle();
        }
        self.is_just_back = false;
    }
}
