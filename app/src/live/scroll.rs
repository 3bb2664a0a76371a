//! Where the reader is in the transcript: follows the end only from the end, and moves nothing that is being read.
//!
//! The browser's own anchoring is off (it does nothing at the very top, and gives up when blocks out of sight get their
//! real height): whatever changes above, the first block in sight is put back to where it was, before it is painted.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, HtmlCollection, HtmlElement, ResizeObserver};

use super::{Memory, browser, kept, remember};

/// So close to the end counts as at the end, in CSS pixels.
const END_PX: i32 = 24;

/// The first block that is in sight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Place {
    following: bool,
    anchor: String,
    /// Of the anchor's top below the top of the view, in CSS pixels.
    offset: f64,
}

struct Log {
    scroller: HtmlElement,
    /// All blocks, in order; follows the page by itself.
    blocks: HtmlCollection,
    /// The first block in sight and its top, below the top of the view, as of the last scrolling.
    held: Option<(Element, f64)>,
    /// Name under which the place is kept.
    key: String,
    following: bool,
    last_top: i32,
    is_saving: bool,
    /// Where the last visit was, until that place has been loaded; nothing is saved over it meanwhile.
    sought: Option<Place>,
    told: Box<dyn Fn(bool)>,
    observer: ResizeObserver,
    on_scroll: Closure<dyn Fn()>,
    _on_resize: Closure<dyn Fn()>,
}

thread_local! {
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

fn with_log<T>(use_it: impl FnOnce(&mut Log) -> T) -> Option<T> {
    LOG.with_borrow_mut(|log| log.as_mut().map(use_it))
}

impl Log {
    fn distance_to_end(&self) -> i32 {
        self.scroller.scroll_height() - self.scroller.scroll_top() - self.scroller.client_height()
    }

    fn go_to_end(&mut self) {
        self.scroller.set_scroll_top(self.scroller.scroll_height());
        self.last_top = self.scroller.scroll_top();
    }

    fn follow(&mut self, following: bool) {
        if self.following != following {
            self.following = following;
            (self.told)(following);
        }
    }

    /// Growing content does not end the following; only a way upwards does.
    fn scrolled(&mut self) {
        let top = self.scroller.scroll_top();
        if self.sought.is_some() {
            self.last_top = top;
            return;
        }
        // Our own corrections come back as scrolling, too; only a person's takes hold of another block.
        if top != self.last_top {
            self.hold();
        }
        if self.distance_to_end() <= END_PX {
            self.follow(true);
        } else if top < self.last_top {
            self.follow(false);
        }
        self.last_top = top;
        if !std::mem::replace(&mut self.is_saving, true) {
            browser::after(200, || {
                with_log(Log::save);
            });
        }
    }

    /// Something has another height than before; this runs after the layout and before the paint.
    fn resized(&mut self) {
        if self.following {
            return self.go_to_end();
        }
        let Some((anchor, wanted)) = &self.held else { return };
        if !anchor.is_connected() {
            return self.hold();
        }
        let moved = (self.offset_of(anchor) - wanted).round() as i32;
        if moved != 0 {
            self.scroller.set_scroll_top(self.scroller.scroll_top() + moved);
            self.last_top = self.scroller.scroll_top();
        }
    }

    fn hold(&mut self) {
        self.held = self.first_in_sight().map(|block| {
            let offset = self.offset_of(&block);
            (block, offset)
        });
    }

    fn offset_of(&self, block: &Element) -> f64 {
        top_of(block) - top_of(&self.scroller)
    }

    fn save(&mut self) {
        self.is_saving = false;
        if !self.scroller.is_connected() || self.sought.is_some() {
            return;
        }
        let Some(anchor) = self.first_in_sight() else { return };
        let offset = self.offset_of(&anchor);
        let place = Place { following: self.following, anchor: anchor.id(), offset };
        if let Ok(text) = serde_json::to_string(&place) {
            remember(Memory::Tab, &self.key, Some(&text));
        }
    }

    /// Blocks lie in order, so the first in sight is found by halving.
    fn first_in_sight(&self) -> Option<Element> {
        let edge = top_of(&self.scroller);
        let (mut low, mut high) = (0, self.blocks.length());
        while low < high {
            let middle = (low + high) / 2;
            match self.blocks.item(middle)?.get_bounding_client_rect().bottom() > edge + 1.0 {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        self.blocks.item(low.min(self.blocks.length().checked_sub(1)?))
    }
}

fn top_of(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}

/// Takes charge of the scrolling of `#log`. `told` hears when following begins or ends.
pub(crate) fn log_attach(key: String, told: impl Fn(bool) + 'static) {
    log_detach();
    let (Some(scroller), Some(content)) = (browser::element("log"), browser::element("log-blocks")) else { return };
    let on_scroll = Closure::<dyn Fn()>::new(|| {
        with_log(Log::scrolled);
    });
    let on_resize = Closure::<dyn Fn()>::new(|| {
        with_log(Log::resized);
    });
    let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else { return };
    let _ = scroller.add_event_listener_with_callback("scroll", on_scroll.as_ref().unchecked_ref());
    observer.observe(&content);
    observer.observe(&scroller);
    let log = Log {
        last_top: scroller.scroll_top(),
        blocks: content.get_elements_by_class_name("block"),
        held: None,
        scroller,
        key,
        following: true,
        is_saving: false,
        sought: None,
        told: Box::new(told),
        observer,
        on_scroll,
        _on_resize: on_resize,
    };
    LOG.set(Some(log));
}

pub(crate) fn log_detach() {
    let Some(mut log) = LOG.take() else { return };
    if log.is_saving {
        log.save();
    }
    log.observer.disconnect();
    let _ = log.scroller.remove_event_listener_with_callback("scroll", log.on_scroll.as_ref().unchecked_ref());
}

/// Goes to the turn in the address, or back to the place of the last visit, or to the end. False when that place is
/// in an older page that has to be loaded first.
pub(crate) fn log_restore() -> bool {
    let hash = browser::window().location().hash().unwrap_or_default();
    let linked = hash.strip_prefix('#').filter(|id| !id.is_empty()).map(str::to_owned);
    with_log(|log| {
        if let Some(target) = linked.as_deref().and_then(browser::element) {
            log.follow(false);
            target.scroll_into_view_with_bool(true);
            log.last_top = log.scroller.scroll_top();
            log.hold();
            return true;
        }
        let kept = || kept(Memory::Tab, &log.key).and_then(|text| serde_json::from_str::<Place>(&text).ok());
        let place = log.sought.take().or_else(kept);
        match place.filter(|place| !place.following) {
            None => log.go_to_end(),
            Some(place) => match browser::element(&place.anchor) {
                None => {
                    log.follow(false);
                    log.sought = Some(place);
                    return false;
                }
                Some(anchor) => {
                    log.follow(false);
                    let moved = log.offset_of(&anchor) - place.offset;
                    log.scroller.set_scroll_top(log.scroller.scroll_top() + moved.round() as i32);
                    log.last_top = log.scroller.scroll_top();
                    log.held = Some((anchor.into(), place.offset));
                }
            },
        }
        true
    })
    .unwrap_or(true)
}

pub(crate) fn log_to_end() {
    with_log(|log| {
        log.sought = None;
        log.go_to_end();
        log.follow(true);
    });
}

/// A block was opened: what is read stays where it is.
pub(crate) fn log_stop_following() {
    with_log(|log| {
        log.follow(false);
        log.hold();
    });
    browser::before_paint(|| {
        with_log(|log| {
            if log.distance_to_end() <= END_PX {
                log.follow(true);
            }
        });
    });
}

/// Makes a change above of what is read. The next layout puts it back.
pub(crate) fn log_keep_place(change: impl FnOnce()) {
    with_log(Log::hold);
    change();
}

/// To the heading of the next or the previous turn.
pub(crate) fn log_to_turn(step: i32) {
    with_log(|log| {
        let Ok(turns) = log.scroller.query_selector_all("[data-turn]") else { return };
        let edge = top_of(&log.scroller);
        let tops: Vec<(f64, Element)> = (0..turns.length())
            .filter_map(|index| turns.item(index)?.dyn_into::<Element>().ok())
            .map(|turn| (top_of(&turn) - edge, turn))
            .collect();
        let target = match step > 0 {
            true => tops.iter().find(|(top, _)| *top > 16.0),
            false => tops.iter().rev().find(|(top, _)| *top < -16.0),
        };
        if let Some((_, turn)) = target {
            log.follow(false);
            turn.scroll_into_view_with_bool(true);
        }
    });
}
