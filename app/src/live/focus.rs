//! The focus and the caret: where they are, and moving them.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlTextAreaElement, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::browser::{all, before_paint, document, element, window};
use crate::live::Answering;

pub(crate) fn focus(id: &str) {
    if let Some(element) = element(id) {
        let _ = element.focus();
    }
}

/// Focuses the element once pending changes are in the document.
pub(crate) fn focus_soon(id: &str) {
    let id = id.to_owned();
    before_paint(move || focus(&id));
}

/// The same, but only if nothing else has the focus.
pub(crate) fn focus_if_lost(id: &str) {
    let id = id.to_owned();
    before_paint(move || {
        if document().active_element().is_none_or(|active| active.tag_name() == "BODY") {
            focus(&id);
        }
    });
}

/// Focuses the active element again. After a dialog closes, Chromium gives the focus back to a field without a caret,
/// and the field takes no input until this is done.
pub(crate) fn refocus_soon() {
    before_paint(|| {
        let focused = document().active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
        if let Some(focused) = focused {
            let _ = focused.blur();
            let _ = focused.focus();
        }
    });
}

/// Focuses the next open approval of this page. Returns false if there is none. `reach` scrolls to it where it is not
/// drawn, as in a long transcript.
pub(crate) fn next_question(reach: impl FnOnce() -> bool) -> bool {
    let is_there = focus_next_question() || reach();
    if is_there && !document().active_element().is_some_and(|active| active.has_attribute("data-question")) {
        before_paint(|| {
            focus_next_question();
        });
    }
    is_there
}

/// Presses the button of this key on the approval that has the focus, or on the next one. Only if that button is
/// visible; otherwise the approval is brought into view, by `reach` where it is not drawn.
pub(crate) fn answer_question(key: &str, reach: impl FnOnce() -> bool) -> Answering {
    let within = || document().active_element()?.closest("[data-question]").ok().flatten();
    let next = || document().query_selector("[data-next]").ok().flatten();
    let Some(card) = within().or_else(next) else {
        return if reach() { Answering::Unseen } else { Answering::NoQuestion };
    };
    let button = card.query_selector(&format!("[data-answer='{key}']")).ok().flatten();
    let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) else {
        return Answering::NoQuestion;
    };
    match is_seen(&button) {
        true => {
            button.click();
            Answering::Given
        }
        false => {
            scroll_near(&button);
            Answering::Unseen
        }
    }
}

/// Presses the button of this key on the next approval if it is on the screen and has been there for a while.
pub(crate) fn answer_settled(key: &str) -> bool {
    let card = document().query_selector("[data-next][data-settled]").ok().flatten();
    let button = card.and_then(|card| card.query_selector(&format!("[data-answer='{key}']")).ok().flatten());
    let button = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()).filter(is_seen);
    button.is_some_and(|button| {
        button.click();
        true
    })
}

/// Whether its centre is on the screen and not covered.
fn is_seen(element: &HtmlElement) -> bool {
    let place = element.get_bounding_client_rect();
    let (x, y) = (place.x() + place.width() / 2.0, place.y() + place.height() / 2.0);
    let top = document().element_from_point(x as f32, y as f32);
    top.is_some_and(|top| element.contains(Some(&top)))
}

/// Whether a page that was just opened may put the focus where one writes: not on a touch screen, not away from another
/// field, a dialog or an approval, and not if the address names a place on the page.
pub(crate) fn may_take_focus() -> bool {
    let matches = |query: &str| window().match_media(query).ok().flatten().is_some_and(|found| found.matches());
    let has_place = window().location().hash().is_ok_and(|hash| !hash.is_empty());
    if matches("(pointer: coarse)") || has_place || matches!(document().query_selector("dialog[open]"), Ok(Some(_))) {
        return false;
    }
    document().active_element().is_none_or(|active| {
        let is_row = active.has_attribute("data-row");
        is_row || matches!(active.tag_name().as_str(), "BODY" | "MAIN") || active.id() == "log"
    })
}

/// Whether nothing in particular has the focus, so that Enter is free.
pub(crate) fn is_focus_free() -> bool {
    document()
        .active_element()
        .is_none_or(|active| matches!(active.tag_name().as_str(), "BODY" | "MAIN") || active.id() == "log")
}

pub(crate) fn has_focus(id: &str) -> bool {
    document().active_element().is_some_and(|active| active.id() == id)
}

fn focus_next_question() -> bool {
    let questions = all("[data-question]");
    let active = document().active_element();
    let at = questions.iter().position(|question| question.contains(active.as_deref()));
    let next = at.map_or(0, |at| (at + 1) % questions.len());
    questions.get(next).is_some_and(|question| question.focus().is_ok())
}

/// If the focused element is gone, focuses the transcript, or else the page.
pub(crate) fn focus_content() {
    focus_card("main");
}

/// If the focused element is gone, focuses the transcript, or else the card that it was in, or else the page.
pub(crate) fn focus_card(card: &str) {
    let card = card.to_owned();
    before_paint(move || {
        if document().active_element().is_some_and(|active| active.tag_name() != "BODY") {
            return;
        }
        if let Some(content) = element("log").or_else(|| element(&card)).or_else(|| element("main")) {
            let _ = content.focus();
        }
    });
}

/// The text in a text box, however it got there.
pub(crate) fn text_in(id: &str) -> String {
    element(id)
        .and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok())
        .map(|area| area.value())
        .unwrap_or_default()
}

/// The caret's position in a text box, in UTF-16 code units.
pub(crate) fn caret_in(id: &str) -> Option<u32> {
    element(id)?.dyn_into::<HtmlTextAreaElement>().ok()?.selection_start().ok().flatten()
}

/// Moves the caret, once the new text is in the text box.
pub(crate) fn put_caret(id: &str, units: u32) {
    let id = id.to_owned();
    before_paint(move || {
        if let Some(area) = element(&id).and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok()) {
            let _ = area.set_selection_range(units, units);
        }
    });
}

/// Takes the focus away from the focused field.
pub(crate) fn blur() {
    if let Some(active) = document().active_element().and_then(|active| active.dyn_into::<HtmlElement>().ok()) {
        let _ = active.blur();
    }
}

/// The visible rows of Pods, top to bottom; if the focus is in a list, only that list's.
fn shown_rows() -> Vec<HtmlElement> {
    let list = document().active_element().and_then(|active| active.closest("[data-rows]").ok().flatten());
    let is_here = |row: &HtmlElement| list.as_ref().is_none_or(|list| list.contains(Some(row)));
    all("[data-row]").into_iter().filter(|row| row.offset_parent().is_some() && is_here(row)).collect()
}

/// The `href`s of the rows of the focused list.
pub(crate) fn rows() -> Vec<String> {
    shown_rows().iter().filter_map(|row| row.get_attribute("href")).collect()
}

/// Moves the focus to the next or previous search result; if there are none, to the next or previous row of the list
/// of Pods.
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

/// The `href` of the focused row.
pub(crate) fn row_in_focus() -> Option<String> {
    document().active_element().filter(|active| active.has_attribute("data-row"))?.get_attribute("href")
}

/// Scrolls as little as needed to show the element, once pending changes are in the document.
pub(crate) fn reveal(id: &str) {
    let id = id.to_owned();
    before_paint(move || {
        if let Some(element) = element(&id) {
            scroll_near(&element);
        }
    });
}

fn scroll_near(element: &HtmlElement) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}
