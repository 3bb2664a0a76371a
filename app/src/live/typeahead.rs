//! Holds what is typed for a field that does not exist yet, in a dialog or page whose code has to be fetched first.
//! Until the field is there nothing else gets those keys, neither a message being written nor a shortcut.

use std::cell::{Cell, RefCell};

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, Event, EventInit, HtmlInputElement, KeyboardEvent, KeyboardEventInit};

use super::{
    browser::{before_paint, document, monotonic_ms},
    focus::focus,
};

/// What has not arrived by then may never arrive: the code of an older server cannot be fetched any more. After that,
/// keys work as usual again, Tab included.
const WAIT_MAX_MS: f64 = 10_000.0;

/// The keys held so far, and since when.
struct Held {
    since: f64,
    keys: Vec<String>,
}

thread_local! {
    /// `None` while nothing is awaited.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
    /// The user moved to another field before the awaited one arrived.
    static GIVEN_UP: Cell<bool> = const { Cell::new(false) };
}

impl Held {
    fn is_young(&self) -> bool {
        monotonic_ms() - self.since < WAIT_MAX_MS
    }
}

/// Elements that take text, or that give such a field the focus.
const FIELDS: &str = "input, textarea, select, label";

/// Installs the listener, once. Escape gives up on the awaited field, and so does going to another field.
pub(crate) fn hold_keys(give_up: impl Fn() + Clone + 'static) {
    give_up_for_a_field(give_up.clone());
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if is_chord(&event) || event.is_composing() || !is_for_later(&event.key()) {
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

/// Gives up the awaited field when another one is pressed: typing then goes to the caret there, and a field that
/// arrives later does not take the focus.
fn give_up_for_a_field(give_up: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| {
        let pressed = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if is_awaited() && pressed.is_some_and(|pressed| matches!(pressed.closest(FIELDS), Ok(Some(_)))) {
            keys_wait(false);
            GIVEN_UP.set(true);
            give_up();
        }
    });
    let listen = listener.as_ref().unchecked_ref();
    let _ = document().add_event_listener_with_callback_and_bool("pointerdown", listen, true);
    listener.forget();
}

fn is_awaited() -> bool {
    HELD.with_borrow(Option::is_some) && matches!(document().query_selector("dialog[open]"), Ok(None))
}

/// Whether it is a chord and not a letter: AltGr, and Option on a Mac, produce letters.
fn is_chord(event: &KeyboardEvent) -> bool {
    let has_alt = event.alt_key() && event.key().is_ascii();
    (event.ctrl_key() || event.meta_key() || has_alt) && !event.get_modifier_state("AltGraph")
}

fn is_for_later(key: &str) -> bool {
    let is_young = HELD.with_borrow(|held| held.as_ref().is_some_and(Held::is_young));
    let is_key_of_text = key.chars().count() == 1 || matches!(key, "Backspace" | "Enter" | "Escape" | "Tab");
    is_young && is_awaited() && is_key_of_text
}

/// Starts or stops holding keys.
pub(crate) fn keys_wait(is_awaited: bool) {
    HELD.set(is_awaited.then(|| Held { since: monotonic_ms(), keys: Vec::new() }));
    if is_awaited {
        GIVEN_UP.set(false);
    }
}

/// Focuses the field in which a page begins, once it is drawn, unless the user has moved to another field meanwhile.
pub(crate) fn begin_in(id: &'static str) {
    before_paint(move || {
        if !GIVEN_UP.take() {
            focus(id);
            type_held();
        }
    });
}

/// The awaited field has the focus: types the held keys into it.
pub(super) fn type_held() {
    // Keys held for too long are dropped.
    for key in HELD.take().filter(Held::is_young).into_iter().flat_map(|held| held.keys) {
        let field = document().active_element().and_then(|element| element.dyn_into::<HtmlInputElement>().ok());
        match field.filter(|field| matches!(field.type_().as_str(), "text" | "search")) {
            Some(field) => type_into(&field, &key),
            None => return,
        }
    }
}

/// Types a key into the field by simulating its events: a script cannot press a key.
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
