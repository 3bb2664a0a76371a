//! What a person holds just now: a button that is pressed must not be taken away from under the hand, nor words that are
//! selected.

use std::cell::{Cell, RefCell};

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, Event, KeyboardEvent, MouseEvent};

use super::browser::{after, document, window};

type Work = Box<dyn FnOnce()>;

/// What a hand does, from pressing to letting go. The space bar presses a button when it comes up again.
const SIGNS: [&str; 7] =
    ["pointerdown", "pointerup", "pointercancel", "pointerover", "keydown", "keyup", "selectionchange"];

thread_local! {
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    static IS_DOWN: Cell<bool> = const { Cell::new(false) };
    /// Work that waits until the hand lets go, some of it also until nothing is selected in an element.
    static WAITING: RefCell<Vec<(Option<Element>, Work)>> = const { RefCell::new(Vec::new()) };
}

/// Watches what is pressed on this page, from the first call on.
pub(crate) fn watch_hand() {
    if IS_WATCHED.replace(true) {
        return;
    }
    let listener = Closure::<dyn Fn(Event)>::new(|event: Event| {
        match event.type_().as_str() {
            "pointerdown" => IS_DOWN.set(true),
            "keydown" if event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == " ") => IS_DOWN.set(true),
            "pointerup" | "pointercancel" | "keyup" => IS_DOWN.set(false),
            // A menu of the browser's may have swallowed the end of a press.
            "pointerover" if event.dyn_ref::<MouseEvent>().is_some_and(|event| event.buttons() == 0) => {
                IS_DOWN.set(false);
            }
            _ => (),
        }
        // The press itself comes right after the hand has let go.
        if !IS_DOWN.get() && WAITING.with_borrow(|waiting| !waiting.is_empty()) {
            after(0, look);
        }
    });
    for sign in SIGNS {
        let listen = listener.as_ref().unchecked_ref();
        let _ = document().add_event_listener_with_callback_and_bool(sign, listen, true);
    }
    listener.forget();
}

/// Runs at once, or when nothing is pressed any more, and nothing selected in this view.
pub(crate) fn once_let_go(view: Option<&Element>, run: impl FnOnce() + 'static) {
    run_or_wait(view.cloned(), Box::new(run));
}

fn run_or_wait(view: Option<Element>, run: Work) {
    match IS_DOWN.get() || view.as_ref().is_some_and(is_selected) {
        true => WAITING.with_borrow_mut(|waiting| waiting.push((view, run))),
        false => run(),
    }
}

fn look() {
    for (view, run) in WAITING.take() {
        run_or_wait(view, run);
    }
}

/// Whether something in it is selected.
fn is_selected(view: &Element) -> bool {
    let selection = window().get_selection().ok().flatten().filter(|selection| !selection.is_collapsed());
    selection
        .is_some_and(|selection| selection.contains_node_with_allow_partial_containment(view, true).unwrap_or_default())
}
