//! The scroll position of the transcript: it follows the end only if it was at the end, and never moves what is being
//! read.
//!
//! The browser's own scroll anchoring is off, because it does nothing at the very top and knows nothing of blocks
//! that are not drawn. Instead, whatever changes above, the first visible block is put back where it was before the
//! next paint.

mod anchor;
mod folded;
mod going;
mod log;
mod opened;
mod pane;
mod place;
mod put_aside;
mod rooms;

use std::cell::{Cell, RefCell};

use leptos::{
    prelude::{Memo, WithUntracked},
    web_sys::KeyboardEvent,
};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{MutationObserver, MutationObserverInit, ResizeObserver};

pub(crate) use self::put_aside::{log_fold, log_put_aside, log_take_back};
use self::{log::Log, place::Target};
use super::browser;
use crate::rows::Rows;

/// A block that is gone to is placed this far below the top of the view, in CSS pixels.
const MARGIN_PX: f64 = 12.0;

thread_local! {
    static LOG: RefCell<Option<Attached>> = const { RefCell::new(None) };
    static ATTACHED: Cell<u64> = const { Cell::new(0) };
}

/// The log, and its observers and listeners.
struct Attached {
    /// Returned to the page, so that it detaches exactly its own log.
    number: u64,
    log: Log,
    resizes: ResizeObserver,
    changes: MutationObserver,
    on_scroll: Closure<dyn Fn()>,
    on_hash: Closure<dyn Fn()>,
    _on_resize: Closure<dyn Fn()>,
    _on_change: Closure<dyn Fn()>,
}

fn with_log<T>(use_it: impl FnOnce(&mut Log) -> T) -> Option<T> {
    LOG.with_borrow_mut(|attached| attached.as_mut().map(|attached| use_it(&mut attached.log)))
}

/// Takes over the scrolling of `#log` and the choice of which rows are drawn. `told` is called when following begins
/// or ends, `near_start` when the view comes near the first row. The returned number detaches exactly this log.
pub(crate) fn log_attach(
    key: String,
    rows: Rows,
    told: impl Fn(bool) + 'static,
    near_start: impl Fn() + 'static,
) -> u64 {
    if let Some(before) = LOG.take() {
        before.end();
    }
    let number = ATTACHED.get() + 1;
    ATTACHED.set(number);
    let log = Log::find(key, rows, Box::new(told), Box::new(near_start));
    if let Some(attached) = log.and_then(|log| attached(number, log)) {
        attached.listen();
        LOG.set(Some(attached));
        with_log(Log::begin);
    }
    number
}

fn attached(number: u64, log: Log) -> Option<Attached> {
    let on_scroll = Closure::<dyn Fn()>::new(|| {
        with_log(Log::scrolled);
    });
    let on_hash = Closure::<dyn Fn()>::new(|| {
        with_log(|log| place::linked().is_some_and(|id| log.show(&id)));
    });
    // Runs after layout and before paint.
    let on_resize = Closure::<dyn Fn()>::new(|| {
        with_log(Log::resized);
    });
    // Runs as soon as blocks have been added or removed, before anything is painted.
    let on_change = Closure::<dyn Fn()>::new(|| {
        with_log(Log::settle);
    });
    let resizes = ResizeObserver::new(on_resize.as_ref().unchecked_ref()).ok()?;
    let changes = MutationObserver::new(on_change.as_ref().unchecked_ref()).ok()?;
    Some(Attached { number, log, resizes, changes, on_scroll, on_hash, _on_resize: on_resize, _on_change: on_change })
}

impl Attached {
    fn listen(&self) {
        self.log.rooms.pane.observed().into_iter().for_each(|element| self.resizes.observe(element));
        let children = MutationObserverInit::new();
        children.set_child_list(true);
        let _ = self.changes.observe_with_options(&self.log.rooms.pane.drawn, &children);
        let on_scroll = self.on_scroll.as_ref().unchecked_ref();
        let _ = self.log.rooms.pane.scroller.add_event_listener_with_callback("scroll", on_scroll);
        let on_hash = self.on_hash.as_ref().unchecked_ref();
        let _ = browser::window().add_event_listener_with_callback("hashchange", on_hash);
    }

    fn rest(&self) {
        self.resizes.disconnect();
        self.changes.disconnect();
        let on_scroll = self.on_scroll.as_ref().unchecked_ref();
        let _ = self.log.rooms.pane.scroller.remove_event_listener_with_callback("scroll", on_scroll);
        let on_hash = self.on_hash.as_ref().unchecked_ref();
        let _ = browser::window().remove_event_listener_with_callback("hashchange", on_hash);
    }

    fn end(mut self) {
        self.log.end();
        self.rest();
    }
}

/// Detaches the log of a page that is gone for good.
pub(crate) fn log_detach(number: u64) {
    if let Some(attached) = put_aside::take(number) {
        attached.end();
    }
}

/// Goes to the linked block, else to the one in the address, else back to the place of the last visit, else to the
/// end. Returns false if that place is in an older page that has to be loaded first.
pub(crate) fn log_restore(linked: Option<&str>) -> bool {
    let linked = linked.map(|id| Target::Block(id.to_owned()));
    let restore = |log: &mut Log| {
        let rows = log.rooms.rows;
        let target = log.visit.sought.take().or(linked).or_else(|| log.visit.wanted(rows));
        let (id, offset) = match &target {
            Some(Target::Block(id)) => (id.clone(), MARGIN_PX),
            Some(Target::Place(place)) => (place.anchor.clone(), place.offset),
            None => Default::default(),
        };
        if target.is_some() && log.go_to_block(&id, offset) {
            return true;
        }
        if target.is_some() && rows.is_older(&id) {
            log.follow(false);
            log.visit.sought = target;
            return false;
        }
        log.return_to_end();
        true
    };
    with_log(restore).unwrap_or(true)
}

/// The block named by the fragment of the router's address. Only a browser knows it, because the fragment is not sent
/// to the server.
pub(crate) fn linked(hash: Memo<String>) -> Option<String> {
    hash.with_untracked(|hash| place::id_in(hash))
}

/// Goes to the block with this element id, drawn or not: it is in the document before the next paint. Returns false
/// if it is not among the rows.
pub(crate) fn log_show(id: &str) -> bool {
    with_log(|log| log.show(id)).unwrap_or(false)
}

/// Goes to the newest open approval, which may be out of view and not drawn. Returns false if there is none.
pub(crate) fn log_to_question() -> bool {
    let go = |log: &mut Log| log.rooms.rows.open_question().map(|index| log.go(index, MARGIN_PX));
    with_log(go).flatten().is_some()
}

pub(crate) fn log_to_end() {
    with_log(Log::return_to_end);
}

/// Stops following the end after a block was opened, so that what is being read stays in place.
pub(crate) fn log_stop_following() {
    with_log(Log::stop_following);
    browser::before_paint(|| {
        with_log(|log| {
            if log.rooms.pane.is_at_end() {
                log.follow(true);
            }
        });
    });
}

/// Makes a change above what is being read, which stays in place.
pub(crate) fn log_keep_place(change: impl FnOnce()) {
    with_log(|log| log.anchor.hold(&log.rooms));
    change();
    // In a long transcript the change may affect nothing in the document but the height of the spacer above.
    with_log(Log::settle);
}

/// Goes to the heading of the next or previous turn.
pub(crate) fn log_to_turn(step: i32) {
    with_log(|log| log.go_to_turn(step));
}

/// `Home` and `End` go to the ends of the whole transcript, including what is not drawn. Other keys are left to the
/// browser.
pub(crate) fn log_key(event: &KeyboardEvent) {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.shift_key());
    let is_here = event.target() == event.current_target();
    match event.key().as_str() {
        "Home" if is_plain && is_here => {
            event.prevent_default();
            with_log(Log::go_to_start);
        }
        "End" if is_plain && is_here => {
            event.prevent_default();
            with_log(Log::return_to_end);
        }
        _ => (),
    }
}
