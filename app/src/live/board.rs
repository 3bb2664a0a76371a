//! What the board does to the document by itself: rows that the server has drawn, and cards that keep their place.

use wasm_bindgen::JsCast;
use web_sys::{HtmlDocument, HtmlElement};

use super::browser::{all, document, element, now_ms, zone_minutes};

/// Replaces what is in this element by HTML that our own server has drawn. The row with the focus keeps it, and what
/// was opened stays open.
pub(crate) fn replace_rows(id: &str, html: &str) {
    let Some(place) = element(id).filter(|place| place.inner_html() != html) else { return };
    let focused = document().active_element().filter(|active| place.contains(Some(active)));
    let href = focused.and_then(|row| row.get_attribute("href"));
    let is_open = place.query_selector("details[open]").ok().flatten().is_some();
    place.set_inner_html(html);
    if is_open && let Some(details) = place.query_selector("details").ok().flatten() {
        let _ = details.set_attribute("open", "");
    }
    let is_it = |row: &HtmlElement| row.get_attribute("href") == href && place.contains(Some(row));
    if href.is_some()
        && let Some(row) = all("[data-row]").into_iter().find(is_it)
    {
        let _ = row.focus();
    }
}

/// What is in this element, as HTML.
pub(crate) fn html_in(id: &str) -> String {
    element(id).map(|place| place.inner_html()).unwrap_or_default()
}

/// Keeps a card at least as high as it is now, so that nothing below it moves when there is less in it. A form that is
/// open in it does not count: once it is closed, the card folds in again.
pub(crate) fn hold_height(id: &str) {
    let has_form = |card: &HtmlElement| matches!(card.query_selector(".always, .denial"), Ok(Some(_)));
    if let Some(card) = element(id).filter(|card| !has_form(card)) {
        let _ = card.style().set_property("min-height", &format!("{}px", card.offset_height()));
    }
}

/// Tells the server, by a cookie, which time zone this is. Returns whether the server did not know it before.
pub(crate) fn tell_zone() -> bool {
    let Ok(document) = document().dyn_into::<HtmlDocument>() else { return false };
    let said = format!("yoi-zone={}", zone_minutes().unwrap_or_default());
    let is_known = document.cookie().is_ok_and(|cookies| cookies.split("; ").any(|pair| pair == said));
    if !is_known {
        let _ = document.set_cookie(&format!("{said}; path=/; max-age=31536000; samesite=strict"));
    }
    !is_known
}

/// Remembers, for the server, when the board was left and what it began with.
pub(crate) fn keep_looked(since_ms: i64) {
    if let Ok(document) = document().dyn_into::<HtmlDocument>() {
        let cookie = format!("yoi-looked={since_ms}.{}; path=/; max-age=31536000; samesite=strict", now_ms());
        let _ = document.set_cookie(&cookie);
    }
}
