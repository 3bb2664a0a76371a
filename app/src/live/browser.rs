//! The page itself: timers, storage, dialogs, where it leads, how it looks.

use gloo_timers::callback::{Interval, Timeout};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, Document, Element, HtmlDialogElement, HtmlElement, Storage, Window};

use super::{Memory, SYSTEM_THEME, typeahead};

pub(crate) fn window() -> Window {
    web_sys::window().expect("this runs in a page")
}

pub(super) fn document() -> Document {
    window().document().expect("a page has a document")
}

pub(super) fn element(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

pub(super) fn all(selector: &str) -> Vec<HtmlElement> {
    let Ok(found) = document().query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into::<HtmlElement>().ok()).collect()
}

/// Milliseconds since 1970, by the browser's clock.
pub(crate) fn now_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// Never goes back, so it is fit to measure silence.
pub(crate) fn monotonic_ms() -> f64 {
    window().performance().map_or_else(js_sys::Date::now, |performance| performance.now())
}

/// Minutes east of UTC.
pub(crate) fn zone_minutes() -> Option<i32> {
    Some(-js_sys::Date::new_0().get_timezone_offset() as i32)
}

/// Runs for as long as the page lives.
pub(crate) fn every(ms: u32, run: impl Fn() + 'static) {
    Interval::new(ms, run).forget();
}

pub(crate) fn after(ms: u32, run: impl FnOnce() + 'static) {
    Timeout::new(ms, run).forget();
}

/// In the next frame, before it is painted and after everything that has changed is in the page.
pub(super) fn before_paint(run: impl FnOnce() + 'static) {
    let callback = Closure::once_into_js(run);
    let _ = window().request_animation_frame(callback.unchecked_ref());
}

/// With the element of this id: at once, or, where it is only being drawn, before the next paint.
pub(super) fn once_drawn(id: &str, run: impl FnOnce(HtmlElement) + 'static) {
    match element(id) {
        Some(found) => run(found),
        None => {
            let id = id.to_owned();
            before_paint(move || {
                if let Some(found) = element(&id) {
                    run(found);
                }
            });
        }
    }
}

/// In the next frame; in a page that nobody sees, which has no frames, some time later.
pub(crate) fn next_frame(run: impl FnOnce() + 'static) {
    match document().hidden() {
        true => after(250, run),
        false => before_paint(run),
    }
}

/// As soon as what has been changed is seen; in a page that nobody sees, some time later.
pub(crate) fn once_painted(run: impl FnOnce() + 'static) {
    next_frame(|| after(0, run));
}

/// Neither seen nor laid out, though still in the document; or as before.
pub(crate) fn out_of_sight(elements: &[Element], is_out: bool) {
    for element in elements {
        let _ = element.class_list().toggle_with_force("is-left", is_out);
    }
}

/// Until what has been changed is in the page.
pub(crate) async fn painted() {
    let frame = js_sys::Promise::new(&mut |resolve, _| {
        let _ = window().request_animation_frame(&resolve);
    });
    let _ = JsFuture::from(frame).await;
}

fn storage(memory: Memory) -> Option<Storage> {
    match memory {
        Memory::Local => window().local_storage(),
        Memory::Tab => window().session_storage(),
    }
    .ok()
    .flatten()
}

/// What was remembered under this name; none also where a browser forbids it.
pub(crate) fn kept(memory: Memory, name: &str) -> Option<String> {
    storage(memory)?.get_item(name).ok().flatten()
}

/// Remembers, or forgets when there is nothing to remember.
pub(crate) fn remember(memory: Memory, name: &str, text: Option<&str>) {
    let Some(storage) = storage(memory) else { return };
    let _ = match text {
        Some(text) => storage.set_item(name, text),
        None => storage.remove_item(name),
    };
}

/// When this page is left for good.
pub(crate) fn on_leave(run: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn()>::new(run);
    let _ = window().add_event_listener_with_callback("pagehide", listener.as_ref().unchecked_ref());
    listener.forget();
}

/// Sends what has to go out while the page goes away. Nothing hears the answer.
pub(crate) fn send_last(path: &str, json: &str) {
    // As plain text, which a beacon is by itself, the server would refuse it.
    let options = BlobPropertyBag::new();
    options.set_type("application/json");
    let parts = js_sys::Array::of1(&json.into());
    if let Ok(body) = Blob::new_with_str_sequence_and_options(&parts, &options) {
        let _ = window().navigator().send_beacon_with_opt_blob(path, Some(&body));
    }
}

/// Opens a dialog above everything; the focus stays in it until it is closed, and returns then.
pub(crate) fn show_dialog(id: &'static str) {
    if let Some(dialog) = element(id).and_then(|element| element.dyn_into::<HtmlDialogElement>().ok())
        && !dialog.open()
    {
        let _ = dialog.show_modal();
        typeahead::type_held();
    }
}

/// Closing tells the dialog's own `close` handler.
pub(crate) fn close_dialog(id: &str) {
    if let Some(dialog) = element(id).and_then(|element| element.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

/// Whether the page is dark now: `light` or `dark` when the person has chosen, otherwise the system decides.
pub(crate) fn is_dark() -> bool {
    match kept(Memory::Local, "yoi:theme") {
        Some(theme) => theme == "dark",
        None => matches!(window().match_media("(prefers-color-scheme: dark)"), Ok(Some(query)) if query.matches()),
    }
}

pub(crate) fn set_theme(theme: &str) {
    let chosen = (theme != SYSTEM_THEME).then_some(theme);
    remember(Memory::Local, "yoi:theme", chosen);
    if let Some(root) = document().document_element() {
        let _ = match chosen {
            Some(theme) => root.set_attribute("data-theme", theme),
            None => root.remove_attribute("data-theme"),
        };
    }
}

/// The address without loading anything, for a link that has been copied.
pub(crate) fn keep_url(url: &str) -> String {
    let location = window().location();
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&history.state().unwrap_or(JsValue::NULL), "", Some(url));
    }
    location.href().unwrap_or_default()
}

/// The host that this page is at, without its port.
pub(crate) fn host_name() -> String {
    window().location().hostname().unwrap_or_default()
}

/// The login has expired: no retry can help.
pub(crate) fn go_to_login() {
    visit("/login");
}

/// The focus is inside of it, or the pointer above it.
pub(crate) fn is_at(id: &str) -> bool {
    element(id).is_some_and(|element| element.matches(":focus-within, :hover").unwrap_or(false))
}

/// Loads this page anew. Drafts and places are kept by the browser.
pub(crate) fn reload() {
    let _ = window().location().reload();
}

/// Leaves the page for an address that the server answers itself: a file, another document.
pub(crate) fn visit(href: &str) {
    let _ = window().location().assign(href);
}
