//! Key presses outside of fields.

use leptos::web_sys::KeyboardEvent;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::HtmlElement;

use super::{KeyPress, browser::document};

/// The key, if it was pressed without a modifier, is not repeating, and does not go into a field.
pub(crate) fn plain_key(event: &KeyboardEvent) -> Option<String> {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.repeat());
    (is_plain && !is_field(event)).then(|| event.key())
}

fn is_field(event: &KeyboardEvent) -> bool {
    event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()).is_some_and(|target| {
        match target.tag_name().as_str() {
            // A checkbox takes no text.
            "INPUT" => target.get_attribute("type").as_deref() != Some("checkbox"),
            "TEXTAREA" | "SELECT" => true,
            _ => target.is_content_editable(),
        }
    })
}

/// AltGr, and Option on a Mac, produce letters.
pub(crate) fn makes_a_letter(event: &KeyboardEvent) -> bool {
    event.get_modifier_state("AltGraph") || event.alt_key() && !event.key().is_ascii()
}

/// Calls `handle` for every key, alone or with Ctrl, Cmd or Alt. It returns whether it has handled the key.
pub(crate) fn on_key(handle: impl Fn(KeyPress) -> bool + 'static) {
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.is_composing() || event.default_prevented() || makes_a_letter(&event) {
            return;
        }
        let in_field = is_field(&event);
        let in_dialog = matches!(document().query_selector("dialog[open]"), Ok(Some(_)));
        let (is_chord, has_shift) = (event.ctrl_key() || event.meta_key(), event.shift_key());
        let has_alt = event.alt_key();
        if handle(KeyPress { key: event.key(), in_dialog, in_field, is_chord, has_shift, has_alt }) {
            event.prevent_default();
        }
    });
    let _ = document().add_event_listener_with_callback("keydown", listener.as_ref().unchecked_ref());
    listener.forget();
}
