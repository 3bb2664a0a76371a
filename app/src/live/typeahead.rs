//! What is typed for a field that is still on its way: in a dialog, or on a page, whose code has to be fetched first.
//! Until it is there nothing else gets those keys, neither a message that is being written nor a shortcut.

use std::cell::RefCell;

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Event, EventInit, HtmlInputElement, KeyboardEvent, KeyboardEventInit};

use super::{
    browser::{before_paint, document, monotonic_ms},
    focus::focus,
};

/// What has not come by then may never come: the code of an older server cannot be fetched any more. Keys are keys again,
/// Tab among them.
const WAIT_MAX_MS: f64 = 10_000.0;

/// The keys so far, and since when.
struct Held {
    since: f64,
    keys: Vec<String>,
}

thread_local! {
    /// None while nothing is on its way.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

impl Held {
    fn is_young(&self) -> bool {
        monotonic_ms() - self.since < WAIT_MAX_MS
    }
}

/// Listens, once. Escape gives up what is on its way.
pub(crate) fn hold_keys(give_up: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        let is_chord = event.ctrl_key() || event.meta_key() || event.alt_key();
        if is_chord || event.is_composing() || !is_for_later(&event.key()) {
            return;
        }
        event.prevent_default();
        event.stop_propagation();
        match event.key().as_str() {
            "Escape" => give_up(),
            "Tab" => (),
            key => HELD.with_borrow_mut(|held| held.iter_mut().for_each(|held| held.keys.push(key.to_owned()))),
        }
    });
    let listen = listener.as_ref().unchecked_ref();
    let _ = document().add_event_listener_with_callback_and_bool("keydown", listen, true);
    listener.forget();
}

fn is_for_later(key: &str) -> bool {
    let is_awaited = HELD.with_borrow(|held| held.as_ref().is_some_and(Held::is_young))
        && matches!(document().query_selector("dialog[open]"), Ok(None));
    is_awaited && (key.chars().count() == 1 || matches!(key, "Backspace" | "Enter" | "Escape" | "Tab"))
}

/// Something is on its way, or not any more.
pub(crate) fn keys_wait(is_awaited: bool) {
    HELD.set(is_awaited.then(|| Held { since: monotonic_ms(), keys: Vec::new() }));
}

/// Gives the focus to the field in which a page begins, once it is drawn.
pub(crate) fn begin_in(id: &'static str) {
    before_paint(move || {
        focus(id);
        type_held();
    });
}

/// It is there and has the focus: it gets what was typed for it.
pub(super) fn type_held() {
    // What was typed before people were let go on is for nobody.
    for key in HELD.take().filter(Held::is_young).into_iter().flat_map(|held| held.keys) {
        let field = document().active_element().and_then(|element| element.dyn_into::<HtmlInputElement>().ok());
        match field.filter(|field| matches!(field.type_().as_str(), "text" | "search")) {
            Some(field) => type_into(&field, &key),
            None => return,
        }
    }
}

/// As if the key were pressed there: a script cannot press it.
fn type_into(field: &HtmlInputElement, key: &str) {
    let init = KeyboardEventInit::new();
    init.set_key(key);
    init.set_bubbles(true);
    init.set_cancelable(true);
    let pressed = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init);
    if !pressed.is_ok_and(|event| field.dispatch_event(&event).unwrap_or(false)) {
        return;
    }
    let mut text = field.value();
    match key {
        "Enter" => {
            if let Some(form) = field.form() {
                let _ = form.request_submit();
            }
            return;
        }
        "Backspace" => drop(text.pop()),
        key => text.push_str(key),
    }
    field.set_value(&text);
    let init = EventInit::new();
    init.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict("input", &init) {
        let _ = field.dispatch_event(&event);
    }
}
