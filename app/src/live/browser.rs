//! The page itself: timers, storage, dialogs, navigation, theme.

use gloo_timers::{
    callback::{Interval, Timeout},
    future::TimeoutFuture,
};
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

/// A monotonic clock in milliseconds, for measuring silence.
pub(crate) fn monotonic_ms() -> f64 {
    window().performance().map_or_else(js_sys::Date::now, |performance| performance.now())
}

/// The viewer's time zone, in minutes east of UTC.
pub(crate) fn zone_minutes() -> Option<i32> {
    Some(-js_sys::Date::new_0().get_timezone_offset() as i32)
}

/// Runs `run` periodically for the lifetime of the page.
pub(crate) fn every(ms: u32, run: impl Fn() + 'static) {
    Interval::new(ms, run).forget();
}

pub(crate) fn after(ms: u32, run: impl FnOnce() + 'static) {
    Timeout::new(ms, run).forget();
}

/// Waits this long.
pub(crate) async fn rest(ms: u32) {
    TimeoutFuture::new(ms).await;
}

/// Runs in the next animation frame: before it is painted, after the pending DOM changes.
pub(super) fn before_paint(run: impl FnOnce() + 'static) {
    let callback = Closure::once_into_js(run);
    let _ = window().request_animation_frame(callback.unchecked_ref());
}

/// Calls `run` with the element of this id: at once, or, if it is only just being drawn, before the next paint.
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

/// Runs in the next frame; a hidden page has no frames, so there after 250 ms.
pub(crate) fn next_frame(run: impl FnOnce() + 'static) {
    match document().hidden() {
        true => after(250, run),
        false => before_paint(run),
    }
}

/// Runs as soon as the pending changes have been painted; in a hidden page, somewhat later.
pub(crate) fn once_painted(run: impl FnOnce() + 'static) {
    next_frame(|| after(0, run));
}

/// Hides elements from view and layout while keeping them in the document, or shows them again.
pub(crate) fn out_of_sight(elements: &[Element], is_out: bool) {
    for element in elements {
        let _ = element.class_list().toggle_with_force("is-left", is_out);
    }
}

/// Resolves once the pending changes have been painted.
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

/// The value stored under this name; `None` also where the browser forbids storage.
pub(crate) fn kept(memory: Memory, name: &str) -> Option<String> {
    storage(memory)?.get_item(name).ok().flatten()
}

/// Stores a value, or removes it for `None`.
pub(crate) fn remember(memory: Memory, name: &str, text: Option<&str>) {
    let Some(storage) = storage(memory) else { return };
    let _ = match text {
        Some(text) => storage.set_item(name, text),
        None => storage.remove_item(name),
    };
}

/// Runs when this page is unloaded.
pub(crate) fn on_leave(run: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn()>::new(run);
    let _ = window().add_event_listener_with_callback("pagehide", listener.as_ref().unchecked_ref());
    listener.forget();
}

/// Sends a last request while the page is unloading. Its response cannot be seen.
pub(crate) fn send_last(path: &str, json: &str) {
    // A beacon sends plain text by default, which the server would refuse.
    let options = BlobPropertyBag::new();
    options.set_type("application/json");
    let parts = js_sys::Array::of1(&json.into());
    if let Ok(body) = Blob::new_with_str_sequence_and_options(&parts, &options) {
        let _ = window().navigator().send_beacon_with_opt_blob(path, Some(&body));
    }
}

/// Opens a modal dialog. The focus stays in it until it is closed, and then returns.
pub(crate) fn show_dialog(id: &'static str) {
    if let Some(dialog) = element(id).and_then(|element| element.dyn_into::<HtmlDialogElement>().ok())
        && !dialog.open()
    {
        let _ = dialog.show_modal();
        typeahead::type_held();
    }
}

/// Closes the dialog, which fires its `close` handler.
pub(crate) fn close_dialog(id: &str) {
    if let Some(dialog) = element(id).and_then(|element| element.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

/// Whether the page is dark: the chosen theme (`light` or `dark`), otherwise the system's.
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

/// Replaces the address without loading anything, for a link that has been copied.
pub(crate) fn keep_url(url: &str) -> String {
    let location = window().location();
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&history.state().unwrap_or(JsValue::NULL), "", Some(url));
    }
    location.href().unwrap_or_default()
}

/// This page's host name, without the port.
pub(crate) fn host_name() -> String {
    window().location().hostname().unwrap_or_default()
}

/// Goes to the login page, which leads back here: the login has expired, so retrying cannot help.
pub(crate) fn go_to_login() {
    let location = window().location();
    let here = [location.pathname(), location.search()].into_iter().flatten().collect::<String>();
    visit(&format!("/login?to={}", js_sys::encode_uri_component(&here)));
}

/// Whether the element contains the focus or is under the pointer.
pub(crate) fn is_at(id: &str) -> bool {
    element(id).is_some_and(|element| element.matches(":focus-within, :hover").unwrap_or(false))
}

/// Reloads this page. Drafts and scroll positions are kept in the browser.
pub(crate) fn reload() {
    let _ = window().location().reload();
}

/// Leaves the page for an address that the server answers itself: a file or another document.
pub(crate) fn visit(href: &str) {
    let _ = window().location().assign(href);
}
