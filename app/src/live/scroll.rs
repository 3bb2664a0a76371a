//! Where the reader is in the transcript: follows the end only from the end, and moves nothing that is being read.
//!
//! The browser's own anchoring is off (it does nothing at the very top, and knows nothing of blocks that are not
//! drawn): whatever changes above, the first block in sight is put back to where it was, before it is painted.

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

/// Below the top of the view a block is put that somebody goes to, in CSS pixels.
const MARGIN_PX: f64 = 12.0;

thread_local! {
    static LOG: RefCell<Option<Attached>> = const { RefCell::new(None) };
    static ATTACHED: Cell<u64> = const { Cell::new(0) };
}

/// The log, and what calls it.
struct Attached {
    /// Told to the page, so that it can end exactly its own.
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

/// Takes charge of the scrolling of `#log`, and of which of the rows are drawn. `told` hears when following begins or
/// ends, `near_start` that the reader comes near the first of the rows. The number ends exactly this charge.
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
    // After the layout and before the paint.
    let on_resize = Closure::<dyn Fn()>::new(|| {
        with_log(Log::resized);
    });
    // As soon as blocks have come or gone, and before anything can be painted.
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

/// The page is gone for good.
pub(crate) fn log_detach(number: u64) {
    if let Some(attached) = put_aside::take(number) {
        attached.end();
    }
}

/// Goes to the linked block, else to the one in the address, or back to the place of the last visit, or to the end. False
/// when that place is in an older page that has to be loaded first.
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

/// The block that the router's address leads to. Only a browser knows it: what is after `#` is not sent.
pub(crate) fn linked(hash: Memo<String>) -> Option<String> {
    hash.with_untracked(|hash| place::id_in(hash))
}

/// To the block with the element of this id, drawn or not: it is in the page before the next frame is painted. False
/// when it is not among the rows.
pub(crate) fn log_show(id: &str) -> bool {
    with_log(|log| log.show(id)).unwrap_or(false)
}

/// To the newest open question, which may be out of sight and not drawn. False when there is none.
pub(crate) fn log_to_question() -> bool {
    let go = |log: &mut Log| log.rooms.rows.open_question().map(|index| log.go(index, MARGIN_PX));
    with_log(go).flatten().is_some()
}

pub(crate) fn log_to_end() {
    with_log(Log::return_to_end);
}

/// A block was opened: what is read stays where it is.
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

/// Makes a change above of what is read, which stays where it is.
pub(crate) fn log_keep_place(change: impl FnOnce()) {
    with_log(|log| log.anchor.hold(&log.rooms));
    change();
    // Of a long transcript nothing in the page may have changed but the room above.
    with_log(Log::settle);
}

/// To the heading of the next or the previous turn.
pub(crate) fn log_to_turn(step: i32) {
    with_log(|log| log.go_to_turn(step));
}

/// `Home` and `End` mean the whole transcript, also what is not drawn. Other keys are the browser's.
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
