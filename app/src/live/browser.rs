//! Timers, storage, focus, keys, dialogs, the clipboard.

use gloo_timers::callback::{Interval, Timeout};
use leptos::web_sys::{ClipboardEvent, KeyboardEvent};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Blob, BlobPropertyBag,
    Document, HtmlDialogElement, HtmlDocument, HtmlElement, HtmlTextAreaElement, ScrollIntoViewOptions,
    ScrollLogicalPosition, Storage, Window,
};

use super::{KeyPress, Memory, SYSTEM_THEME};

pub(super) fn window() -> Window {
    web_sys::window().expect("this runs in a page")
}

pub(super) fn document() -> Document {
    window().document().expect("a page has a document")
}

pub(super) fn element(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// Milliseconds since 1970, by the browser's clock.
pub(crate) fn now_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// Never goes back, so it is fit to measure silence.
pub(super) fn monotonic_ms() -> f64 {
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

pub(crate) fn focus(id: &str) {
    if let Some(element) = element(id) {
        let _ = element.focus();
    }
}

/// Once the page has been drawn anew.
pub(crate) fn focus_soon(id: &str) {
    let id = id.to_owned();
    before_paint(move || focus(&id));
}

/// What the browser gave the focus back to when a dialog closed gets it once more: without it, a field has the focus
/// and no caret in Chromium, and takes no letters.
pub(crate) fn refocus_soon() {
    before_paint(|| {
        let focused = document().active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
        if let Some(focused) = focused {
            let _ = focused.blur();
            let _ = focused.focus();
        }
    });
}

/// The key, when it was pressed alone, once, and not as a letter of a text.
pub(crate) fn plain_key(event: &KeyboardEvent) -> Option<String> {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.repeat());
    (is_plain && !is_field(event)).then(|| event.key())
}

fn is_field(event: &KeyboardEvent) -> bool {
    event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()).is_some_and(|target| {
        match target.tag_name().as_str() {
            // Into a box nothing is typed.
            "INPUT" => target.get_attribute("type").as_deref() != Some("checkbox"),
            "TEXTAREA" | "SELECT" => true,
            _ => target.is_content_editable(),
        }
    })
}

/// Puts the focus on the next open question of this page. False when there is none.
pub(crate) fn next_question() -> bool {
    // A long transcript draws it only once one goes there.
    let is_there = focus_next_question() || super::scroll::log_to_question();
    if is_there && !document().active_element().is_some_and(|active| active.has_attribute("data-question")) {
        before_paint(|| {
            focus_next_question();
        });
    }
    is_there
}

fn focus_next_question() -> bool {
    let questions = all("[data-question]");
    let active = document().active_element();
    let at = questions.iter().position(|question| question.contains(active.as_deref()));
    let next = at.map_or(0, |at| (at + 1) % questions.len());
    questions.get(next).is_some_and(|question| question.focus().is_ok())
}

/// Where what had the focus is gone, it goes to the transcript, or to the page.
pub(crate) fn focus_content() {
    before_paint(|| {
        if document().active_element().is_some_and(|active| active.tag_name() != "BODY") {
            return;
        }
        if let Some(content) = element("log").or_else(|| element("main")) {
            let _ = content.focus();
        }
    });
}

fn all(selector: &str) -> Vec<HtmlElement> {
    let Ok(found) = document().query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into::<HtmlElement>().ok()).collect()
}

/// What is in a text box, typed by whomever.
pub(crate) fn text_in(id: &str) -> String {
    element(id)
        .and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok())
        .map(|area| area.value())
        .unwrap_or_default()
}

/// Where the caret is in a text box, in units of UTF-16.
pub(crate) fn caret_in(id: &str) -> Option<u32> {
    element(id)?.dyn_into::<HtmlTextAreaElement>().ok()?.selection_start().ok().flatten()
}

/// Puts the caret there, once the text that it is to stand in is in the page.
pub(crate) fn put_caret(id: &str, units: u32) {
    let id = id.to_owned();
    before_paint(move || {
        if let Some(area) = element(&id).and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok()) {
            let _ = area.set_selection_range(units, units);
        }
    });
}

/// Leaves the field that has the focus.
pub(crate) fn blur() {
    if let Some(active) = document().active_element().and_then(|active| active.dyn_into::<HtmlElement>().ok()) {
        let _ = active.blur();
    }
}

/// Rows of Pods that can be seen, top to bottom; where the focus is in a list, those of that list.
fn shown_rows() -> Vec<HtmlElement> {
    let list = document().active_element().and_then(|active| active.closest("[data-rows]").ok().flatten());
    let is_here = |row: &HtmlElement| list.as_ref().is_none_or(|list| list.contains(Some(row)));
    all("[data-row]").into_iter().filter(|row| row.offset_parent().is_some() && is_here(row)).collect()
}

/// The addresses of the rows among which the focus is.
pub(crate) fn rows() -> Vec<String> {
    shown_rows().iter().filter_map(|row| row.get_attribute("href")).collect()
}

/// Puts the focus on the next or the previous place that was found; where there is none, on the next or the previous
/// row of the list of Pods.
pub(crate) fn move_row(step: i32) {
    let hits = all("[data-hit]");
    let rows = if hits.is_empty() { shown_rows() } else { hits };
    let active = document().active_element();
    let is_active = |row: &HtmlElement| active.as_ref() == Some(row.as_ref());
    let at = rows.iter().position(is_active).or_else(|| rows.iter().position(|row| row.has_attribute("aria-current")));
    let next = match at {
        Some(at) => (at as i32 + step).clamp(0, rows.len() as i32 - 1),
        None => 0,
    };
    if let Some(row) = rows.get(next as usize) {
        let _ = row.focus();
    }
}

/// The address of the row that has the focus.
pub(crate) fn row_in_focus() -> Option<String> {
    document().active_element().filter(|active| active.has_attribute("data-row"))?.get_attribute("href")
}

/// Scrolls what it is in, as little as needed, once the page has been drawn anew.
pub(crate) fn reveal(id: &str) {
    let id = id.to_owned();
    before_paint(move || {
        if let Some(element) = element(&id) {
            let options = ScrollIntoViewOptions::new();
            options.set_block(ScrollLogicalPosition::Nearest);
            element.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
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
    }
}

/// Closing tells the dialog's own `close` handler.
pub(crate) fn close_dialog(id: &str) {
    if let Some(dialog) = element(id).and_then(|element| element.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

/// Every key, alone or together with Ctrl or Cmd; the answer is whether it has been used.
pub(crate) fn on_key(handle: impl Fn(KeyPress) -> bool + 'static) {
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.alt_key() || event.is_composing() || event.default_prevented() {
            return;
        }
        let in_field = is_field(&event);
        let in_dialog = matches!(document().query_selector("dialog[open]"), Ok(Some(_)));
        let (is_chord, has_shift) = (event.ctrl_key() || event.meta_key(), event.shift_key());
        if handle(KeyPress { key: event.key(), in_dialog, in_field, is_chord, has_shift }) {
            event.prevent_default();
        }
    });
    let _ = document().add_event_listener_with_callback("keydown", listener.as_ref().unchecked_ref());
    listener.forget();
}

/// The text of a paste.
pub(crate) fn pasted_text(event: &ClipboardEvent) -> Option<String> {
    event.clipboard_data()?.get_data("text/plain").ok()
}

/// Copies, also on plain HTTP where the browser has no clipboard for scripts: there it selects and copies as a person
/// would. `told` hears whether it worked.
pub(crate) fn copy_text(text: String, told: impl FnOnce(bool) + 'static) {
    if !window().is_secure_context() {
        return told(copy_by_selection(&text));
    }
    let written = window().navigator().clipboard().write_text(&text);
    spawn_local(async move {
        let worked = JsFuture::from(written).await.is_ok() || copy_by_selection(&text);
        told(worked);
    });
}

fn copy_by_selection(text: &str) -> bool {
    let copy = || -> Result<bool, JsValue> {
        let area: HtmlTextAreaElement = document().create_element("textarea")?.unchecked_into();
        area.set_value(text);
        area.set_class_name("visually-hidden");
        let focused = document().active_element();
        // Inside an open dialog everything outside of it cannot be focused.
        let parent = document().query_selector("dialog[open]")?.or_else(|| document().body().map(Into::into));
        let Some(parent) = parent else { return Ok(false) };
        parent.append_child(&area)?;
        area.select();
        let worked = document().unchecked_into::<HtmlDocument>().exec_command("copy")?;
        area.remove();
        if let Some(focused) = focused.and_then(|focused| focused.dyn_into::<HtmlElement>().ok()) {
            focused.focus()?;
        }
        Ok(worked)
    };
    copy().unwrap_or(false)
}

/// `light` or `dark` when the person has chosen; otherwise the system decides.
pub(crate) fn theme() -> Option<String> {
    kept(Memory::Local, "yoi:theme")
}

/// Whether the page is dark now, chosen or not.
pub(crate) fn is_dark() -> bool {
    match theme() {
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
