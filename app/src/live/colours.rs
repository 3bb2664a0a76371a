//! Requests the colours of code that is in view: many blocks in one call, and none while it is still streaming.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry};

use super::browser;
use crate::server_fns::{BLOCKS_MAX, CODE_BYTES_MAX, CodeText, Run, highlight};

/// Blocks that come into view within this many milliseconds are requested together.
const GATHER_MS: u32 = 60;
/// How often the last block of a streaming answer is checked again, in milliseconds.
const STREAMING_MS: u32 = 500;
/// How many coloured blocks are cached for when they are drawn again.
const KEPT_MAX: usize = 64;
/// The limit of text in one call, in bytes: less than the server accepts.
const CALL_BYTES_MAX: usize = 8 * CODE_BYTES_MAX;
/// Selects an element that is still growing.
const STREAMING: &str = ".is-streaming > .markup > :last-child";

type Colours = Arc<[Run]>;

struct Ask {
    number: u64,
    element: Element,
    code: CodeText,
    is_seen: bool,
    told: Box<dyn FnOnce(Colours)>,
}

#[derive(Default)]
struct Desk {
    observer: Option<IntersectionObserver>,
    asks: Vec<Ask>,
    kept: VecDeque<(CodeText, Colours)>,
    next: u64,
    is_waiting: bool,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// The cached colours of this code.
pub(crate) fn colours_known(code: &CodeText) -> Option<Arc<[Run]>> {
    DESK.with_borrow(|desk| desk.kept.iter().find(|(known, _)| known == code).map(|(_, colours)| colours.clone()))
}

/// Calls `told` with the colours of this code some time after the element has come into view. The returned number
/// cancels it.
pub(crate) fn colours_when_seen(element: &Element, code: CodeText, told: impl FnOnce(Arc<[Run]>) + 'static) -> u64 {
    DESK.with_borrow_mut(|desk| {
        desk.next += 1;
        let number = desk.next;
        if let Some(observer) = desk.observer() {
            observer.observe(element);
            desk.asks.push(Ask { number, element: element.clone(), code, is_seen: false, told: Box::new(told) });
        }
        number
    })
}

pub(crate) fn colours_forget(number: u64) {
    DESK.with_borrow_mut(|desk| {
        if let Some(at) = desk.asks.iter().position(|ask| ask.number == number) {
            let ask = desk.asks.swap_remove(at);
            if let Some(observer) = &desk.observer {
                observer.unobserve(&ask.element);
            }
        }
    });
}

impl Desk {
    fn observer(&mut self) -> Option<&IntersectionObserver> {
        if self.observer.is_none() {
            let seen = Closure::<dyn Fn(js_sys::Array)>::new(|entries: js_sys::Array| {
                let entries = entries.iter().map(IntersectionObserverEntry::unchecked_from_js);
                let seen = entries.filter(IntersectionObserverEntry::is_intersecting).map(|entry| entry.target());
                let seen: Vec<Element> = seen.collect();
                DESK.with_borrow_mut(|desk| desk.see(&seen));
            });
            self.observer = IntersectionObserver::new(seen.as_ref().unchecked_ref()).ok();
            // It lives for the lifetime of the page.
            seen.forget();
        }
        self.observer.as_ref()
    }

    fn see(&mut self, seen: &[Element]) {
        for ask in self.asks.iter_mut().filter(|ask| seen.contains(&ask.element)) {
            ask.is_seen = true;
        }
        self.wait(GATHER_MS);
    }

    fn wait(&mut self, ms: u32) {
        if !std::mem::replace(&mut self.is_waiting, true) {
            browser::after(ms, call);
        }
    }

    /// Takes what can be requested now. If something cannot be yet, it is kept and another round is scheduled.
    fn take_ready(&mut self) -> Vec<Ask> {
        self.is_waiting = false;
        let mut bytes = 0;
        let (mut ready, mut rest, mut again) = (Vec::new(), Vec::new(), None);
        for ask in self.asks.drain(..) {
            let streams = || ask.element.closest(STREAMING).is_ok_and(|found| found.is_some());
            if !ask.is_seen {
                rest.push(ask);
            } else if streams() {
                again = again.or(Some(STREAMING_MS));
                rest.push(ask);
            } else if ready.len() == BLOCKS_MAX || bytes + ask.code.text.len() > CALL_BYTES_MAX {
                again = Some(GATHER_MS);
                rest.push(ask);
            } else {
                bytes += ask.code.text.len();
                ready.push(ask);
            }
        }
        self.asks = rest;
        if let Some(ms) = again {
            self.wait(ms);
        }
        if let Some(observer) = &self.observer {
            ready.iter().for_each(|ask| observer.unobserve(&ask.element));
        }
        ready
    }

    fn keep(&mut self, code: CodeText, colours: Colours) {
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back((code, colours));
    }
}

/// One call for everything that is ready. If it fails, the blocks stay uncoloured, which is still readable.
fn call() {
    let ready = DESK.with_borrow_mut(Desk::take_ready);
    if ready.is_empty() {
        return;
    }
    spawn_local(async move {
        let blocks = ready.iter().map(|ask| ask.code.clone()).collect();
        let Ok(found) = highlight(blocks).await else { return };
        for (ask, runs) in ready.into_iter().zip(found) {
            let colours: Colours = runs.into();
            DESK.with_borrow_mut(|desk| desk.keep(ask.code, colours.clone()));
            (ask.told)(colours);
        }
    });
}
