//! The clipboard.

use leptos::web_sys::ClipboardEvent;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlDocument, HtmlElement, HtmlTextAreaElement};

use super::browser::{document, window};

/// The text of a paste.
pub(crate) fn pasted_text(event: &ClipboardEvent) -> Option<String> {
    event.clipboard_data()?.get_data("text/plain").ok()
}

/// Copies text. On plain HTTP, where the clipboard API is missing, it selects and copies as a person would. `told`
/// receives whether it worked.
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
        // While a modal dialog is open, nothing outside it can be focused.
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
