//! Where the focus and the caret are, and where they go.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlTextAreaElement, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::browser::{all, before_paint, document, element};
use crate::live::Answering;

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

/// Once the page has been drawn anew, where nothing else has the focus.
pub(crate) fn focus_if_lost(id: &str) {
    let id = id.to_owned();
    before_paint(move || {
        if document().active_element().is_none_or(|active| active.tag_name() == "BODY") {
            focus(&id);
        }
    });
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

/// Puts the focus on the next open question of this page. False when there is none. A long transcript draws it only once
/// one goes there, which `reach` does.
pub(crate) fn next_question(reach: impl FnOnce() -> bool) -> bool {
    let is_there = focus_next_question() || reach();
    if is_there && !document().active_element().is_some_and(|active| active.has_attribute("data-question")) {
        before_paint(|| {
            focus_next_question();
        });
    }
    is_there
}

/// Presses the button of this key on the question that is next, or on the one in which the focus is. Only where that
/// button can be seen: else the question is brought into view, which `reach` does where it is not drawn.
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

/// Its middle is on the screen, and nothing lies over it.
fn is_seen(element: &HtmlElement) -> bool {
    let place = element.get_bounding_client_rect();
    let (x, y) = (place.x() + place.width() / 2.0, place.y() + place.height() / 2.0);
    let top = document().element_from_point(x as f32, y as f32);
    top.is_some_and(|top| element.contains(Some(&top)))
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
            scroll_near(&element);
        }
    });
}

fn scroll_near(element: &HtmlElement) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}
